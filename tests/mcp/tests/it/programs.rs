//! The programs that `cargo xtask test` installs for the tests, and how they are run.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Node.js, with the packages of `tests/node`.
pub fn node() -> PathBuf {
    program("TOOLROOM_TEST_NODE")
}

/// The program that a variable names.
pub fn program(variable: &str) -> PathBuf {
    let named = std::env::var_os(variable);
    named.unwrap_or_else(|| panic!("{variable} is not set: run cargo xtask test")).into()
}

pub fn python_script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../python").join(name)
}

pub fn node_script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../node").join(name)
}

/// What a client's script saw.
pub fn client(interpreter: &Path, script: &Path, args: &[&str]) -> Value {
    let mut command = Command::new(interpreter);
    command.arg(script).args(args).env("PYTHONDONTWRITEBYTECODE", "1");
    finish(command)
}

/// The JSON that a program prints, which must succeed.
pub fn finish(mut command: Command) -> Value {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} ended with {}\n{out}\n{err}", output.status);
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{command:?} printed no JSON:\n{out}\n{err}"))
}
