//! Creates a home: built aside, then moved into place, so that nobody sees half of one.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::failure::Failure;

const SETTINGS: &str = include_str!("toolroom.toml");
const TOOLS: &str = include_str!("tools.json");
const SERVERS: &str = "{\n  \"mcpServers\": {}\n}\n";

/// Creates the home if there is none, and says whether it did. An empty folder counts as none.
pub fn make_if_missing(root: &Path) -> Result<bool> {
    match fs::read_dir(root) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                return Ok(false);
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            let message = format!("{} is not a folder", root.display());
            return Err(Failure::new(message, "Name a folder: toolroom --home DIR …").into());
        }
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", root.display())),
    }
    make(root).map_err(|error| {
        let message = format!("cannot create a home at {}: {error}", root.display());
        Failure::new(message, "Choose a folder that you can write to: toolroom --home DIR …").into()
    })
}

fn make(root: &Path) -> io::Result<bool> {
    let parent = root.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent)?;
    let Ok(aside) = aside_of(parent) else {
        return fill_in_place(root);
    };
    fill(aside.path())?;
    match fs::rename(aside.path(), root) {
        Ok(()) => {
            // It was moved, so there is nothing to remove.
            let _ = aside.keep();
            Ok(true)
        }
        // Another command created it first.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
        Err(_) => fill_in_place(root),
    }
}

fn aside_of(parent: &Path) -> io::Result<TempDir> {
    let owner_only = Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix(".toolroom-new-").permissions(owner_only).tempdir_in(parent)
}

/// For an empty folder that cannot be replaced, such as a mounted one.
fn fill_in_place(root: &Path) -> io::Result<bool> {
    DirBuilder::new().recursive(true).mode(0o700).create(root)?;
    fill(root).map(|()| true)
}

fn fill(folder: &Path) -> io::Result<()> {
    for name in ["tools", "logs"] {
        DirBuilder::new().recursive(true).mode(0o700).create(folder.join(name))?;
    }
    write(&folder.join("toolroom.toml"), SETTINGS)?;
    write(&folder.join("mcp.json"), SERVERS)?;
    write(&folder.join("tools/tools.json"), TOOLS)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
