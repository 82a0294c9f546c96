//! Where our entry goes: a client's file with what is in it.

use std::io;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::clients::{Client, Place};
use super::edit::Added;
use super::entry::Reach;
use super::file::ClientFile;
use super::{diff, notes};
use crate::failure::Failure;
use crate::home::Home;

pub(super) struct Target {
    pub(super) client: &'static Client,
    place: &'static Place,
    pub(super) file: ClientFile,
    path: Vec<&'static str>,
    /// The entry of our name that is there.
    pub(super) found: Option<Value>,
    /// Whether it is where the client looks by itself.
    pub(super) is_own: bool,
}

impl Target {
    /// Reads a client's file; fails if it cannot be edited.
    pub(super) fn read(client: &'static Client, file: Option<&Path>) -> Result<Self, Failure> {
        let (place, own) = client.place();
        let (place, path) = file.map_or((place, own.as_path()), |file| (client.place_of(file), file));
        let failed = |why: String| unusable(path, &why);
        let file = ClientFile::read(path).map_err(failed)?;
        let is_own = ClientFile::read(&own).is_ok_and(|own| own.path == file.path);
        let names = place.path(file.text());
        let found = place.format.find(file.text(), &names).map_err(failed)?;
        Ok(Self { client, place, file, path: names, found, is_own })
    }

    /// Reads the file in which our entry is: the client's own, or the one that is noted if the client keeps its settings
    /// elsewhere by now.
    pub(super) fn connected(home: &Home, client: &'static Client) -> Result<Self> {
        let noted = notes::files_of(home, client.id)?;
        let own = ClientFile::read(&client.place().1).map(|own| own.path);
        if noted.is_empty() || own.is_ok_and(|own| noted.contains(&own)) {
            return Ok(Self::read(client, None)?);
        }
        match noted.as_slice() {
            [one] => Ok(Self::read(client, Some(one))?),
            several => {
                let files = several.iter().map(|file| file.display().to_string()).collect::<Vec<_>>();
                let message = format!("{} is connected in several files: {}", client.name, files.join(", "));
                Err(Failure::usage(message, "Name one of them: --file FILE").into())
            }
        }
    }

    /// Shows what would change.
    pub(super) fn show(&self, after: &str) -> io::Result<()> {
        let path = self.file.path.display().to_string();
        diff::show(&path, self.place.format, self.file.text(), after)
    }

    /// The entry in the client's words.
    pub(super) fn entry(&self, reach: &Reach) -> Result<Value, Failure> {
        self.place.form.entry(reach, self.place.variable).map_err(|why| no_form(self.client, why))
    }

    /// What the file says once what was done for the entry is undone.
    pub(super) fn without(&self, added: &Added) -> Result<String, Failure> {
        let text = self.place.format.remove(self.file.text(), &self.path, added);
        text.map_err(|why| self.unusable(&why))
    }

    /// A text with an entry, in place of one that is there.
    pub(super) fn insert(&self, base: &str, entry: &Value) -> Result<(String, Added), Failure> {
        self.place.format.insert(base, &self.path, entry).map_err(|why| self.unusable(&why))
    }

    /// A file in which nothing is.
    pub(super) fn nothing(&self) -> &'static str {
        self.place.format.nothing()
    }

    fn unusable(&self, why: &str) -> Failure {
        unusable(&self.file.path, why)
    }
}

/// Why a client has no entry of this kind.
pub(super) fn no_form(client: &Client, why: &str) -> Failure {
    Failure::usage(format!("{} cannot be connected so: {why}", client.name), "Leave out --http, or --env.")
}

fn unusable(path: &Path, why: &str) -> Failure {
    Failure::new(
        format!("{} cannot be edited: {why}. Nothing was changed", path.display()),
        "Correct the file, or edit it yourself.",
    )
}
