//! Writes a backup: aside, for its owner alone, and in place only when it is whole.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{FORMAT, Head, HomeFile, Part, home_files};

/// How often the files are copied again because somebody changed them meanwhile.
const TRIES: u32 = 10;

/// A backup that is being written; removed unless it is finished.
pub struct Writer {
    out: BufWriter<File>,
    hash: blake3::Hasher,
    path: PathBuf,
    aside: PathBuf,
}

impl Writer {
    /// Begins a file that must not be there yet.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let mut aside = path.as_os_str().to_owned();
        aside.push(format!(".part-{}", std::process::id()));
        let aside = PathBuf::from(aside);
        let file = File::options().write(true).create_new(true).mode(0o600).open(&aside)?;
        let mut writer =
            Self { out: BufWriter::new(file), hash: blake3::Hasher::new(), path: path.to_owned(), aside };
        writer.begin()?;
        Ok(writer)
    }

    fn begin(&mut self) -> io::Result<()> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        self.line(&Head { toolroom_backup: FORMAT, version, at: jiff::Timestamp::now() })
    }

    /// Adds the files of a home as they are at one moment, and returns how many.
    pub fn add_files(&mut self, root: &Path) -> io::Result<usize> {
        for _ in 0..TRIES {
            let found = home_files(root)?;
            let copied = found.iter().try_for_each(|file| self.add_file(root, file));
            // A script and its entry are changed together: both must be from before, or from after.
            if home_files(root)? == found {
                copied?;
                return Ok(found.len());
            }
            self.out.rewind()?;
            self.out.get_mut().set_len(0)?;
            self.hash.reset();
            self.begin()?;
        }
        Err(io::Error::other("the files of the home keep changing; try again later"))
    }

    fn add_file(&mut self, root: &Path, file: &HomeFile) -> io::Result<()> {
        let path = file.path.to_string_lossy().into_owned();
        self.line(&Part::File { path, size: file.size, mode: file.mode })?;
        let mut from = File::open(root.join(&file.path))?.take(file.size);
        if io::copy(&mut from, self)? != file.size {
            return Err(io::Error::other(format!("{} became shorter", file.path.display())));
        }
        self.write_all(b"\n")
    }

    /// Says that the lines of the database follow.
    pub fn begin_database(&mut self) -> io::Result<()> {
        self.line(&Part::Database)
    }

    /// Completes the file and puts it in place. Returns its size.
    pub fn finish(mut self) -> io::Result<u64> {
        self.write_all(b"\n")?;
        let hash = self.hash.finalize().to_hex().to_string();
        self.line(&Part::End { hash })?;
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        std::fs::rename(&self.aside, &self.path)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        self.out.get_ref().metadata().map(|found| found.len())
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.write_all(&line)
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.aside);
    }
}
