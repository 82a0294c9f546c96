//! Real interpreters and hostile scripts, entered by the crate's own door.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod crash;
mod describe;
mod environment;
mod executables;
mod hostile;
mod isolation;
mod node;
mod probes;
mod sandbox;
mod test_folder;
mod totals;
mod typed;
mod workers;
