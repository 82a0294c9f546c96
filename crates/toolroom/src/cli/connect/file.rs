//! A client's file on the disk: read once, and written only if nobody changed it meanwhile.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use crate::failure::Failure;

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
            // Where it will be: a folder on the way may be a link, or missing too.
            let real = path
                .ancestors()
                .skip(1)
                .find_map(|folder| Some(folder.canonicalize().ok()?.join(path.strip_prefix(folder).ok()?)));
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

    /// Finds out whether it could be replaced by a text like this one, by doing everything but the last step. The backup
    /// and folders that it needed stay; the folders are given.
    pub(super) fn rehearse(&self, text: &str, backup: Backup) -> Result<Vec<PathBuf>> {
        self.refuse_if_changed()?;
        let missing = self.folder().ancestors().take_while(|folder| !folder.exists());
        let missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        let mut is_backed_up = false;
        let tried = fs::create_dir_all(self.folder()).and_then(|()| {
            self.refuse_if_fixed()?;
            is_backed_up = self.back_up(backup)?;
            // There must be room for the backup and the new text together.
            self.aside(text, PRIVATE).map(drop)
        });
        if let Err(error) = tried {
            if is_backed_up {
                self.drop_backup();
            }
            remove_empty(&missing);
            return Err(self.cannot_write(error));
        }
        Ok(missing)
    }

    /// A file in whose folder others' files may not be replaced, or that is marked as one that never changes.
    fn refuse_if_fixed(&self) -> io::Result<()> {
        let Some((_, owner, _)) = self.rights else { return Ok(()) };
        let (us, folder) = (rustix::process::geteuid().as_raw(), self.folder().metadata()?);
        let is_sticky = folder.mode() & 0o1000 != 0;
        let marked =
            OpenOptions::new().append(true).open(&self.path).err().and_then(|error| error.raw_os_error());
        let is_others = is_sticky && us != 0 && owner != us && folder.uid() != us;
        match is_others || marked == Some(Errno::PERM.raw_os_error()) {
            true => Err(Errno::PERM.into()),
            false => Ok(()),
        }
    }

    fn cannot_write(&self, error: io::Error) -> anyhow::Error {
        let message = format!("cannot write {}: {error}; nothing was changed", self.path.display());
        let is_ours = self.rights.is_none_or(|(_, owner, _)| owner == rustix::process::geteuid().as_raw());
        let hint = match is_ours {
            true => "Make it writable for you, or name another file: --file FILE",
            false => {
                "It belongs to another user: run the command as that user, or name another file: --file FILE"
            }
        };
        Failure::new(message, hint).into()
    }

    /// Replaces the file, and keeps what it said before Toolroom came as the one backup.
    pub(super) fn write(&self, text: &str, mode: u32, backup: Backup) -> Result<()> {
        self.refuse_if_changed()?;
        self.back_up(backup).with_context(|| format!("cannot write {}", self.backup().display()))?;
        let written = self.put(&self.path, text, mode);
        if written.is_err() && backup == Backup::Make {
            self.drop_backup();
        }
        written
    }

    /// Keeps what it says as the backup, if that is not there yet; whether it was made now.
    fn back_up(&self, backup: Backup) -> io::Result<bool> {
        let Some(before) = self.text.as_ref().filter(|_| backup == Backup::Make) else { return Ok(false) };
        if fs::read(self.backup()).is_ok_and(|there| there == before.as_bytes()) {
            return Ok(false);
        }
        self.replace(&self.backup(), before, PRIVATE).map(|()| true)
    }

    /// Removes the backup, which nobody needs once the file is as its owner wants it.
    pub(super) fn drop_backup(&self) {
        // At worst it stays.
        let _ = fs::remove_file(self.backup());
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

    fn replace(&self, path: &Path, text: &str, mode: u32) -> io::Result<()> {
        fs::create_dir_all(self.folder())?;
        self.aside(text, mode)?.persist(path)?;
        File::open(self.folder())?.sync_all()
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// A text beside the file, whole and with its rights.
    fn aside(&self, text: &str, mut mode: u32) -> io::Result<NamedTempFile> {
        let mut aside = tempfile::Builder::new().prefix(".toolroom-").tempfile_in(self.folder())?;
        aside.write_all(text.as_bytes())?;
        if let Some((_, owner, group)) = self.rights
            && fchown(aside.as_file(), Some(owner), Some(group)).is_err()
        {
            // A group that we are not in cannot be kept. Ours may do no more than everybody.
            fchown(aside.as_file(), Some(owner), None)?;
            mode = mode & !0o070 | (mode & 0o007) << 3;
        }
        aside.as_file().set_permissions(Permissions::from_mode(mode))?;
        aside.as_file().sync_all()?;
        Ok(aside)
    }

    fn backup(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(BACKUP);
        name.into()
    }
}

/// Removes folders in which nothing is, the innermost first.
pub(super) fn remove_empty(folders: &[PathBuf]) {
    // What somebody else put there stays, and so do the folders above it.
    let _ = folders.iter().try_for_each(fs::remove_dir);
}
