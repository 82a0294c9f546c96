//! The server's tests, through real sockets and through the router.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

mod approvals;
mod chat;
mod confined_keys;
mod confined_scripts;
mod console_files;
mod credentials;
mod drafts;
mod dry_runs;
mod events;
mod executions;
mod executor;
mod host_origin;
mod kept_alive;
mod listener;
mod manage;
mod mcp;
mod middleware;
mod one_view;
mod openapi;
mod refusals;
mod registration;
mod rest;
mod revocation;
mod running_server;
mod script_owners;
mod secrets_and_hints;
mod sessions;
mod slow_peers;
mod standing;
mod tasks;
mod test_server;
mod waiting;
