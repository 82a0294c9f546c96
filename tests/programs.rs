//! The programs and packages that `cargo xtask test` installs for the tests, and the scripts that they run.
//! Included by path in the tests of several crates.
#![allow(dead_code, reason = "no test binary uses all of it")]

use std::path::{Path, PathBuf};

/// The interpreter or program that a variable names.
pub fn program(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set: run cargo xtask test"))
}

/// A script of `tests/python`.
pub fn python_script(name: &str) -> String {
    in_tests("python", name)
}

/// A script of `tests/node`.
pub fn node_script(name: &str) -> String {
    in_tests("node", name)
}

/// A file of a package in `tests/node`.
pub fn node_package(path: &str) -> String {
    in_tests("node/node_modules", path)
}

/// A file of `tests/console`.
pub fn console_file(name: &str) -> String {
    in_tests("console", name)
}

/// A file of `tests/generated`.
pub fn generated_client(name: &str) -> String {
    in_tests("generated", name)
}

/// A file of `tests/deploy`.
pub fn deploy_test(name: &str) -> String {
    in_tests("deploy", name)
}

/// A file of `tests/clients`: real clients, and the model that they talk to.
pub fn client_file(path: &str) -> String {
    in_tests("clients", path)
}

fn in_tests(folder: &str, name: &str) -> String {
    let workspace =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|path| path.join("Cargo.lock").exists());
    let file: PathBuf = workspace.unwrap().join("tests").join(folder).join(name);
    assert!(file.exists(), "{} is missing: run cargo xtask test", file.display());
    file.to_str().unwrap().to_owned()
}
