//! JSON as the journal writes it: one line whatever the text holds, capped, with cheap timestamps.

use std::io::{self, Write};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use super::files;

/// What an input or an output may take of a record: as much as the largest output that a tool can have, so that
/// whatever was answered stands here whole.
pub(super) const VALUE_CAP: usize = 64 << 20;
const PREVIEW: usize = 2 * 1024;

/// Appends a value; what is larger than the cap is replaced by its size and its beginning.
/// Returns whether the value is whole.
pub(super) fn value_capped(out: &mut Vec<u8>, value: &impl Serialize, cap: usize) -> io::Result<bool> {
    let from = out.len();
    let mut capped = Capped { out, room: cap, total: 0 };
    value.serialize(&mut Serializer::with_formatter(&mut capped, OneLine))?;
    let total = capped.total;
    if total <= cap {
        return Ok(true);
    }
    let preview =
        String::from_utf8_lossy(&out[from..][..PREVIEW.min(cap)]).trim_end_matches('\u{fffd}').to_owned();
    out.truncate(from);
    write!(out, r#"{{"truncated":true,"bytes":{total},"preview":"#)?;
    text(out, &preview)?;
    out.push(b'}');
    Ok(false)
}

/// Appends a JSON string.
pub(super) fn text(out: &mut Vec<u8>, text: &str) -> io::Result<()> {
    // Nearly all are names and ids. No early exit: this loop is vectorised.
    let plain =
        text.bytes().fold(true, |plain, b| plain & (0x20..0x7f).contains(&b) & (b != b'"') & (b != b'\\'));
    if plain {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return Ok(());
    }
    Ok(text.serialize(&mut Serializer::with_formatter(out, OneLine))?)
}

/// Appends a JSON string of at most `cap` bytes of text; a cut one ends in an ellipsis.
pub(super) fn text_capped(out: &mut Vec<u8>, content: &str, cap: usize) -> io::Result<()> {
    if content.len() <= cap {
        return text(out, content);
    }
    text(out, &format!("{}…", &content[..content.floor_char_boundary(cap)]))
}

/// Appends a JSON string of at most `cap` bytes of text. Of a longer one the end is kept: that is where a traceback
/// says what happened.
pub(super) fn text_end(out: &mut Vec<u8>, content: &str, cap: usize) -> io::Result<()> {
    if content.len() <= cap {
        return text(out, content);
    }
    text(out, &format!("…{}", &content[content.ceil_char_boundary(content.len() - cap)..]))
}

/// Keeps the beginning and counts the rest, so that a huge output costs no memory.
struct Capped<'a> {
    out: &'a mut Vec<u8>,
    room: usize,
    total: usize,
}

impl Write for Capped<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let kept = bytes.len().min(self.room);
        self.out.extend_from_slice(&bytes[..kept]);
        self.room -= kept;
        self.total += bytes.len();
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes).map(drop)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Compact JSON that also escapes what a terminal or a line reader could act on.
struct OneLine;

impl Formatter for OneLine {
    #[inline]
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        // Every character of `is_active` holds one of these bytes. No early exit: this loop is vectorised.
        let suspect = fragment.bytes().fold(false, |seen, b| seen | (b == 0x7f) | (b == 0xc2) | (b == 0xe2));
        if suspect { escape_active(writer, fragment) } else { writer.write_all(fragment.as_bytes()) }
    }
}

fn escape_active<W: ?Sized + Write>(writer: &mut W, fragment: &str) -> io::Result<()> {
    let mut rest = fragment;
    while let Some((at, found)) = rest.char_indices().find(|(_, c)| is_active(*c)) {
        CompactFormatter.write_string_fragment(writer, &rest[..at])?;
        write!(writer, "\\u{:04x}", u32::from(found))?;
        rest = &rest[at + found.len_utf8()..];
    }
    CompactFormatter.write_string_fragment(writer, rest)
}

/// DEL and the C1 controls, line and paragraph separators, and the marks that reorder shown text.
fn is_active(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Formats instants in microseconds; the date part, which rarely changes, is kept.
pub(super) struct Clockface {
    day: i64,
    date: String,
}

impl Clockface {
    pub(super) const fn new() -> Self {
        Self { day: i64::MIN, date: String::new() }
    }

    /// Appends `YYYY-MM-DDTHH:MM:SS.ffffffZ`, without quotes.
    pub(super) fn write(&mut self, out: &mut Vec<u8>, at: Timestamp) {
        let day = files::day_number(at);
        if day != self.day {
            self.date = files::date_of(at).to_string();
            self.day = day;
        }
        let micros = at.as_microsecond().rem_euclid(files::MICROS_PER_DAY).unsigned_abs();
        let seconds = micros / 1_000_000;
        let mut clock = *b"T00:00:00.000000Z";
        digits(&mut clock[1..3], seconds / 3600);
        digits(&mut clock[4..6], seconds / 60 % 60);
        digits(&mut clock[7..9], seconds % 60);
        digits(&mut clock[10..16], micros % 1_000_000);
        out.extend_from_slice(self.date.as_bytes());
        out.extend_from_slice(&clock);
    }
}

fn digits(place: &mut [u8], mut number: u64) {
    for digit in place.iter_mut().rev() {
        *digit = b"0123456789"[(number % 10) as usize];
        number /= 10;
    }
}
