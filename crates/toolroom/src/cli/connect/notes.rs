//! What we put into other programs' files, noted in the home: so that a second `connect` changes nothing, and
//! `disconnect` removes what is ours and revokes its key.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_contract::canonical;

use super::edit::Added;
use crate::home::Home;

/// An entry of ours in another program's file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Connection {
    pub(super) client: String,
    pub(super) file: PathBuf,
    /// The digest of the entry as it is there.
    pub(super) entry: String,
    /// The digest of the entry with its key masked: what was asked for.
    pub(super) asked: String,
    /// The key that was created for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<i64>,
    /// What was added around it.
    pub(super) added: Added,
    /// How the file was before, if it had no entries at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<Before>,
    /// Who could read the file before.
    pub(super) mode: u32,
    /// The folders that were made for it, the innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) folders: Vec<PathBuf>,
}

/// A file without entries.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Before {
    /// There was none.
    Missing,
    /// It had white space alone.
    Blank(String),
}

/// The digest of an entry.
pub(super) fn digest(entry: &Value) -> String {
    canonical::digest("connection", entry).to_hex()
}

/// What is noted of a client's file.
pub(super) fn of(home: &Home, client: &str, file: &Path) -> Result<Option<Connection>> {
    let noted = read(&home.connections())?;
    Ok(noted.into_iter().find(|one| one.client == client && one.file == file))
}

/// The files of a client in which our entry is.
pub(super) fn files_of(home: &Home, client: &str) -> Result<Vec<PathBuf>> {
    let noted = read(&home.connections())?.into_iter().filter(|one| one.client == client);
    Ok(noted.map(|one| one.file).collect())
}

/// Notes a connection in place of an older one of the same file; or forgets that.
pub(super) fn set(home: &Home, client: &str, file: &Path, connection: Option<Connection>) -> Result<()> {
    let path = home.connections();
    let lock = path.with_extension("lock");
    let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(lock);
    let lock = lock.context("cannot write into the home")?;
    lock.lock().context("cannot lock the notes on clients")?;
    let mut connections = read(&path)?;
    connections.retain(|one| !(one.client == client && one.file == file));
    connections.extend(connection);
    let write = || -> io::Result<()> {
        let mut aside = tempfile::NamedTempFile::new_in(home.root())?;
        serde_json::to_writer_pretty(&mut aside, &connections)?;
        aside.write_all(b"\n")?;
        aside.as_file().sync_all()?;
        aside.persist(&path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

fn read(path: &Path) -> Result<Vec<Connection>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    serde_json::from_str(&text).with_context(|| format!("{} is damaged: remove it", path.display()))
}
