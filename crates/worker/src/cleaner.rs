//! The thread that removes folders which code has written to. Nothing waits for it.

use std::collections::HashSet;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};

/// A folder that is removed when this is dropped, in the background.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// A new folder in `folder`, which is created if needed, only for this user.
    pub(crate) fn new_in(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let made = tempfile::Builder::new().prefix("code-").tempdir_in(folder)?;
        Ok(Self { path: made.keep() })
    }

    /// The same in a folder for boxes, which is made by `make` and removed with the last that is in it.
    pub(crate) fn new_in_base(base: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<Self> {
        let _no_removal = BASES.lock().unwrap_or_else(PoisonError::into_inner);
        make(base)?;
        let made = tempfile::Builder::new().prefix("code-").tempdir_in(base)?;
        Ok(Self { path: made.keep() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(std::mem::take(&mut self.path));
    }
}

/// What the names of folders for boxes begin with.
pub(crate) const BASE: &str = "toolroom-code-";

/// Held while a folder for boxes is made or removed.
static BASES: Mutex<()> = Mutex::new(());

/// Removes a folder for boxes if nothing is in it any more.
fn remove_base_of(path: &Path) {
    let is_base = |folder: &&Path| {
        folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(BASE.as_bytes()))
    };
    if let Some(base) = path.parent().filter(is_base) {
        let _no_use = BASES.lock().unwrap_or_else(PoisonError::into_inner);
        // Others may be in it still.
        let _ = fs::remove_dir(base);
    }
}

/// Removes what an earlier process left in a folder, once in the life of this one.
pub(crate) fn sweep(folder: &Path) {
    static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if swept.get_or_insert_default().insert(folder.to_owned()) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            remove(entry.path());
        }
    }
}

/// Removes a folder in the background. Its name is gone at once.
fn remove(path: PathBuf) {
    let aside = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(format!(".gone-{}", name.to_string_lossy())),
        _ => return,
    };
    let path = if fs::rename(&path, &aside).is_ok() { aside } else { path };
    let refused = match start() {
        Some(sender) => sender.send(path).err().map(|error| error.0),
        None => Some(path),
    };
    if let Some(path) = refused {
        tracing::warn!(folder = %path.display(), "a working folder could not be removed: no thread could be started");
    }
}

fn start() -> Option<&'static Sender<PathBuf>> {
    static CLEANER: OnceLock<Option<Sender<PathBuf>>> = OnceLock::new();
    let cleaner = CLEANER.get_or_init(|| {
        let (sender, receiver) = mpsc::channel::<PathBuf>();
        let named = thread::Builder::new().name("toolroom-cleaner".to_owned());
        let work = move || {
            for path in receiver {
                if let Err(error) = remove_tree(&path) {
                    tracing::warn!(%error, folder = %path.display(), "a working folder could not be removed");
                }
                remove_base_of(&path);
            }
        };
        named.spawn(work).map(|_| sender).ok()
    });
    cleaner.as_ref()
}

/// Removes a folder with all that is in it, however deep: one folder is open at a time, and the way back is a
/// list of names. Nothing is left that could move folders meanwhile.
fn remove_tree(path: &Path) -> io::Result<()> {
    let found = rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
        return fs::remove_file(path);
    }
    rustix::fs::chmodat(CWD, path, Mode::RWXU, AtFlags::empty())?;
    let mut folder = open(CWD, path)?;
    let mut way = Vec::new();
    loop {
        if let Some(name) = clear(&folder)? {
            rustix::fs::chmodat(&folder, &name, Mode::RWXU, AtFlags::empty())?;
            folder = open(&folder, &name)?;
            way.push(name);
        } else if let Some(name) = way.pop() {
            folder = open(&folder, "..")?;
            rustix::fs::unlinkat(&folder, &name, AtFlags::REMOVEDIR)?;
        } else {
            return fs::remove_dir(path);
        }
    }
}

/// Unlinks the files of a folder up to the first folder in it, which is returned.
fn clear(folder: &OwnedFd) -> io::Result<Option<CString>> {
    let mut entries = Dir::read_from(folder)?;
    while let Some(entry) = entries.read() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
            return Ok(Some(name.to_owned()));
        }
        rustix::fs::unlinkat(folder, name, AtFlags::empty())?;
    }
    Ok(None)
}

fn open<P: rustix::path::Arg>(folder: impl std::os::fd::AsFd, name: P) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?)
}
