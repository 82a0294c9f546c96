//! The file of a backup: a first line that says what it is, the home's files, the database as lines, and a last line
//! with the hash of everything before it. It is read and written from front to end, piece by piece.

mod files;
mod read;
mod write;

use serde::{Deserialize, Serialize};

pub use files::{HomeFile, home_files};
pub use read::Reader;
pub use write::Writer;

/// The form of the file; a program reads its own and older ones.
const FORMAT: u32 = 1;

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    /// The form of the file.
    pub toolroom_backup: u32,
    /// The program that wrote it.
    pub version: String,
    /// When.
    pub at: jiff::Timestamp,
}

/// What begins a part of it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part {
    /// So many bytes of a file follow, and a line end.
    File { path: String, size: u64, mode: u32 },
    /// The lines of the database follow, and an empty one.
    Database,
    /// Nothing follows. The hash is that of all bytes before this line.
    End { hash: String },
}
