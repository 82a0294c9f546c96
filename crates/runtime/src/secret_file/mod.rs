//! `secrets.json`: values that entries of tools.json name as `secret:NAME`. They are sealed, only their owner can read
//! the file, and nothing shows what is in it. Messages name no path: callers of tools see them.

mod seal;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::registry_file::{RealDisk, disk};
pub use seal::KEY_VARIABLE;
use seal::SealKey;

/// The secrets of a home.
#[derive(Clone, Debug)]
pub struct SecretFile {
    path: PathBuf,
}

/// The longest value.
pub const LONGEST_SECRET: usize = 64 << 10;

/// What the file says.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Kept {
    Sealed {
        sealed: BTreeMap<String, String>,
    },
    /// As it was before values were sealed; never written.
    Plain(BTreeMap<String, String>),
}

impl SecretFile {
    /// The secrets in this file, which need not be there.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The secrets of the home that a folder of scripts is in.
    pub(crate) fn beside(tools: &Path) -> Self {
        Self::new(tools.parent().unwrap_or(tools).join("secrets.json"))
    }

    /// The key that opens the secrets, unless the environment has it.
    pub fn key(&self) -> PathBuf {
        self.path.with_file_name("secrets.key")
    }

    /// The names, in order.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let (Kept::Sealed { sealed: all } | Kept::Plain(all)) = self.read()?;
        Ok(all.into_keys().collect())
    }

    /// Seals what an older version left as plain text; then opens every secret and says how many there are.
    pub fn check(&self) -> io::Result<usize> {
        if let Kept::Plain(all) = self.read()?
            && !all.is_empty()
        {
            let _turn = self.turn()?;
            let sealed = self.sealed()?;
            self.write(sealed)?;
        }
        let Kept::Sealed { sealed } = self.read()? else { return Ok(0) };
        self.open_all(&sealed)?;
        Ok(sealed.len())
    }

    /// Sets a secret; whether there was none of that name.
    pub fn set(&self, name: &str, value: &str) -> io::Result<bool> {
        let _turn = self.turn()?;
        let mut all = self.sealed()?;
        let is_new = all.remove(name).is_none();
        // One key for all: with another one, half of them could not be opened.
        self.open_all(&all)?;
        let value = SealKey::find_or_make(&self.key())?.seal(name, value)?;
        all.insert(name.to_owned(), value);
        self.write(all)?;
        Ok(is_new)
    }

    /// The hosts that a person approved to get a secret, as `https://api.example.com`.
    pub fn hosts(&self, name: &str) -> io::Result<Vec<String>> {
        Ok(self.read_hosts()?.remove(name).unwrap_or_default())
    }

    /// Approves that hosts get secrets: pairs of the secret's name and the host.
    pub fn allow(&self, pairs: impl IntoIterator<Item = (String, String)>) -> io::Result<()> {
        let _turn = self.turn()?;
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
        let _turn = self.turn()?;
        let mut all = self.read_hosts()?;
        let Some(hosts) = all.get_mut(name) else { return Ok(false) };
        let count = hosts.len();
        hosts.retain(|one| one != host);
        let is_gone = hosts.len() < count;
        self.write_hosts(&all)?;
        Ok(is_gone)
    }

    /// Removes a secret; whether there was one. It needs no key: that is the way out when the key is lost.
    pub fn remove(&self, name: &str) -> io::Result<bool> {
        let _turn = self.turn()?;
        let mut all = self.sealed()?;
        let was_there = all.remove(name).is_some();
        if was_there {
            self.write(all)?;
            // Who sets it again is asked again.
            let mut hosts = self.read_hosts()?;
            if hosts.remove(name).is_some() {
                self.write_hosts(&hosts)?;
            }
        }
        Ok(was_there)
    }

    pub(crate) fn get(&self, name: &str) -> io::Result<Option<String>> {
        match self.read()? {
            Kept::Plain(mut all) => Ok(all.remove(name)),
            Kept::Sealed { sealed } => {
                let Some(value) = sealed.get(name) else { return Ok(None) };
                SealKey::find(&self.key())?.ok_or_else(seal::no_key)?.open(name, value).map(Some)
            }
        }
    }

    fn read(&self) -> io::Result<Kept> {
        Ok(Self::read_file(&self.path)?.unwrap_or(Kept::Sealed { sealed: BTreeMap::new() }))
    }

    /// All secrets as they are written, sealed now if they were not.
    fn sealed(&self) -> io::Result<BTreeMap<String, String>> {
        match self.read()? {
            Kept::Sealed { sealed } => Ok(sealed),
            Kept::Plain(plain) => {
                let key = SealKey::find_or_make(&self.key())?;
                let seal = |(name, value): (String, String)| Ok((name.clone(), key.seal(&name, &value)?));
                plain.into_iter().map(seal).collect()
            }
        }
    }

    fn open_all(&self, sealed: &BTreeMap<String, String>) -> io::Result<()> {
        if sealed.is_empty() {
            return Ok(());
        }
        let key = SealKey::find(&self.key())?.ok_or_else(seal::no_key)?;
        sealed.iter().try_for_each(|(name, value)| key.open(name, value).map(|_| ()))
    }

    /// Commands that change the files at the same time wait for each other, as long as this is not dropped.
    fn turn(&self) -> io::Result<File> {
        let folder = File::open(self.path.parent().unwrap_or(Path::new("/")))?;
        folder.lock()?;
        Ok(folder)
    }

    fn hosts_path(&self) -> PathBuf {
        self.path.with_file_name("secret_hosts.json")
    }

    fn read_hosts(&self) -> io::Result<BTreeMap<String, Vec<String>>> {
        Ok(Self::read_file(&self.hosts_path())?.unwrap_or_default())
    }

    fn write_hosts(&self, all: &BTreeMap<String, Vec<String>>) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(all)?;
        disk::replace(&RealDisk, &disk::linked(&self.hosts_path()), &text, 0o600).map(|_| ())
    }

    fn read_file<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
        let name = path.file_name().unwrap_or_default().display();
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io::Error::new(error.kind(), format!("{name}: {error}"))),
        };
        if std::fs::metadata(path)?.mode() & 0o077 != 0 {
            let message = format!("others can read {name} in the home: run chmod 600 on it");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        // What does not parse is not repeated: it may be a secret.
        serde_json::from_slice(&text).map(Some).map_err(|_| {
            let message = format!("{name} in the home is not as Toolroom wrote it: restore it, or remove it");
            io::Error::new(io::ErrorKind::InvalidData, message)
        })
    }

    fn write(&self, sealed: BTreeMap<String, String>) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(&Kept::Sealed { sealed })?;
        disk::replace(&RealDisk, &disk::linked(&self.path), &text, 0o600).map(|_| ())
    }
}
