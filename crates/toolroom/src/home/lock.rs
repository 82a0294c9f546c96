//! The home's lock: one process at a time works on its files. The kernel frees it when the process ends.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::Home;
use crate::failure::Failure;

/// The right to work on the home's files; released on drop.
#[derive(Debug)]
pub struct HomeLock {
    file: File,
}

/// The result of an attempt.
#[derive(Debug)]
pub enum Taking {
    /// It is ours.
    Taken(HomeLock),
    /// Another process has it; what it says of itself, unless it has only just begun.
    Held(Option<Holder>),
}

/// What the process that works on the home says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// What it is.
    pub role: Role,
    /// Its process id.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// Its address, once it is a server that listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// What a process is that works on a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// One command, for a moment.
    Command,
    /// What a front started, for as long as there are fronts.
    Engine,
    /// A server.
    Serve,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.role, &self.address) {
            (Role::Command, _) => write!(f, "another command (pid {})", self.pid),
            (Role::Engine, _) => write!(f, "an engine of MCP clients (pid {})", self.pid),
            (Role::Serve, Some(address)) => write!(f, "a server at {address} (pid {})", self.pid),
            (Role::Serve, None) => write!(f, "a server that is starting (pid {})", self.pid),
        }
    }
}

impl Home {
    /// Tries to take the lock, without waiting.
    pub fn try_lock(&self, role: Role) -> Result<Taking> {
        let path = self.lock_file();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|error| self.cannot_open(&path, error))?;
        match file.try_lock() {
            Ok(()) => {
                let mut lock = HomeLock { file };
                lock.announce(role, None)?;
                Ok(Taking::Taken(lock))
            }
            Err(TryLockError::WouldBlock) => Ok(Taking::Held(self.holder())),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", path.display()))
            }
        }
    }

    /// What to say of a file of the home that cannot be opened for writing.
    pub fn cannot_open(&self, path: &Path, error: std::io::Error) -> anyhow::Error {
        match error.kind() {
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Failure::new(
                format!("the home {} cannot be written: {error}", self.root().display()),
                "Its lock, database and log are kept there. Make it writable for you, or use another: --home DIR",
            )
            .into(),
            _ => anyhow::Error::new(error).context(format!("cannot open {}", path.display())),
        }
    }

    /// What the last process that took the lock said of itself.
    pub fn holder(&self) -> Option<Holder> {
        serde_json::from_slice(&std::fs::read(self.lock_file()).ok()?).ok()
    }

    /// Whether the file of this lock is still the home's: a home may be removed while it is worked on.
    pub fn has(&self, lock: &HomeLock) -> bool {
        let (Ok(ours), Ok(there)) = (lock.file.metadata(), std::fs::metadata(self.lock_file())) else {
            return false;
        };
        (ours.dev(), ours.ino()) == (there.dev(), there.ino())
    }
}

impl HomeLock {
    /// Notes what this process is, for those who find the lock taken.
    pub fn announce(&mut self, role: Role, address: Option<String>) -> Result<()> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let note = serde_json::to_vec(&Holder { role, pid: std::process::id(), version, address })?;
        let mut write = || {
            self.file.set_len(0)?;
            self.file.rewind()?;
            self.file.write_all(&note)
        };
        write().context("cannot write the lock file")
    }
}
