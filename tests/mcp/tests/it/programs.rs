//! The programs that `cargo xtask test` installs for the tests.

use std::path::PathBuf;

/// Node.js, with the packages of `tests/node`.
pub fn node() -> PathBuf {
    program("TOOLROOM_TEST_NODE")
}

/// The program that a variable names.
pub fn program(variable: &str) -> PathBuf {
    let named = std::env::var_os(variable);
    named.unwrap_or_else(|| panic!("{variable} is not set: run cargo xtask test")).into()
}
