//! The command, as people and scripts use it: real processes on a home of their own.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

mod access;
mod calls;
mod checks;
mod commands;
mod diffs;
mod documents;
mod evals;
mod home;
mod logs;
mod promises;
mod python;
mod room;
mod serving;
