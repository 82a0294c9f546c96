//! Files that are replaced as a whole: readers see the old text or the new, also after a crash.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The steps of a replacement, which tests let fail one by one.
pub trait Disk: Send + Sync + 'static {
    /// Fills a new file.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    /// Waits until a file's text is on the disk.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    /// Puts a file into the place of another.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// Waits until a folder's names are on the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }
}

/// The disk of this machine.
pub struct RealDisk;

impl Disk for RealDisk {}

/// A file that was replaced, with what it was before.
pub(crate) struct Replaced {
    path: PathBuf,
    before: Option<(Vec<u8>, u32)>,
}

/// Begins the names of files that are not finished; the watcher looks for the registry file alone.
const UNFINISHED: &str = ".toolroom-";

/// Replaces a file durably, or leaves it as it was. Rights that it had stay; `mode` is for a new one, and
/// to make an old one executable.
pub(crate) fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8], mode: u32) -> io::Result<Replaced> {
    let before = match fs::read(path) {
        Ok(before) => Some((before, fs::metadata(path)?.permissions().mode() & 0o7777)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let mode = before.as_ref().map_or(mode, |(_, had)| had | mode & 0o111);
    let replaced = Replaced { path: path.to_owned(), before };
    match put(disk, path, bytes, mode) {
        Ok(()) => Ok(replaced),
        Err(Put::Before(error)) => Err(error),
        // It has its name already, and nobody knows whether the disk will remember.
        Err(Put::After(error)) => {
            replaced.restore(disk);
            Err(error)
        }
    }
}

impl Replaced {
    /// Restores what was there before.
    pub(crate) fn restore(self, disk: &dyn Disk) {
        let restored = match &self.before {
            Some((bytes, mode)) => put(disk, &self.path, bytes, *mode),
            None => fs::remove_file(&self.path).map_err(Put::Before),
        };
        if let Err(Put::Before(error) | Put::After(error)) = restored {
            tracing::error!(%error, file = %self.path.display(), "a file could not be restored");
        }
    }
}

/// Where a file really is: a link to a file elsewhere stays a link.
pub(crate) fn linked(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Removes what a process that was killed had begun to write.
pub(crate) fn clear_unfinished(folder: &Path) {
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        if file.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
            // It does no harm where it is.
            let _ = fs::remove_file(file.path());
        }
    }
}

/// On which side of the rename something failed.
enum Put {
    Before(io::Error),
    After(io::Error),
}

fn put(disk: &dyn Disk, path: &Path, bytes: &[u8], mode: u32) -> Result<(), Put> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let fill = || {
        // Removed when it is dropped, unless it has been renamed.
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)?
            .into_parts();
        disk.write(&mut file.0, bytes)?;
        // The mask of the process may have taken rights away.
        file.0.set_permissions(Permissions::from_mode(mode))?;
        disk.sync(&file.0)?;
        disk.rename(&file.1, path)?;
        // It was moved, so there is nothing to remove.
        let _ = file.1.keep();
        Ok(())
    };
    fill().map_err(Put::Before)?;
    disk.sync_folder(folder).map_err(Put::After)
}
