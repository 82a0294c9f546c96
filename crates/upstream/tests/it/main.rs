//! Real servers and hostile ones, entered by the crate's own door.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod config;
mod contracts;
mod exercise;
mod healing;
mod hostile;
mod http;
mod leaks;
mod node_servers;
mod python_servers;
mod room;
