//! The home: the folder that holds settings, registry, database and logs of one Toolroom.

mod create;
mod lock;
pub mod registry_files;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::failure::Failure;

pub use lock::{HomeLock, Taking};

/// An existing home.
#[derive(Clone, Debug)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// Finds the home, or makes it; whether it was made.
    pub fn prepare(wanted: Option<&Path>) -> Result<(Self, bool)> {
        let root = locate(wanted)?;
        let root = std::path::absolute(&root).with_context(|| format!("bad home {}", root.display()))?;
        let made = create::make_if_missing(&root)?;
        Ok((Self { root }, made))
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The settings.
    pub fn settings(&self) -> PathBuf {
        self.root.join("toolroom.toml")
    }

    /// The registry of tools.
    pub fn tools(&self) -> PathBuf {
        self.root.join("tools").join("tools.json")
    }

    /// Where each script tool has its working folder.
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// The registry of MCP servers.
    pub fn servers(&self) -> PathBuf {
        self.root.join("mcp.json")
    }

    /// The folder of the execution log.
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// The database, unless another one is set.
    pub fn database(&self) -> PathBuf {
        self.root.join("toolroom.db")
    }

    /// The socket on which a running server answers its owner.
    pub fn socket(&self) -> PathBuf {
        self.root.join("toolroom.sock")
    }

    fn lock_file(&self) -> PathBuf {
        self.root.join("lock")
    }
}

fn locate(wanted: Option<&Path>) -> Result<PathBuf> {
    if let Some(wanted) = wanted {
        return Ok(wanted.to_owned());
    }
    let here = PathBuf::from(".toolroom");
    if here.is_dir() {
        return Ok(here);
    }
    let of_user = std::env::home_dir().filter(|path| !path.as_os_str().is_empty());
    let of_user = of_user.ok_or_else(|| {
        Failure::new("no home folder is known for this user", "Say where to work: toolroom --home DIR …")
    })?;
    Ok(of_user.join(".toolroom"))
}
