//! Whether a home may be used: what is in it runs as this user, so nobody else may be able to write to it.

use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::failure::Failure;

/// How a home was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It was named, or is the one in the user's own folder.
    Named,
    /// It is in the working folder, where anybody may have put it.
    Here,
}

/// What is read from a home or run.
const INSIDE: [&str; 7] = [
    "toolroom.toml",
    "profiles.json",
    "mcp.json",
    "mcp.approved.json",
    "tools",
    "tools/tools.json",
    "toolroom.db",
];

/// Refuses a home that another user owns or can write.
pub fn refuse_foreign(root: &Path) -> Result<()> {
    let home = fs::metadata(root).with_context(|| format!("cannot read {}", root.display()))?;
    check(root, root, &home)?;
    // Also if others cannot enter the home: links lead out of it, and a folder keeps its owner.
    for name in INSIDE {
        let path = root.join(name);
        if let Ok(found) = fs::metadata(&path) {
            check(root, &path, &found)?;
        }
        if let Ok(link) = fs::symlink_metadata(&path)
            && link.is_symlink()
        {
            check_owner(root, &path, &link)?;
        }
    }
    Ok(())
}

fn check_owner(root: &Path, path: &Path, found: &Metadata) -> Result<()> {
    let me = rustix::process::geteuid().as_raw();
    let (shown, home) = (path.display(), root.display());
    if found.uid() != me {
        let message = format!("{shown} belongs to another user (uid {}), not to you (uid {me})", found.uid());
        let hint = format!(
            "Scripts and servers in a home run as you. Use your own: toolroom --home DIR …; if this one should be yours: chown -R {me} {home}"
        );
        return Err(Failure::new(message, hint).into());
    }
    Ok(())
}

fn check(root: &Path, path: &Path, found: &Metadata) -> Result<()> {
    check_owner(root, path, found)?;
    let (shown, home) = (path.display(), root.display());
    if found.mode() & 0o022 != 0 {
        let message = format!("other users can write to {shown} (mode {:o})", found.mode() & 0o777);
        let hint = format!(
            "Scripts and servers in a home run as you. Check its contents, then: chmod -R go-w {home}"
        );
        return Err(Failure::new(message, hint).into());
    }
    Ok(())
}

/// Whether this user created or trusts a home in the working folder.
pub fn is_trusted(root: &Path) -> Result<bool> {
    // Another user's link may lead to a home that this user trusts.
    let linked_by_another = fs::symlink_metadata(root)?.uid() != rustix::process::geteuid().as_raw();
    Ok(!linked_by_another && Known::open().is_some_and(|known| known.has(root)))
}

/// Asks once about a home in the working folder that this user did not create; the answer is remembered.
pub fn ask_about(root: &Path, agreed: bool) -> Result<()> {
    if is_trusted(root)? {
        return Ok(());
    }
    if !agreed && !asked(root)? {
        let message = format!("you did not create {}, and its tools and servers run as you", root.display());
        let hint = "Check its mcp.json and tools/. Then agree once: toolroom --trust-home …; or use another home: toolroom --home DIR …";
        return Err(Failure::new(message, hint).into());
    }
    remember(root);
    Ok(())
}

/// Trusts this home from now on. If that cannot be stored, the user is asked again.
pub fn remember(root: &Path) {
    if let Some(known) = Known::open() {
        let _ = known.add(root);
    }
}

fn asked(root: &Path) -> Result<bool> {
    if !crate::terminal::can_ask() {
        return Ok(false);
    }
    let shown = root.display().to_string();
    let mut err = io::stderr().lock();
    write!(
        err,
        "You did not create {}. Its tools and servers run as you. Use it? [y/N] ",
        crate::terminal::visible(&shown)
    )?;
    err.flush()?;
    drop(err);
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// The homes that this user created or trusts, one per line, in the user's state folder.
struct Known(PathBuf);

impl Known {
    fn open() -> Option<Self> {
        let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
        Some(Self(state.join("toolroom").join("homes")))
    }

    fn has(&self, root: &Path) -> bool {
        let Some(line) = line_of(root) else { return false };
        let ours = fs::metadata(&self.0).is_ok_and(|found| {
            found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0
        });
        ours && fs::read_to_string(&self.0).is_ok_and(|text| text.lines().any(|known| known == line))
    }

    fn add(&self, root: &Path) -> io::Result<()> {
        let Some(line) = line_of(root).filter(|_| !self.has(root)) else { return Ok(()) };
        if let Some(folder) = self.0.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut file = fs::OpenOptions::new().append(true).create(true).mode(0o600).open(&self.0)?;
        file.write_all(format!("{line}\n").as_bytes())
    }
}

/// Identifies the folder itself, not only its path: another folder at the same path is another home.
fn line_of(root: &Path) -> Option<String> {
    let real = fs::canonicalize(root).ok()?;
    let inode = fs::metadata(&real).ok()?.ino();
    Some(format!("{inode} {}", serde_json::Value::from(real.to_str()?)))
}
