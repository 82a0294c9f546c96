//! A real server on loopback whose profile `conformance` holds the fixtures of the official suite.

mod fixtures;
mod server;
mod suite;

pub use fixtures::PROFILE;
pub use server::{RunningServer, serve_on_stdio};
pub use suite::{Check, Report, Suite};
