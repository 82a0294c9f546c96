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
    let lines = fmt::layer().with_writer(|| Visible(io::stderr()));
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

/// Writes each line with what would steer a terminal, or turn text around, as an escape: whoever reads the log later
/// may read it on a terminal. Colours are ours; they are the only escape that stays.
struct Visible<W>(W);

impl<W: io::Write> io::Write for Visible<W> {
    /// The log writes a whole line at a time.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let parts: Vec<_> = text.split("\x1b[").map(terminal::visible).collect();
        self.0.write_all(parts.join("\x1b[").as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
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
