//! `secrets.json`: values that entries of tools.json name as `secret:NAME`. They are sealed, only their owner can read
//! the file, and nothing shows what is in it. Messages name no path: callers of tools see them.

mod book;
mod seal;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::registry_file::{RealDisk, disk};
use book::KeySource;
pub use book::SecretBook;
pub use seal::KEY_VARIABLE;
pub(crate) use seal::SealKey;

/// The secrets of a home.
#[derive(Clone, Debug)]
pub struct SecretFile {
    path: PathBuf,
}

/// The longest value.
pub const LONGEST_SECRET: usize = 64 << 10;

/// Whether a secret can have that name.
pub fn is_secret_name(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    !name.is_empty() && name.len() <= 100 && name.chars().all(plain)
}

/// The files in a home: the sealed values, and the hosts that may get them.
pub(crate) const FILES: [&str; 2] = ["secrets.json", "secret_hosts.json"];

/// What is to be in files of the home, by their names.
type Texts = Vec<(&'static str, Vec<u8>)>;

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

    /// The secrets of the home in this folder.
    pub fn of_home(home: &Path) -> Self {
        Self::new(home.join(FILES[0]))
    }

    /// The secrets of the home that a folder of scripts is in.
    pub(crate) fn beside(tools: &Path) -> Self {
        Self::of_home(tools.parent().unwrap_or(tools))
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

    /// The hosts that a person approved to get a secret, as `https://api.example.com`.
    pub fn hosts(&self, name: &str) -> io::Result<Vec<String>> {
        Ok(self.read_hosts()?.remove(name).unwrap_or_default())
    }

    /// Makes a change. Other commands that make one wait for it.
    pub fn change<T>(&self, change: impl FnOnce(&mut SecretBook) -> io::Result<T>) -> io::Result<T> {
        let _turn = self.turn()?;
        let (done, next) = self.changed_with(KeySource::Home(self.key()), change)?;
        for (name, text) in next {
            disk::replace(&RealDisk, &disk::linked(&self.path.with_file_name(name)), &text, 0o600)?;
        }
        Ok(done)
    }

    /// What a change makes of the files, where they are copies of what servers share: names, and what is to be in them.
    pub(crate) fn changed<T>(
        &self,
        change: impl FnOnce(&mut SecretBook) -> io::Result<T>,
    ) -> io::Result<(T, Texts)> {
        self.changed_with(KeySource::Shared(self.key()), change)
    }

    fn changed_with<T>(
        &self,
        key: KeySource,
        change: impl FnOnce(&mut SecretBook) -> io::Result<T>,
    ) -> io::Result<(T, Texts)> {
        let mut book = SecretBook { sealed: self.sealed()?, hosts: self.read_hosts()?, key };
        let (sealed, hosts) = (book.sealed.clone(), book.hosts.clone());
        let done = change(&mut book)?;
        let mut next = Vec::new();
        if book.sealed != sealed {
            next.push((FILES[0], serde_json::to_vec_pretty(&Kept::Sealed { sealed: book.sealed })?));
        }
        if book.hosts != hosts {
            next.push((FILES[1], serde_json::to_vec_pretty(&book.hosts)?));
        }
        Ok((done, next))
    }

    pub(crate) fn get(&self, name: &str) -> io::Result<Option<String>> {
        match self.read()? {
            Kept::Plain(mut all) => Ok(all.remove(name)),
            Kept::Sealed { sealed } => {
                let Some(value) = sealed.get(name) else { return Ok(None) };
                SealKey::find(&self.key())?
                    .ok_or_else(seal::no_key)?
                    .open(name, value, &set_anew(name))
                    .map(Some)
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
            Kept::Plain(plain) if plain.is_empty() => Ok(plain),
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
        sealed.iter().try_for_each(|(name, value)| key.open(name, value, &set_anew(name)).map(|_| ()))
    }

    /// Commands that change the files at the same time wait for each other, as long as this is not dropped.
    fn turn(&self) -> io::Result<File> {
        let folder = File::open(self.path.parent().unwrap_or(Path::new("/")))?;
        folder.lock()?;
        Ok(folder)
    }

    fn hosts_path(&self) -> PathBuf {
        self.path.with_file_name(FILES[1])
    }

    fn read_hosts(&self) -> io::Result<BTreeMap<String, Vec<String>>> {
        Ok(Self::read_file(&self.hosts_path())?.unwrap_or_default())
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

/// What to do if a secret's key is lost.
fn set_anew(name: &str) -> String {
    format!("set the secret anew: toolroom secrets remove {name}, then toolroom secrets set {name}")
}
