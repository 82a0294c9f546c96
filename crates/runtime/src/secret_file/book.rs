//! Secrets while they are changed: sealed values, and the hosts that may get them.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use super::{SealKey, seal, set_anew};

/// Where the key comes from.
pub(super) enum KeySource {
    /// One home's: made with its first secret.
    Home(PathBuf),
    /// That of servers that share a database: made by a person.
    Shared(PathBuf),
}

/// All secrets of a home, or of servers that share a database.
pub struct SecretBook {
    pub(super) sealed: BTreeMap<String, String>,
    pub(super) hosts: BTreeMap<String, Vec<String>>,
    pub(super) key: KeySource,
}

impl SecretBook {
    /// Sets a secret; whether there was none of that name.
    pub fn set(&mut self, name: &str, value: &str) -> io::Result<bool> {
        let is_new = self.sealed.remove(name).is_none();
        let key = match &self.key {
            KeySource::Shared(file) => SealKey::find_shared(file)?,
            KeySource::Home(file) if self.sealed.is_empty() => SealKey::find_or_make(file)?,
            KeySource::Home(file) => SealKey::find(file)?.ok_or_else(seal::no_key)?,
        };
        // One key for all: with another one, half of them could not be opened.
        for (name, value) in &self.sealed {
            key.open(name, value, &set_anew(name))?;
        }
        self.sealed.insert(name.to_owned(), key.seal(name, value)?);
        Ok(is_new)
    }

    /// Removes a secret; whether there was one. It needs no key: that is the way out when the key is lost.
    pub fn remove(&mut self, name: &str) -> bool {
        // Who sets it again is asked again.
        self.hosts.remove(name);
        self.sealed.remove(name).is_some()
    }

    /// Approves that hosts get secrets: pairs of the secret's name and the host.
    pub fn allow(&mut self, pairs: impl IntoIterator<Item = (String, String)>) {
        for (name, host) in pairs {
            let hosts = self.hosts.entry(name).or_default();
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
    }

    /// Takes such an approval back; whether there was one.
    pub fn deny(&mut self, name: &str, host: &str) -> bool {
        let Some(hosts) = self.hosts.get_mut(name) else { return false };
        let count = hosts.len();
        hosts.retain(|one| one != host);
        hosts.len() < count
    }
}
