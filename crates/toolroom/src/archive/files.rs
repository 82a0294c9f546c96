//! The files of a home that a backup has: what somebody wrote, approved or would have to enter again.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Not `secrets.key`: sealed secrets and their key do not belong into one file.
const FILES: [&str; 8] = [
    "toolroom.toml",
    "profiles.json",
    "mcp.json",
    "mcp.approved.json",
    "secrets.json",
    "secret_hosts.json",
    "connections.json",
    // Requests without a key must not come back.
    "keyed",
];
const FOLDERS: [&str; 2] = ["tools", "logins"];

/// A file of a home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomeFile {
    /// Where it is in the home.
    pub path: PathBuf,
    pub size: u64,
    /// What the owner may do with it.
    pub mode: u32,
    /// Which state of it was seen.
    state: (u64, u64, i64, i64),
}

impl HomeFile {
    fn of(path: PathBuf, found: &Metadata) -> Self {
        let state = (found.dev(), found.ino(), found.ctime(), found.ctime_nsec());
        Self { path, size: found.len(), mode: found.mode() & 0o700, state }
    }
}

/// The files that are there now, in a stable order.
pub fn home_files(root: &Path) -> io::Result<Vec<HomeFile>> {
    let mut found = Vec::new();
    for name in FILES {
        add(root, PathBuf::from(name), &mut found)?;
    }
    for name in FOLDERS {
        walk(root, Path::new(name), &mut found)?;
    }
    Ok(found)
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<HomeFile>) -> io::Result<()> {
    let entries = match fs::read_dir(root.join(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut names =
        entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    for name in names {
        let path = folder.join(&name);
        // Not through links: they may lead anywhere, also back.
        if fs::symlink_metadata(root.join(&path))?.is_dir() {
            // Made again by the interpreter.
            if name != "__pycache__" {
                walk(root, &path, found)?;
            }
        } else {
            add(root, path, found)?;
        }
    }
    Ok(())
}

/// A link to a file counts as the file.
fn add(root: &Path, path: PathBuf, found: &mut Vec<HomeFile>) -> io::Result<()> {
    match fs::metadata(root.join(&path)) {
        Ok(file) if file.is_file() => {
            if path.to_str().is_none() {
                let message = format!("the name of {} is not UTF-8; rename it", path.display());
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            found.push(HomeFile::of(path, &file));
            Ok(())
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether a backup may have a file at this place: nothing else is written into a home, and nothing outside it.
pub fn may_hold(path: &str) -> bool {
    let path = Path::new(path);
    let mut parts = path.components();
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(first)), Some(_)) => is_plain && FOLDERS.iter().any(|name| first == *name),
        (Some(Component::Normal(first)), None) => FILES.iter().any(|name| first == *name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_a_homes_own_files_is_taken_from_a_backup() {
        for good in ["toolroom.toml", "tools/tools.json", "tools/deep/er/x.py", "logins/a.json"] {
            assert!(may_hold(good), "{good}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "../x",
            "tools/../../x",
            "tools",
            "other.json",
            "tools/./x/..",
            "lock",
            "keyed/x",
        ] {
            assert!(!may_hold(bad), "{bad}");
        }
    }
}
