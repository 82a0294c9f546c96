//! What a script answers in addition to its data: pictures, recordings, files.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use serde::Deserialize;
use serde_json::Value;

/// Bytes that the content of one answer may have in total.
pub const CONTENT_LIMIT: u64 = 16 << 20;

/// A block of content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A text.
    Text(String),
    /// Bytes of some type.
    Media {
        /// How it is meant.
        kind: Media,
        /// Its MIME type.
        mime_type: String,
        /// The name of the file, if it has one.
        name: Option<String>,
        /// The bytes, as base64.
        data: String,
    },
}

/// What bytes are meant as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Media {
    /// A picture.
    Image,
    /// A recording.
    Audio,
    /// Any other file.
    File,
}

/// The body of a frame with content.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Body {
    pub(crate) data: Value,
    pub(crate) blocks: Vec<Part>,
    #[serde(default)]
    pub(crate) agent_hints: Option<Value>,
}

/// A block, as a worker tells it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    mime_type: Option<String>,
    name: Option<String>,
    data: Option<String>,
    /// A file in the working folder that the worker wrote for us.
    file: Option<String>,
}

/// Where a worker's files are: in a box its folder can be reached by a descriptor alone.
pub(crate) enum Folder<'a> {
    Open(&'a OwnedFd),
    Path(&'a Path),
}

/// Brings the blocks in; the files behind them are removed in any case.
pub(crate) fn gather(parts: Vec<Part>, folder: &Folder<'_>) -> io::Result<Vec<Block>> {
    let mut room = CONTENT_LIMIT;
    let mut blocks = Vec::new();
    let mut failed = None;
    for part in parts {
        match block(part, folder, &mut room) {
            Ok(block) => blocks.push(block),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(blocks), Err)
}

fn block(part: Part, folder: &Folder<'_>, room: &mut u64) -> io::Result<Block> {
    if let Some(text) = part.text {
        return Ok(Block::Text(text));
    }
    let kind = serde_json::from_value(Value::from(part.kind))?;
    let data = match (part.data, part.file) {
        (Some(data), _) => data,
        (None, Some(file)) => STANDARD.encode(take_file(&file, folder, *room)?),
        (None, None) => return Err(io::Error::from(io::ErrorKind::InvalidData)),
    };
    *room = room.checked_sub(data.len() as u64 / 4 * 3).ok_or_else(too_large)?;
    let mime_type = part.mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
    Ok(Block::Media { kind, mime_type, name: part.name, data })
}

fn too_large() -> io::Error {
    let most = CONTENT_LIMIT >> 20;
    io::Error::new(io::ErrorKind::FileTooLarge, format!("its content is larger than {most} MiB"))
}

/// The bytes of a file that a worker wrote: a regular one, with a name that only the worker's module makes.
fn take_file(name: &str, folder: &Folder<'_>, room: u64) -> io::Result<Vec<u8>> {
    let plain = name
        .strip_prefix("toolroom-")
        .is_some_and(|rest| rest.len() == 24 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if !plain {
        return Err(io::Error::from(io::ErrorKind::InvalidFilename));
    }
    let opened;
    let folder = match folder {
        Folder::Open(folder) => *folder,
        Folder::Path(path) => {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            opened = rustix::fs::openat(CWD, *path, flags, Mode::empty())?;
            &opened
        }
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags, Mode::empty()).map(File::from);
    let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
    let file = file?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::from(io::ErrorKind::InvalidData));
    }
    let mut bytes = Vec::new();
    file.take(room + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > room { Err(too_large()) } else { Ok(bytes) }
}
