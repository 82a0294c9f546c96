//! The files of a home that are copies of the shared registry's documents.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use serde_json::value::RawValue;
use toolroom_store::registry::{Document, Kind, NewDocument, Text};

use super::follow::{PROFILES, SERVERS};
use crate::registry_file::{Disk, disk};
use crate::secret_file;

/// The scripts, and what is beside them.
const FOLDER: &str = "tools";
const APPROVED: &str = "mcp.approved.json";
/// What was written as a copy, by path: another text is somebody's own.
const WRITTEN: &str = "registry.copies.json";
/// Where somebody's own texts go before they are replaced.
const ASIDE: &str = "replaced";
/// What is larger stays in its home.
const LARGEST: u64 = 16 << 20;
/// Packages and compiled files are each server's own.
const OWN: [&str; 2] = ["node_modules", "__pycache__"];

/// Copies can be had again, so nobody waits until they are on the disk.
pub(crate) struct CopyDisk;

impl Disk for CopyDisk {
    fn sync(&self, _: &File) -> io::Result<()> {
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// The copies in a home.
pub(super) struct Copies {
    home: PathBuf,
    written: BTreeMap<String, String>,
}

impl Copies {
    pub(super) fn open(home: &Path) -> Self {
        let text = fs::read(home.join(WRITTEN)).unwrap_or_default();
        Self { home: home.to_owned(), written: serde_json::from_slice(&text).unwrap_or_default() }
    }

    /// Makes files the same as these documents.
    pub(super) fn write(&mut self, documents: &[Document]) -> io::Result<()> {
        let before = self.written.clone();
        let is_copied = |document: &&Document| match document.kind {
            Kind::Secrets => secret_file::FILES.contains(&document.name.as_str()),
            _ => may_hold(&document.name),
        };
        for document in documents.iter().filter(is_copied) {
            self.write_one(&document.name, &document.text)?;
        }
        if self.written != before {
            let text = serde_json::to_vec(&self.written)?;
            disk::replace(&CopyDisk, &self.home.join(WRITTEN), &text, 0o600)?;
        }
        Ok(())
    }

    fn write_one(&mut self, name: &str, text: &Text) -> io::Result<()> {
        let path = self.home.join(name);
        let there = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            read => Some(read?),
        };
        if there != text.body {
            if let Some(there) = &there
                && self.written.get(name) != Some(&hash(there))
            {
                self.set_aside(name, &path)?;
            }
            match &text.body {
                Some(body) => {
                    fs::create_dir_all(path.parent().unwrap_or(&self.home))?;
                    let mode = if text.is_executable { 0o700 } else { 0o600 };
                    disk::replace(&CopyDisk, &path, body, mode)?;
                }
                None => fs::remove_file(&path)?,
            }
        }
        self.note_one(name, text);
        Ok(())
    }

    /// These files were written by whoever changed them.
    pub(super) fn note(&mut self, files: &[(String, Text)]) {
        files.iter().for_each(|(name, text)| self.note_one(name, text));
    }

    fn note_one(&mut self, name: &str, text: &Text) {
        match &text.body {
            Some(body) => self.written.insert(name.to_owned(), hash(body)),
            None => self.written.remove(name),
        };
    }

    /// A text that did not come from the registry is not lost.
    fn set_aside(&self, name: &str, path: &Path) -> io::Result<()> {
        let aside = self.home.join(ASIDE).join(name);
        fs::create_dir_all(aside.parent().unwrap_or(&self.home))?;
        fs::copy(path, &aside)?;
        tracing::warn!(
            file = name,
            aside = %aside.display(),
            "this home had another text than the registry that the servers share; it was put aside"
        );
        Ok(())
    }
}

/// Everything that a home would bring into the registry.
pub(super) fn read_home(home: &Path) -> io::Result<Vec<NewDocument>> {
    let mut documents = read_files(home)?;
    for name in secret_file::FILES.into_iter().filter(|name| home.join(name).is_file()) {
        let text = Text { body: Some(fs::read(home.join(name))?), is_executable: false };
        documents.push(NewDocument { kind: Kind::Secrets, name: name.to_owned(), text });
    }
    #[derive(serde::Deserialize)]
    struct Approved {
        servers: BTreeMap<String, Box<RawValue>>,
    }
    match fs::read(home.join(APPROVED)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => {
            let Approved { servers } = serde_json::from_slice(&read?)?;
            documents.extend(servers.into_iter().map(|(name, text)| {
                let body = Some(text.get().as_bytes().to_vec());
                NewDocument { kind: Kind::Approved, name, text: Text { body, is_executable: false } }
            }));
        }
    }
    Ok(documents)
}

/// The files of a home, or of a folder that is laid out like one.
pub(super) fn read_files(home: &Path) -> io::Result<Vec<NewDocument>> {
    let mut documents = Vec::new();
    walk(home, FOLDER, &mut documents)?;
    for name in [SERVERS, PROFILES] {
        if home.join(name).is_file() {
            add(home, name.to_owned(), &mut documents)?;
        }
    }
    Ok(documents)
}

fn walk(home: &Path, folder: &str, documents: &mut Vec<NewDocument>) -> io::Result<()> {
    let entries = match fs::read_dir(home.join(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut names =
        entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    for name in names {
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.') && !OWN.contains(name)) else {
            continue;
        };
        let path = format!("{folder}/{name}");
        // Not through links to folders: they may lead anywhere, also back.
        if fs::symlink_metadata(home.join(&path))?.is_dir() {
            walk(home, &path, documents)?;
        } else if home.join(&path).is_file() {
            add(home, path, documents)?;
        }
    }
    Ok(())
}

fn add(home: &Path, name: String, documents: &mut Vec<NewDocument>) -> io::Result<()> {
    let path = home.join(&name);
    let found = fs::metadata(&path)?;
    if found.len() > LARGEST {
        tracing::warn!(file = name, "a file of more than 16 MiB is not shared with other servers");
        return Ok(());
    }
    let is_executable = found.permissions().mode() & 0o100 != 0;
    let text = Text { body: Some(fs::read(&path)?), is_executable };
    documents.push(NewDocument { kind: Kind::File, name, text });
    Ok(())
}

/// Whether a document may be a file of the home: nothing else is written there, and nothing outside it.
pub(super) fn may_hold(name: &str) -> bool {
    let is_plain = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(part) if !part.as_encoded_bytes().starts_with(b".")));
    is_plain
        && (name.strip_prefix(FOLDER).is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
            || [SERVERS, PROFILES].contains(&name))
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
