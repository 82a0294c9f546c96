//! Lines of a journal file, read in blocks from either end, and the positions that cursors name.

use std::{
    collections::HashMap, fmt, fs::File, io, os::unix::fs::FileExt, path::Path, str::FromStr, sync::Arc,
};

use jiff::civil::Date;
use uuid::Uuid;

use super::{
    JournalError,
    row::{EndLine, Head, Kind, LogLine, last_record},
};

const BLOCK: usize = 64 * 1024;
/// Lines of a tool that one execution shows at most.
const LINES_SHOWN: usize = 1000;

/// A line, or the place of one, within its file.
pub(super) struct Line<'a> {
    pub(super) offset: u64,
    pub(super) text: &'a [u8],
}

/// Yields complete lines from a position on; the position stays before a line that is still being written.
pub(super) struct Forward {
    file: Arc<File>,
    /// Where the next line begins.
    pub(super) position: u64,
    block: Vec<u8>,
    used: usize,
}

impl Forward {
    pub(super) fn new(file: Arc<File>, position: u64) -> Self {
        Self { file, position, block: Vec::new(), used: 0 }
    }

    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = self.used;
        let newline = loop {
            if let Some(at) = self.block[searched..].iter().position(|byte| *byte == b'\n') {
                break searched + at;
            }
            self.block.drain(..self.used);
            self.used = 0;
            searched = self.block.len();
            self.block.resize(searched + BLOCK, 0);
            let read = self.file.read_at(&mut self.block[searched..], self.position + searched as u64)?;
            self.block.truncate(searched + read);
            if read == 0 {
                return Ok(None);
            }
        };
        let line = Line { offset: self.position, text: &self.block[self.used..newline] };
        self.position += (newline + 1 - self.used) as u64;
        self.used = newline + 1;
        Ok(Some(line))
    }
}

/// Yields the lines before a position, last first.
pub(super) struct Backward {
    file: Arc<File>,
    block: Vec<u8>,
    /// The offset of the block in the file.
    offset: u64,
    /// What of the block is not yet given out.
    left: usize,
}

impl Backward {
    pub(super) fn new(file: Arc<File>, position: u64) -> Self {
        Self { file, block: Vec::new(), offset: position, left: 0 }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let (begins, ends) = loop {
            let ends = self.left - usize::from(self.block[..self.left].ends_with(b"\n"));
            if let Some(newline) = self.block[..ends].iter().rposition(|byte| *byte == b'\n') {
                break (newline + 1, ends);
            }
            if self.offset == 0 {
                if self.left == 0 {
                    return Ok(None);
                }
                break (0, ends);
            }
            // Twice as much each time, so that a long line is not copied once per block.
            let more = self.offset.min(self.left.max(BLOCK) as u64);
            let mut block = vec![0; more as usize];
            self.file.read_exact_at(&mut block, self.offset - more)?;
            block.extend_from_slice(&self.block[..self.left]);
            self.left = block.len();
            self.block = block;
            self.offset -= more;
        };
        self.left = begins;
        Ok(Some(Line { offset: self.offset + begins as u64, text: &self.block[begins..ends] }))
    }
}

/// Where a record stands.
pub(super) struct Place {
    pub(super) file: Arc<File>,
    pub(super) offset: u64,
    pub(super) length: usize,
}

impl Place {
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        let mut record = vec![0; self.length];
        self.file.read_exact_at(&mut record, self.offset)?;
        Ok(record)
    }
}

/// What was found of an execution besides its start.
#[derive(Default)]
pub(super) struct Rest {
    pub(super) end: Option<Place>,
    pub(super) lines: Vec<Place>,
}

pub(super) type Rests = HashMap<Uuid, Rest>;

impl Rest {
    pub(super) fn note(&mut self, kind: Kind, place: Place) {
        match kind {
            Kind::End => self.end = Some(place),
            Kind::Line if self.lines.len() < LINES_SHOWN => self.lines.push(place),
            _ => {}
        }
    }

    /// The lines of the tool in the order of writing; what does not parse is left out.
    pub(super) fn read_lines(&mut self) -> io::Result<Vec<LogLine>> {
        self.lines.sort_by_key(|place| place.offset);
        let mut lines = Vec::with_capacity(self.lines.len());
        for place in &self.lines {
            lines.extend(serde_json::from_slice::<LogLine>(&place.read()?).ok());
        }
        Ok(lines)
    }
}

/// Takes a line for a record: its head, its bytes, and where it stands. Counts what is not a record.
pub(super) fn record<'a>(line: &Line<'a>, skipped: &mut usize) -> Option<(Head<'a>, &'a [u8], u64)> {
    if line.text.is_empty() {
        return None;
    }
    let (record, behind_torn) = last_record(line.text);
    *skipped += usize::from(behind_torn);
    let head = Head::of(record);
    *skipped += usize::from(head.is_none());
    Some((head?, record, line.offset + (line.text.len() - record.len()) as u64))
}

pub(super) fn parse_end(record: &[u8]) -> Option<EndLine<'_>> {
    serde_json::from_slice(record).ok()
}

pub(super) fn open(path: &Path) -> io::Result<(Arc<File>, u64)> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok((Arc::new(file), length))
}

/// A day and an offset into each of its shards, as cursors write it: `2026-11-15_120_0_4096`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) date: Date,
    pub(super) offsets: Vec<u64>,
}

impl Position {
    pub(super) fn offset(&self, shard: usize) -> u64 {
        self.offsets.get(shard).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, shard: usize, offset: u64) {
        if self.offsets.len() <= shard {
            self.offsets.resize(shard + 1, 0);
        }
        self.offsets[shard] = offset;
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.date)?;
        self.offsets.iter().try_for_each(|offset| write!(f, "_{offset}"))
    }
}

impl FromStr for Position {
    type Err = JournalError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let not_a_cursor = || JournalError::Cursor(text.chars().take(80).collect());
        let mut parts = text.split('_');
        let date = parts.next().and_then(|date| date.parse().ok()).ok_or_else(not_a_cursor)?;
        let offsets: Vec<u64> =
            parts.map(|part| part.parse().map_err(|_| not_a_cursor())).collect::<Result<_, _>>()?;
        if offsets.len() > super::files::MAX_SHARDS {
            Err(not_a_cursor())
        } else {
            Ok(Self { date, offsets })
        }
    }
}
