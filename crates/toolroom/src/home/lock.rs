//! The home's lock: one process at a time works on its files. The kernel frees it when the process ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, Write};
use std::os::unix::fs::OpenOptionsExt;

use anyhow::{Context, Result};

use super::Home;

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
    /// Another process has it; its address, if it is a server that said so.
    Held(Option<String>),
}

impl Home {
    /// Tries to take the lock, without waiting.
    pub fn try_lock(&self) -> Result<Taking> {
        let path = self.lock_file();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .with_context(|| format!("cannot open {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {
                let mut lock = HomeLock { file };
                lock.note("")?;
                Ok(Taking::Taken(lock))
            }
            Err(TryLockError::WouldBlock) => {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let address = text.lines().next().filter(|line| line.starts_with("http"));
                Ok(Taking::Held(address.map(str::to_owned)))
            }
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", path.display()))
            }
        }
    }
}

impl HomeLock {
    /// Notes this server's address, for commands that find the lock taken.
    pub fn announce(&mut self, address: &str) -> Result<()> {
        self.note(&format!("{address}\n"))
    }

    fn note(&mut self, text: &str) -> Result<()> {
        let mut write = || {
            self.file.set_len(0)?;
            self.file.rewind()?;
            self.file.write_all(text.as_bytes())
        };
        write().context("cannot write the lock file")
    }
}
