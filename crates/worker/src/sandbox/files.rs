//! Files into and out of a working folder, without ever following where code may have pointed.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path};

use rustix::fs::{Mode, OFlags};

use crate::error::ScriptError;

const MOST_FILES: usize = 100;

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

/// Writes a file whose name must stay within the folder.
pub(crate) fn write(folder: &Path, name: &str, content: &[u8]) -> Result<(), ScriptError> {
    let path = Path::new(name);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || !plain || name.contains('\0') {
        return Err(ScriptError::BadFileName { name: name.to_owned() });
    }
    let target = folder.join(path);
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(fs::write(target, content)?)
}

/// Regular files below the folder that are not as they were sent.
pub(crate) fn changed(folder: &Path, hidden: &str, sent: &[(String, Vec<u8>)], limit: usize) -> Gathered {
    let mut gathered = Gathered::default();
    let mut room = limit;
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(found) = entry.metadata() else { continue };
            let Some(name) = path.strip_prefix(folder).ok().and_then(Path::to_str) else { continue };
            if found.is_dir() {
                folders.push(path);
            } else if found.is_file() && !name.starts_with(hidden) {
                if gathered.files.len() == MOST_FILES {
                    gathered.truncated = true;
                    return sorted(gathered);
                }
                let content = read(&path, found.len(), room).ok().flatten();
                if content.is_some() && sent.iter().any(|(n, c)| n == name && Some(c) == content.as_ref()) {
                    continue;
                }
                room -= content.as_ref().map_or(0, Vec::len);
                gathered.truncated |= content.is_none();
                gathered.files.push(CodeFile { name: name.to_owned(), size: found.len(), content });
            }
        }
    }
    sorted(gathered)
}

fn sorted(mut gathered: Gathered) -> Gathered {
    gathered.files.sort_by(|a, b| a.name.cmp(&b.name));
    gathered
}

/// The content, if there is room for it. The code may still run, so that the size is checked again.
fn read(path: &Path, size: u64, room: usize) -> io::Result<Option<Vec<u8>>> {
    if usize::try_from(size).map_or(true, |size| size > room) {
        return Ok(None);
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = fs::File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let mut content = Vec::new();
    file.take(room as u64 + 1).read_to_end(&mut content)?;
    Ok((content.len() <= room).then_some(content))
}
