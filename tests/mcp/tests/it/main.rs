//! MCP as the official suite and real clients see it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

mod inspector;
mod interop;
mod programs;
mod server_process;
mod suites;
