//! MCP as the official suite and real clients see it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

mod frames;
mod inspector;
mod interop;
mod line;
mod malformed;
mod programs;
mod replicas;
mod same_ids;
mod server_process;
mod sse;
mod suites;
