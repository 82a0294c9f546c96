//! Requests to servers on this machine, which must only be reached where that is allowed.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

mod addresses;
mod answers;
mod redirects;
mod server;
mod targets;
