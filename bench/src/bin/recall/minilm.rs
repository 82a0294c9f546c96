//! The peer with a language model: `training/peer.py` ranks the tools by all-MiniLM-L6-v2.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::sets::Set;

/// The places of the best tools for each query.
pub fn ranked(python: &Path, set: &Set, most: usize) -> Result<Vec<Vec<usize>>> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../training/peer.py");
    let tools: Vec<[&str; 2]> = set.tools.iter().map(|tool| [&*tool.name, &*tool.description]).collect();
    let queries: Vec<&str> = set.queries.iter().map(|query| &*query.text).collect();
    let input = json!({ "tools": tools, "queries": queries, "most": most });
    let mut command = Command::new(python);
    command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot run {}", python.display()))?;
    // All is read before anything is written, so that neither waits for the other.
    child.stdin.take().context("no input")?.write_all(input.to_string().as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("training/peer.py failed: {}", output.status);
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
