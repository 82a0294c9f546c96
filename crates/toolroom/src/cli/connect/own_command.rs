//! Claude Code keeps live state in the file of its servers, and rewrites it while it runs: its own command edits it.

use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::time::sleep;

use super::clients::NAME;
use super::target::Target;
use crate::failure::Failure;

/// It takes two seconds where it is slow.
const LONGEST: Duration = Duration::from_secs(30);
/// As much of what it says as is shown, in bytes.
const MOST_WORDS: u64 = 4096;
const PAUSE: Duration = Duration::from_millis(20);

/// The client's own command, where it has one and is installed.
pub(super) fn of(client: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").filter(|_| client == "claude-code")?;
    std::env::split_paths(&paths).map(|folder| folder.join("claude")).find(|program| program.is_file())
}

/// Adds our entry, where none is there; what it is now. The command may add fields of its own.
pub(super) async fn add(program: &Path, target: &Target, entry: &Value) -> Result<Value> {
    let arguments = ["mcp", "add-json", "-s", "user", NAME, &entry.to_string()];
    run(program, &arguments).await?;
    let now = Target::read(target.client, None)?;
    let ours = entry.as_object().into_iter().flatten();
    let is_there = |found: &Value| ours.clone().all(|(name, value)| found.get(name) == Some(value));
    now.found.clone().filter(is_there).ok_or_else(|| undone(program, &now))
}

/// Removes our entry.
pub(super) async fn remove(program: &Path, target: &Target) -> Result<()> {
    run(program, &["mcp", "remove", "-s", "user", NAME]).await?;
    let now = Target::read(target.client, None)?;
    if now.found.is_none() { Ok(()) } else { Err(undone(program, &now)) }
}

async fn run(program: &Path, arguments: &[&str]) -> Result<()> {
    let shown = || format!("{} {}", program.display(), arguments[..arguments.len().min(5)].join(" "));
    let cannot = || format!("cannot run {}", shown());
    let mut words = tempfile::tempfile().with_context(cannot)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(words.try_clone()?);
    let (mut child, began) = (command.spawn().with_context(cannot)?, Instant::now());
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > LONGEST {
            let _ = child.kill().and_then(|()| child.wait());
            return Err(failed(&shown(), &format!("it took more than {} s", LONGEST.as_secs())));
        }
        sleep(PAUSE).await;
    };
    if status.success() {
        return Ok(());
    }
    let mut said = Vec::new();
    let _ = words.rewind().and_then(|()| words.by_ref().take(MOST_WORDS).read_to_end(&mut said));
    Err(failed(&shown(), String::from_utf8_lossy(&said).trim()))
}

/// A command says that it has done what cannot be seen.
fn undone(program: &Path, now: &Target) -> anyhow::Error {
    let why = format!("it ended well, but {} is not changed as it should be", now.file.path.display());
    failed(&format!("{} mcp", program.display()), &why)
}

fn failed(command: &str, why: &str) -> anyhow::Error {
    let message = format!("'{command}' failed: {why}");
    Failure::new(message, "Name its file to have it edited instead: --file ~/.claude.json").into()
}
