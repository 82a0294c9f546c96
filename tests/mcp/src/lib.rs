//! Both ends under the official suites: a real server on loopback whose profile `conformance` holds their
//! fixtures, and a client of `toolroom-upstream`.

mod client;
mod client_suite;
mod fixtures;
mod server;
mod suite;

pub use client::run_as_client;
pub use client_suite::{ClientReport, Scenario};
pub use fixtures::PROFILE;
pub use server::{RunningServer, serve_on_stdio};
pub use suite::{Check, Report, Suite};
