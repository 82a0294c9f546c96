//! The process's own log, on stderr: for people on a terminal, as JSON lines elsewhere.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;

use crate::terminal;

/// What to log, in the syntax of `tracing`'s filters: `debug`, or `info,toolroom_store=debug`.
const VARIABLE: &str = "TOOLROOM_LOG";

/// Starts the log. A server tells what it does; other commands stay silent unless asked, because their errors
/// are printed anyway.
pub fn start(server: bool) {
    let usual = if server { "info" } else { "off" };
    let filter = EnvFilter::try_from_env(VARIABLE).unwrap_or_else(|_| EnvFilter::new(usual));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    if io::stderr().is_terminal() {
        builder.with_ansi(terminal::colours_wanted()).with_target(false).init();
    } else {
        builder.json().flatten_event(true).with_span_list(false).init();
    }
}
