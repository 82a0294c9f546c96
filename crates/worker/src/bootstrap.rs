//! The Python side of a warm worker.

/// Imports the script once and answers framed requests until its input ends.
pub(crate) const PYTHON: &str = include_str!("bootstrap.py");
