//! Documents in, entries of tools.json out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

mod documents;
mod hostile;
