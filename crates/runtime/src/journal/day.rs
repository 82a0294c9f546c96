//! The open files of one day, and the append that every record goes through.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed},
};

use jiff::Timestamp;

use super::{JournalError, files};

/// The shards of one UTC day, all open.
pub(super) struct Day {
    pub(super) number: i64,
    pub(super) shards: Vec<Shard>,
    /// The second in which the files were last seen in their places.
    checked: AtomicI64,
}

impl Day {
    pub(super) fn open(dir: &Path, at: Timestamp, shards: usize) -> Result<Self, JournalError> {
        let date = files::date_of(at);
        let open_error = |path: &Path, source| JournalError::Open { path: path.to_owned(), source };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|e| open_error(dir, e))?;
        let shards = (0..shards)
            .map(|shard| files::path(dir, date, shard))
            .map(|path| Shard::open(&path).map_err(|e| open_error(&path, e)))
            .collect::<Result<_, _>>()?;
        Ok(Self { number: files::day_number(at), shards, checked: AtomicI64::new(at.as_second()) })
    }

    /// Whether a record of that day belongs into these files. A record that was timed just before midnight
    /// and comes after the change of files stays with the new ones.
    pub(super) fn takes(&self, number: i64) -> bool {
        number == self.number || number + 1 == self.number
    }

    /// Whether a file was removed or replaced by another; looks at most once in a second of the records.
    pub(super) fn lost_files(&self, at: Timestamp) -> bool {
        let second = at.as_second();
        self.checked.load(Relaxed) != second
            && self.checked.swap(second, Relaxed) != second
            && !self.shards.iter().all(Shard::in_place)
    }
}

pub(super) struct Shard {
    file: File,
    path: PathBuf,
    /// The file ends within a record, so that the next must begin with a newline.
    torn: AtomicBool,
}

impl Shard {
    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        let length = file.metadata()?.len();
        let mut last = [b'\n'];
        if length > 0 {
            file.read_exact_at(&mut last, length - 1)?;
        }
        Ok(Self { file, path: path.to_owned(), torn: AtomicBool::new(last != *b"\n") })
    }

    fn in_place(&self) -> bool {
        let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        match (fs::metadata(&self.path), self.file.metadata()) {
            (Ok(named), Ok(held)) => place(named) == place(held),
            _ => false,
        }
    }

    /// Appends a record, framed as newline, record, newline, with one write. A record of which a part was
    /// written is not continued: others may have appended meanwhile.
    pub(super) fn append(&self, framed: &[u8]) -> Result<(), JournalError> {
        let torn = self.torn.load(Relaxed) && self.torn.swap(false, Relaxed);
        let bytes = if torn { framed } else { &framed[1..] };
        let written = loop {
            match (&self.file).write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        match written {
            Ok(written) if written == bytes.len() => Ok(()),
            Ok(written) => {
                self.torn.store(written > 0 || torn, Relaxed);
                let only_newline_missing = written + 1 == bytes.len();
                let short = JournalError::Short { written, length: bytes.len() };
                if only_newline_missing { Ok(()) } else { Err(short) }
            }
            Err(error) => {
                if torn {
                    self.torn.store(true, Relaxed);
                }
                Err(JournalError::Write(error))
            }
        }
    }
}
