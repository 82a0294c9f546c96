//! `secrets.json`: values that entries of tools.json name as `secret:NAME`. Only its owner can read it, and nothing
//! shows what is in it.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

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

    /// The hosts that a person approved to get a secret, as `https://api.example.com`.
    pub fn hosts(&self, name: &str) -> io::Result<Vec<String>> {
        Ok(self.read_hosts()?.remove(name).unwrap_or_default())
    }

    /// Approves that hosts get secrets: pairs of the secret's name and the host.
    pub fn allow(&self, pairs: impl IntoIterator<Item = (String, String)>) -> io::Result<()> {
        let mut all = self.read_hosts()?;
        for (name, host) in pairs {
            let hosts = all.entry(name).or_default();
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        self.write_hosts(&all)
    }

    /// Takes such an approval back; whether there was one.
    pub fn deny(&self, name: &str, host: &str) -> io::Result<bool> {
        let mut all = self.read_hosts()?;
        let Some(hosts) = all.get_mut(name) else { return Ok(false) };
        let count = hosts.len();
        hosts.retain(|one| one != host);
        let is_gone = hosts.len() < count;
        self.write_hosts(&all)?;
        Ok(is_gone)
    }

    /// Removes a secret; whether there was one.
    pub fn remove(&self, name: &str) -> io::Result<bool> {
        let mut all = self.read()?;
        let was_there = all.remove(name).is_some();
        if was_there {
            self.write(&all)?;
            // Who sets it again is asked again.
            let mut hosts = self.read_hosts()?;
            if hosts.remove(name).is_some() {
                self.write_hosts(&hosts)?;
            }
        }
        Ok(was_there)
    }

    pub(crate) fn get(&self, name: &str) -> io::Result<Option<String>> {
        Ok(self.read()?.remove(name))
    }

    fn read(&self) -> io::Result<BTreeMap<String, String>> {
        Self::read_file(&self.path)
    }

    fn hosts_path(&self) -> PathBuf {
        self.path.with_file_name("secret_hosts.json")
    }

    fn read_hosts(&self) -> io::Result<BTreeMap<String, Vec<String>>> {
        Self::read_file(&self.hosts_path())
    }

    fn write_hosts(&self, all: &BTreeMap<String, Vec<String>>) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(all)?;
        disk::replace(&RealDisk, &disk::linked(&self.hosts_path()), &text, 0o600).map(|_| ())
    }

    fn read_file<T: Default + DeserializeOwned>(path: &Path) -> io::Result<T> {
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
            Err(error) => return Err(error),
        };
        if std::fs::metadata(path)?.mode() & 0o077 != 0 {
            let message = format!("others can read {}: run chmod 600 on it", path.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        // What does not parse is not repeated: it may be a secret.
        serde_json::from_slice(&text).map_err(|_| {
            let message = format!("{} is not an object of names and texts", path.display());
            io::Error::new(io::ErrorKind::InvalidData, message)
        })
    }

    fn write(&self, all: &BTreeMap<String, String>) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(all)?;
        disk::replace(&RealDisk, &disk::linked(&self.path), &text, 0o600).map(|_| ())
    }
}
