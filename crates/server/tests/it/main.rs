//! The server's tests, through real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

mod host_origin;
mod listener;
mod middleware;
mod running_server;
mod slow_peers;
