//! A client's file on the disk: read once, shown as a difference, and written only if nobody changed it meanwhile.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use similar::{ChangeTag, TextDiff};

use super::entry::MASK;
use crate::failure::Failure;
use crate::terminal::{self, Tint};

/// The largest file of settings.
const LARGEST: u64 = 16 << 20;
/// For the owner alone: of new files, and of those with a key.
const PRIVATE: u32 = 0o600;
/// Ends the name of the one backup.
const BACKUP: &str = ".toolroom-backup";

/// What becomes of the backup when a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backup {
    /// What the file says is somebody else's: it is the backup from now on.
    Make,
    /// The file has our entry, and the backup stays.
    Keep,
}

/// A file as it was read.
#[derive(Debug)]
pub(super) struct ClientFile {
    /// Where it really is: links stay links.
    pub(super) path: PathBuf,
    /// What it said; `None` if there was none.
    text: Option<String>,
    /// Its mode, owner and group.
    rights: Option<(u32, u32, u32)>,
}

impl ClientFile {
    /// Reads the file; an error says why it cannot be edited.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let path = std::path::absolute(path).map_err(|error| error.to_string())?;
        if path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
            let real = folder.zip(path.file_name()).map(|(folder, name)| folder.join(name));
            return Ok(Self { path: real.unwrap_or(path), text: None, rights: None });
        }
        let path = path.canonicalize().map_err(|error| error.to_string())?;
        let about = path.metadata().map_err(|error| error.to_string())?;
        if !about.is_file() || about.len() > LARGEST {
            return Err(format!("it is not a file of at most {} MiB", LARGEST >> 20));
        }
        let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
        Ok(Self { path, text: Some(text), rights: Some((about.mode() & 0o7777, about.uid(), about.gid())) })
    }

    /// What it says.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Whether it was there.
    pub(super) fn is_there(&self) -> bool {
        self.text.is_some()
    }

    /// Who may read it.
    pub(super) fn mode(&self) -> u32 {
        self.rights.map_or(PRIVATE, |(mode, ..)| mode)
    }

    /// Shows what would change, with keys masked.
    pub(super) fn show(&self, after: &str) -> io::Result<()> {
        let (before, after) = (masked(self.text()), masked(after));
        let shown = self.path.display().to_string();
        terminal::put(&format!("{shown}\n"), Some(Tint::Quiet))?;
        let diff = TextDiff::from_lines(&before, &after);
        for hunk in diff.unified_diff().context_radius(1).iter_hunks() {
            for change in hunk.iter_changes() {
                let (sign, tint) = match change.tag() {
                    ChangeTag::Insert => ("+", Some(Tint::Good)),
                    ChangeTag::Delete => ("-", Some(Tint::Bad)),
                    ChangeTag::Equal => (" ", None),
                };
                terminal::put(&format!("{sign} {}\n", change.value().trim_end_matches(['\r', '\n'])), tint)?;
            }
        }
        Ok(())
    }

    /// Finds out whether it could be replaced, without doing so.
    pub(super) fn rehearse(&self) -> Result<()> {
        self.refuse_if_changed()?;
        let cannot = || format!("cannot write {}", self.path.display());
        fs::create_dir_all(self.folder()).with_context(cannot)?;
        tempfile::tempfile_in(self.folder()).map(drop).with_context(cannot)
    }

    /// Replaces the file, and keeps what it said before Toolroom came as the one backup.
    pub(super) fn write(&self, text: &str, mode: u32, backup: Backup) -> Result<()> {
        self.refuse_if_changed()?;
        let place = self.backup();
        let kept = fs::read_to_string(&place).ok();
        match (backup, &self.text, kept) {
            // One that says the same as the new text is not needed any more.
            (Backup::Keep, _, Some(kept)) if kept == text => fs::remove_file(&place)?,
            (Backup::Make, Some(before), kept) if kept.as_ref() != Some(before) => {
                self.put(&place, before, PRIVATE)?;
            }
            _ => {}
        }
        self.put(&self.path, text, mode)
    }

    /// Removes the file.
    pub(super) fn delete(&self) -> Result<()> {
        self.refuse_if_changed()?;
        fs::remove_file(&self.path).with_context(|| format!("cannot remove {}", self.path.display()))
    }

    fn refuse_if_changed(&self) -> Result<()> {
        let now = match fs::read(&self.path) {
            Ok(now) => Some(now),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", self.path.display())),
        };
        if now.as_deref() == self.text.as_deref().map(str::as_bytes) {
            return Ok(());
        }
        let message = format!("{} was changed meanwhile; nothing was written", self.path.display());
        Err(Failure::new(message, "Run the command again to see the difference with what is there now.")
            .into())
    }

    fn put(&self, path: &Path, text: &str, mode: u32) -> Result<()> {
        self.replace(path, text, mode).with_context(|| format!("cannot write {}", path.display()))
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    fn replace(&self, path: &Path, text: &str, mode: u32) -> io::Result<()> {
        let folder = self.folder();
        fs::create_dir_all(folder)?;
        let mut aside = tempfile::Builder::new().prefix(".toolroom-").tempfile_in(folder)?;
        aside.write_all(text.as_bytes())?;
        if let Some((_, owner, group)) = self.rights {
            fchown(aside.as_file(), Some(owner), Some(group))?;
        }
        aside.as_file().set_permissions(Permissions::from_mode(mode))?;
        aside.as_file().sync_all()?;
        aside.persist(path)?;
        File::open(folder)?.sync_all()
    }

    fn backup(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(BACKUP);
        name.into()
    }
}

/// The text with every key of ours masked.
pub(super) fn masked(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("tr_") {
        let key = &rest[at + 3..];
        let length = key.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
        let length = length.unwrap_or(key.len());
        shown.push_str(&rest[..at]);
        shown.push_str(if length < 20 { &rest[at..at + 3 + length] } else { MASK });
        rest = &key[length..];
    }
    shown + rest
}
