//! Reads a backup. The whole file is checked before anything is taken from it.

use std::fs::{DirBuilder, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::files::may_hold;
use super::{FORMAT, Head, Part};

/// No line of a backup is longer: a row has a message or an answer of a tool at most.
const LONGEST_LINE: u64 = 256 * 1024 * 1024;

/// Some other file may have no line at all.
const LONGEST_HEAD: u64 = 64 * 1024;

/// A file that was found to be a whole backup.
pub struct Reader {
    path: PathBuf,
    pub head: Head,
    pub contents: Contents,
}

/// What is in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contents {
    pub files: usize,
    /// Whether there is a database.
    pub database: bool,
}

/// What to do with the parts.
trait Sink {
    fn file(&mut self, path: &str, mode: u32, content: &mut dyn Read) -> io::Result<()>;
    fn database(&mut self, lines: &mut Lines<'_>) -> io::Result<()>;
}

/// The lines of the database.
pub struct Lines<'a> {
    from: &'a mut Hashed,
    ended: bool,
}

impl Reader {
    /// Opens a file and checks it to its end.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut contents = Contents::default();
        let head = walk(path, &mut contents)?;
        Ok(Self { path: path.to_owned(), head, contents })
    }

    /// Writes its files into an empty folder.
    pub fn unpack(&self, folder: &Path) -> io::Result<()> {
        walk(&self.path, &mut Unpack(folder)).map(drop)
    }

    /// Gives the lines of the database.
    pub fn database<T>(&self, read: impl FnOnce(&mut Lines<'_>) -> T) -> io::Result<Option<T>> {
        let mut database = Database { read: Some(read), done: None };
        walk(&self.path, &mut database)?;
        Ok(database.done)
    }
}

impl Lines<'_> {
    /// The next line; `None` after the last.
    pub fn next(&mut self) -> io::Result<Option<String>> {
        let line = if self.ended { String::new() } else { self.from.line()? };
        self.ended = line.is_empty();
        Ok((!self.ended).then_some(line))
    }
}

fn walk(path: &Path, sink: &mut dyn Sink) -> io::Result<Head> {
    let mut from = Hashed { from: BufReader::new(File::open(path)?), hash: blake3::Hasher::new() };
    let first = from.line_up_to(LONGEST_HEAD).map_err(|_| foreign())?;
    let head: Head = serde_json::from_str(&first).map_err(|_| foreign())?;
    if head.toolroom_backup > FORMAT {
        return Err(refused(format!("it was written by a newer release ({}); use that one", head.version)));
    }
    loop {
        let hash = from.hash.finalize().to_hex().to_string();
        let line = from.line()?;
        match serde_json::from_str(&line).map_err(|_| damaged())? {
            Part::File { path, size, mode } => {
                if !may_hold(&path) {
                    return Err(refused(format!("it has a file that is not a home's: {path}")));
                }
                let mut content = (&mut from).take(size);
                sink.file(&path, mode, &mut content)?;
                io::copy(&mut content, &mut io::sink())?;
                if content.limit() > 0 || !from.line()?.is_empty() {
                    return Err(damaged());
                }
            }
            Part::Database => {
                let mut lines = Lines { from: &mut from, ended: false };
                sink.database(&mut lines)?;
                while lines.next()?.is_some() {}
            }
            Part::End { hash: noted } => {
                let is_last = from.from.fill_buf()?.is_empty();
                return if noted == hash && is_last { Ok(head) } else { Err(damaged()) };
            }
        }
    }
}

/// What is read is hashed on the way.
struct Hashed {
    from: BufReader<File>,
    hash: blake3::Hasher,
}

impl Hashed {
    fn line(&mut self) -> io::Result<String> {
        self.line_up_to(LONGEST_LINE)
    }

    /// A line without its end.
    fn line_up_to(&mut self, longest: u64) -> io::Result<String> {
        let mut line = Vec::new();
        (&mut self.from).take(longest).read_until(b'\n', &mut line)?;
        self.hash.update(&line);
        if line.pop() != Some(b'\n') {
            return Err(damaged());
        }
        String::from_utf8(line).map_err(|_| damaged())
    }
}

impl Read for Hashed {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(space)?;
        self.hash.update(&space[..read]);
        Ok(read)
    }
}

impl Sink for Contents {
    fn file(&mut self, _path: &str, _mode: u32, _content: &mut dyn Read) -> io::Result<()> {
        self.files += 1;
        Ok(())
    }

    fn database(&mut self, lines: &mut Lines<'_>) -> io::Result<()> {
        self.database = lines.next()?.is_some();
        Ok(())
    }
}

struct Unpack<'a>(&'a Path);

impl Sink for Unpack<'_> {
    fn file(&mut self, path: &str, mode: u32, content: &mut dyn Read) -> io::Result<()> {
        let path = self.0.join(path);
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut file = File::options().write(true).create_new(true).mode(mode & 0o700).open(&path)?;
        io::copy(content, &mut file)?;
        file.flush()?;
        file.sync_all()
    }

    fn database(&mut self, _lines: &mut Lines<'_>) -> io::Result<()> {
        Ok(())
    }
}

struct Database<F, T> {
    read: Option<F>,
    done: Option<T>,
}

impl<T, F: FnOnce(&mut Lines<'_>) -> T> Sink for Database<F, T> {
    fn file(&mut self, _path: &str, _mode: u32, _content: &mut dyn Read) -> io::Result<()> {
        Ok(())
    }

    fn database(&mut self, lines: &mut Lines<'_>) -> io::Result<()> {
        self.done = self.read.take().map(|read| read(lines));
        Ok(())
    }
}

fn foreign() -> io::Error {
    refused("it is not a backup of Toolroom".to_owned())
}

fn damaged() -> io::Error {
    refused("it is damaged or not whole".to_owned())
}

fn refused(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
