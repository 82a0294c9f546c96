//! What the task store does under load: shared commits, size, search, and latency over HTTP.
#![allow(clippy::print_stdout, reason = "benchmarks print their figures")]

mod bare;
mod creates;
mod latency;
mod search;
mod size;
mod slow_syncs;

use anyhow::Result;

/// Runs just the creates, on a folder, so that the parent can watch the process from outside.
const CREATES_ONLY: &str = "--creates-only";

fn main() -> Result<()> {
    // As the server logs: info and above, one line each.
    tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_writer(std::io::sink).init();
    let mut args = std::env::args().skip(1);
    let wanted = args.next();
    if wanted.as_deref() == Some(CREATES_ONLY) {
        return slow_syncs::child(args.next().as_deref());
    }
    // A name runs one part alone.
    let wants = |part: &str| wanted.as_deref().is_none_or(|wanted| wanted == part);
    if wants("creates") {
        creates::measure()?;
    }
    if wants("slow-syncs") {
        slow_syncs::measure()?;
    }
    if wants("size") {
        size::measure()?;
    }
    if wants("search") {
        search::measure()?;
    }
    if wants("latency") {
        latency::measure()?;
    }
    Ok(())
}
