//! `secrets.json`: values that entries of tools.json name as `secret:NAME`. Only its owner can read it, and nothing
//! shows what is in it.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::registry_file::{RealDisk, disk};

/// The secrets of a home.
#[derive(Clone, Debug)]
pub struct SecretFile {
    path: PathBuf,
}

/// The longest value.
pub const LONGEST_SECRET: usize = 64 << 10;

impl SecretFile {
    /// The secrets in this file, which need not be there.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The secrets of the home that a folder of scripts is in.
    pub(crate) fn beside(tools: &Path) -> Self {
        Self::new(tools.parent().unwrap_or(tools).join("secrets.json"))
    }

    /// The names, in order.
    pub fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.read()?.into_keys().collect())
    }

    /// Sets a secret; whether there was none of that name.
    pub fn set(&self, name: &str, value: String) -> io::Result<bool> {
        let mut all = self.read()?;
        let is_new = all.insert(name.to_owned(), value).is_none();
        self.write(&all)?;
        Ok(is_new)
    }

    /// Removes a secret; whether there was one.
    pub fn remove(&self, name: &str) -> io::Result<bool> {
        let mut all = self.read()?;
        let was_there = all.remove(name).is_some();
        if was_there {
            self.write(&all)?;
        }
        Ok(was_there)
    }

    pub(crate) fn get(&self, name: &str) -> io::Result<Option<String>> {
        Ok(self.read()?.remove(name))
    }

    fn read(&self) -> io::Result<BTreeMap<String, String>> {
        let text = match std::fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(error),
        };
        if std::fs::metadata(&self.path)?.mode() & 0o077 != 0 {
            let message = format!("others can read {}: run chmod 600 on it", self.path.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        // What does not parse is not repeated: it may be a secret.
        serde_json::from_slice(&text).map_err(|_| {
            let message = format!("{} is not an object of names and texts", self.path.display());
            io::Error::new(io::ErrorKind::InvalidData, message)
        })
    }

    fn write(&self, all: &BTreeMap<String, String>) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(all)?;
        disk::replace(&RealDisk, &disk::linked(&self.path), &text, 0o600).map(|_| ())
    }
}
