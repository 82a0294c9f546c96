//! Lines that a process writes to stderr: passed on, and the last of them kept.

use crate::sink::{Level, Sink};

const FORWARDED: usize = 64 << 10;
const TAIL: usize = 8 << 10;
const LINE: usize = 8 << 10;

/// Collects what came through stderr during one call. Memory stays small, whatever is written.
#[derive(Debug, Default)]
pub(crate) struct LogLines {
    tail: Vec<u8>,
    line: Vec<u8>,
    forwarded: usize,
    cut: bool,
}

impl LogLines {
    /// More bytes from stderr.
    pub(crate) fn push(&mut self, bytes: &[u8], sink: &dyn Sink) {
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
        if self.forwarded > FORWARDED {
            // A flood: looking at every line of it would keep the caller from its own timeout.
            self.line.clear();
            return;
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE.saturating_sub(self.line.len());
            self.cut |= part.len() > room;
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                self.flush(sink);
            }
        }
    }

    /// A line of the script's own log, which counts like one of stderr.
    pub(crate) fn line(&mut self, level: Level, text: &str, sink: &dyn Sink) {
        if self.has_room(text) {
            sink.log(level, text);
        }
    }

    /// A whole line of stderr.
    pub(crate) fn stderr_line(&mut self, text: &str, sink: &dyn Sink) {
        if self.has_room(text) {
            sink.stderr(text);
        }
    }

    fn has_room(&mut self, text: &str) -> bool {
        // A line costs more than its characters, or empty ones would be free.
        self.forwarded = self.forwarded.saturating_add(text.len() + 16);
        let room = self.forwarded <= FORWARDED;
        self.cut |= !room;
        room
    }

    /// The end: the last line may lack its line break. Gives the tail, and whether anything was cut.
    pub(crate) fn finish(mut self, sink: &dyn Sink) -> (String, bool) {
        if !self.line.is_empty() {
            self.flush(sink);
        }
        let start = self.tail.len().saturating_sub(TAIL);
        (String::from_utf8_lossy(&self.tail[start..]).into_owned(), self.cut)
    }

    fn flush(&mut self, sink: &dyn Sink) {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        self.stderr_line(text.trim_end_matches(['\n', '\r']), sink);
    }
}
