//! Real servers and hostile ones, entered by the crate's own door.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod authorization;
mod config;
mod confined;
mod contracts;
mod exercise;
mod healing;
mod hostile;
mod http;
mod leaks;
mod logins;
mod mock;
mod node_servers;
#[path = "../../../../tests/programs.rs"]
mod programs;
mod python_servers;
mod test_servers;
