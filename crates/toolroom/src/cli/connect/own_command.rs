//! Claude Code keeps live state in the file of its servers, and rewrites it while it runs: its own command edits it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;

use super::clients::NAME;
use crate::failure::Failure;

/// The client's own command, where it has one and is installed.
pub(super) fn of(client: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").filter(|_| client == "claude-code")?;
    std::env::split_paths(&paths).map(|folder| folder.join("claude")).find(|program| program.is_file())
}

/// Adds our entry, where none is there.
pub(super) fn add(program: &PathBuf, entry: &Value) -> Result<()> {
    run(program, &["mcp", "add-json", "-s", "user", NAME, &entry.to_string()])
}

/// Removes our entry.
pub(super) fn remove(program: &PathBuf) -> Result<()> {
    run(program, &["mcp", "remove", "-s", "user", NAME])
}

fn run(program: &PathBuf, arguments: &[&str]) -> Result<()> {
    let shown = || format!("{} {}", program.display(), arguments[..arguments.len().min(5)].join(" "));
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run {}", shown()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let message = format!("'{}' failed: {}", shown(), said.trim());
    Err(Failure::new(message, "Name its file to have it edited instead: --file ~/.claude.json").into())
}
