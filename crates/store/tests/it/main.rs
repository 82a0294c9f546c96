//! Every test enters by the front door and runs on both engines.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod backup;
mod bell;
mod conversations;
mod core;
mod counters;
mod engines;
mod idempotency;
mod keys;
mod parcels;
mod pending;
mod pending_limits;
mod proxy;
mod sessions;
mod standing;
mod support;
mod task_lists;
mod tasks;
mod users;
