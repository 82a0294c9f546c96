//! Reads files from a working folder without following links that code made. Everything that could change them is gone
//! by then.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use crate::error::ScriptError;

const MOST_FILES: usize = 100;
const MOST_ENTRIES: usize = 2000;
const DEEPEST: usize = 16;

/// A file that code made or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFile {
    /// Its name relative to the working folder.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its content, unless the limit for all files was reached before.
    pub content: Option<Vec<u8>>,
}

/// What was found, and whether anything was left out.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) files: Vec<CodeFile>,
    pub(crate) truncated: bool,
}

/// Refuses a name that does not stay within the folder.
pub(crate) fn check_name(name: &str) -> Result<(), ScriptError> {
    let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let shallow = Path::new(name).components().count() <= DEEPEST;
    match name.is_empty() || !plain || !shallow || name.contains('\0') {
        true => Err(ScriptError::BadFileName { name: name.to_owned() }),
        false => Ok(()),
    }
}

/// Regular files below the folder that are not as they were sent.
pub(crate) fn changed(folder: OwnedFd, sent: &[(String, Vec<u8>)], limit: usize) -> Gathered {
    let mut gathered = Gathered::default();
    let mut room = limit;
    let mut seen = 0;
    let mut folders = vec![(folder, String::new(), 0)];
    while let Some((folder, prefix, depth)) = folders.pop() {
        let Ok(entries) = Dir::read_from(&folder) else {
            gathered.truncated = true;
            continue;
        };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") {
                continue;
            }
            seen += 1;
            if seen > MOST_ENTRIES || gathered.files.len() == MOST_FILES {
                gathered.truncated = true;
                return sorted(gathered);
            }
            let Ok(found) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let whole = format!("{prefix}{name}");
            match FileType::from_raw_mode(found.st_mode) {
                FileType::Directory if depth < DEEPEST => match open(&folder, name, OFlags::DIRECTORY) {
                    Ok(inner) => folders.push((inner, format!("{whole}/"), depth + 1)),
                    Err(_) => gathered.truncated = true,
                },
                FileType::Directory => gathered.truncated = true,
                FileType::RegularFile => {
                    let content = read(&folder, name, room).ok().flatten();
                    let is_sent =
                        |(name, bytes): &(String, Vec<u8>)| *name == whole && Some(bytes) == content.as_ref();
                    if content.is_some() && sent.iter().any(is_sent) {
                        continue;
                    }
                    room -= content.as_ref().map_or(0, Vec::len);
                    gathered.truncated |= content.is_none();
                    let size = u64::try_from(found.st_size).unwrap_or_default();
                    gathered.files.push(CodeFile { name: whole, size, content });
                }
                _ => {}
            }
        }
    }
    sorted(gathered)
}

fn sorted(mut gathered: Gathered) -> Gathered {
    gathered.files.sort_by(|a, b| a.name.cmp(&b.name));
    gathered
}

/// The content, if there is room for it.
fn read(folder: &OwnedFd, name: &str, room: usize) -> io::Result<Option<Vec<u8>>> {
    let file = File::from(open(folder, name, OFlags::NONBLOCK)?);
    let found = file.metadata()?;
    if !found.is_file() || usize::try_from(found.len()).map_or(true, |size| size > room) {
        return Ok(None);
    }
    let mut content = Vec::new();
    file.take(room as u64 + 1).read_to_end(&mut content)?;
    Ok((content.len() <= room).then_some(content))
}

fn open(folder: &OwnedFd, name: &str, more: OFlags) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
    Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?)
}
