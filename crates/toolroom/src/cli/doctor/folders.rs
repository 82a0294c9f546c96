//! The home's folders and secrets: whose they are, whether they can be written and opened, how much room is left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use toolroom_runtime::secret_file::SecretFile;

use super::finding::Finding;
use crate::home::Home;

/// With less free space than this, problems are near.
const LOW_DISK: u64 = 200 << 20;
/// With less than this, they are here.
const NO_DISK: u64 = 10 << 20;

pub fn look(home: &Home) -> Vec<Finding> {
    let tools = home.tools();
    let tools = tools.parent().unwrap_or(home.root());
    let mut findings = vec![rights(home), writable("tools", tools, TOOLS)];
    findings.extend(tools_of_others(tools));
    findings.extend(secrets(home));
    findings.extend([writable("logs", &home.logs(), LOGS), disk(home)]);
    findings
}

const TOOLS: &str = "Create the folder as your user: without it no tool can be registered.";
const LOGS: &str = "Create the folder as your user: calls that cannot be logged do not run.";

fn rights(home: &Home) -> Finding {
    let path = home.root();
    match fs::metadata(path).map(|found| found.permissions().mode() & 0o777) {
        Ok(mode) if mode & 0o077 == 0 => {
            Finding::ok("home", format!("only you can access {}", path.display()))
        }
        Ok(mode) => Finding::warn(
            "home",
            format!("others can access {} (mode {mode:o})", path.display()),
            format!("chmod 700 {}", path.display()),
        ),
        Err(error) => Finding::fail("home", error.to_string(), "Fix the permissions of the folder."),
    }
}

/// Anyone who can write here can run code as the server.
fn tools_of_others(folder: &Path) -> Option<Finding> {
    let mode = fs::metadata(folder).ok()?.permissions().mode() & 0o777;
    (mode & 0o022 != 0).then(|| {
        Finding::warn(
            "tools",
            format!("other users can write to {} (mode {mode:o})", folder.display()),
            format!("chmod go-w {}", folder.display()),
        )
    })
}

/// Nothing to say about a home without secrets.
fn secrets(home: &Home) -> Option<Finding> {
    match SecretFile::new(home.secrets()).check() {
        Ok(0) => None,
        Ok(count) => Some(Finding::ok("secrets", format!("{count} sealed, and their key opens them"))),
        Err(error) => {
            let remedy = "Until then, tools that need a secret are refused.";
            Some(Finding::fail("secrets", error.to_string(), remedy))
        }
    }
}

fn writable(what: &str, folder: &Path, remedy: &str) -> Finding {
    match tempfile::tempfile_in(folder) {
        Ok(_) => Finding::ok(what, format!("the folder {what} can be written")),
        Err(error) => {
            let detail = format!("the folder {} cannot be written: {error}", folder.display());
            Finding::fail(what, detail, remedy)
        }
    }
}

fn disk(home: &Home) -> Finding {
    match rustix::fs::statvfs(home.root()) {
        Ok(found) => {
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            let detail = format!("{} MiB free", free >> 20);
            let remedy = "Free space, or lower keep_days in toolroom.toml.";
            match free {
                0..NO_DISK => Finding::fail("disk", detail, remedy),
                NO_DISK..LOW_DISK => Finding::warn("disk", detail, remedy),
                _ => Finding::ok("disk", detail),
            }
        }
        Err(error) => Finding::warn("disk", error.to_string(), "Check that the disk is mounted."),
    }
}
