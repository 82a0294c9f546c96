//! The home: the folder with settings, registry, database and logs.

mod create;
mod lock;
pub mod registry_files;
mod trust;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::failure::Failure;

pub use lock::{HomeLock, Role, Taking};
use trust::Found;

/// An existing home.
#[derive(Clone, Debug)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// Finds or creates the home; returns whether it was created. A home that others can write to is refused, and the
    /// user is asked about one in the working folder unless it is `trusted`.
    pub fn prepare(wanted: Option<&Path>, trusted: bool) -> Result<(Self, bool)> {
        let (root, found) = locate(wanted)?;
        let root = std::path::absolute(&root).with_context(|| format!("bad home {}", root.display()))?;
        let made = create::make_if_missing(&root)?;
        trust::refuse_foreign(&root)?;
        let home = Self { root };
        if made {
            home.moved_in();
        } else if found == Found::Here {
            trust::ask_about(&home.root, trusted)?;
        }
        Ok((home, made))
    }

    /// Where the home is or would be.
    pub fn place(wanted: Option<&Path>) -> Result<PathBuf> {
        let (root, _) = locate(wanted)?;
        std::path::absolute(&root).with_context(|| format!("bad home {}", root.display()))
    }

    /// A home that this program is filling, before it is anybody's.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// A home was put in its place by its owner.
    pub fn moved_in(&self) {
        // Only these are found by their place.
        if self.root.ends_with(".toolroom") {
            trust::remember(&self.root);
        }
    }

    /// The home if there is one that nobody needs to be asked about; none is created.
    pub fn existing(wanted: Option<&Path>) -> Option<Self> {
        let (root, found) = locate(wanted).ok()?;
        let root = std::path::absolute(&root).ok().filter(|root| root.join("toolroom.toml").is_file())?;
        trust::refuse_foreign(&root).ok()?;
        (found == Found::Named || trust::is_trusted(&root).unwrap_or(false)).then_some(Self { root })
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

    /// The secrets of scripts; it need not be there.
    pub fn secrets(&self) -> PathBuf {
        self.root.join("secrets.json")
    }

    /// What can be made again: modules that scripts import, environments of dependencies.
    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// `profiles.json`: the profiles that are made while the server runs; it need not be there.
    pub fn profiles(&self) -> PathBuf {
        self.root.join("profiles.json")
    }

    /// The registry of MCP servers.
    pub fn servers(&self) -> PathBuf {
        self.root.join("mcp.json")
    }

    /// What `connect` put into the files of other programs; it need not be there.
    pub fn connections(&self) -> PathBuf {
        self.root.join("connections.json")
    }

    /// What was typed in the terminal chat.
    pub fn chat_history(&self) -> PathBuf {
        self.root.join("chat_history")
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

    /// Whether it is marked as one in which a key was made. The database may say so where the mark is missing.
    pub fn has_had_keys(&self) -> bool {
        self.root.join("keyed").exists()
    }

    /// What engines log.
    pub fn engine_log(&self) -> PathBuf {
        self.root.join("engine.log")
    }

    /// Locked by whoever starts an engine.
    pub fn engine_turn(&self) -> PathBuf {
        self.root.join("engine.starting")
    }

    fn lock_file(&self) -> PathBuf {
        self.root.join("lock")
    }
}

fn locate(wanted: Option<&Path>) -> Result<(PathBuf, Found)> {
    if let Some(wanted) = wanted {
        return Ok((wanted.to_owned(), Found::Named));
    }
    let here = PathBuf::from(".toolroom");
    let is_own = || {
        let own = std::env::home_dir().map(|folder| folder.join(".toolroom"));
        own.is_some_and(|own| {
            own.canonicalize().is_ok_and(|own| here.canonicalize().is_ok_and(|here| here == own))
        })
    };
    if here.is_dir() {
        let found = if is_own() { Found::Named } else { Found::Here };
        return Ok((here, found));
    }
    let of_user = std::env::home_dir().filter(|path| !path.as_os_str().is_empty());
    let of_user = of_user.ok_or_else(|| {
        Failure::new("this user has no home folder", "Name a folder: toolroom --home DIR …")
    })?;
    Ok((of_user.join(".toolroom"), Found::Named))
}
