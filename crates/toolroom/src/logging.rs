//! The process's own log, on stderr: for people on a terminal, as JSON lines elsewhere.

use std::backtrace::Backtrace;
use std::io::{self, IsTerminal};
use std::panic;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::terminal;

/// What to log: a level, or levels by crate: `debug`, or `info,toolroom_store=debug`.
const VARIABLE: &str = "TOOLROOM_LOG";

/// Starts the log, at this level unless the environment names another.
pub fn start(usual: LevelFilter) {
    let wanted = std::env::var(VARIABLE).ok().and_then(|text| text.parse::<Targets>().ok());
    let filter = wanted.unwrap_or_else(|| Targets::new().with_default(usual));
    let lines = fmt::layer().with_writer(io::stderr);
    let lines = if io::stderr().is_terminal() {
        lines.with_ansi(terminal::colours_wanted()).with_target(false).boxed()
    } else {
        lines.json().flatten_event(true).with_span_list(false).boxed()
    };
    tracing_subscriber::registry().with(lines.with_filter(filter)).init();
    if usual != LevelFilter::OFF {
        log_panics();
    }
}

/// A panic costs one call; the log says where it came from.
fn log_panics() {
    panic::set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string);
        let stack = Backtrace::force_capture();
        tracing::error!(location, %stack, "a panic was caught");
    }));
}
