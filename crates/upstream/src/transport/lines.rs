//! Lines out of a stream of bytes, each bounded in size; of a longer one, only its ends are kept.

/// Puts lines together.
pub(crate) struct LineReader {
    limit: usize,
    line: Vec<u8>,
    /// How much of an overlong line has been dropped so far, and its two ends.
    dropped: Option<Dropped>,
}

/// A line that was too long.
#[derive(Debug, Default)]
pub(crate) struct Dropped {
    head: Vec<u8>,
    tail: Vec<u8>,
    pub(crate) length: u64,
}

/// What came.
pub(crate) enum Line<'a> {
    /// A line.
    Whole(&'a [u8]),
    /// The end of a line that was too long.
    Dropped(&'a Dropped),
}

/// Bytes kept of each end of an overlong line.
const KEPT: usize = 256;

impl LineReader {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), dropped: None }
    }

    /// Takes bytes, and gives each line that they complete.
    pub(crate) fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(Line<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (part, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            match &self.dropped {
                // A line that is here as a whole is not copied.
                None if self.line.is_empty() && part.len() <= self.limit => take(Line::Whole(part)),
                _ => {
                    self.keep(part);
                    match self.dropped.take() {
                        Some(dropped) => take(Line::Dropped(&dropped)),
                        None => take(Line::Whole(&self.line)),
                    }
                    self.clear();
                }
            }
        }
        self.keep(bytes);
    }

    /// How long the line is that is being dropped.
    pub(crate) fn dropping(&self) -> u64 {
        self.dropped.as_ref().map_or(0, |dropped| dropped.length)
    }

    fn keep(&mut self, part: &[u8]) {
        toolroom_work::step(1 + part.len());
        if let Some(dropped) = &mut self.dropped {
            dropped.push(part);
        } else if self.line.len() + part.len() > self.limit {
            let head = self.line.iter().chain(part).take(KEPT).copied().collect();
            let mut dropped = Dropped { head, ..Dropped::default() };
            dropped.push(&std::mem::take(&mut self.line));
            dropped.push(part);
            self.dropped = Some(dropped);
        } else {
            self.line.extend_from_slice(part);
        }
    }

    fn clear(&mut self) {
        // An unusually long line gives its room back.
        if self.line.capacity() > 64 << 10 {
            self.line = Vec::new();
        }
        self.line.clear();
    }
}

impl Dropped {
    fn push(&mut self, part: &[u8]) {
        self.length += part.len() as u64;
        toolroom_work::step(1);
        self.tail.extend_from_slice(&part[part.len().saturating_sub(KEPT)..]);
        // Cut now and then, so that single bytes do not move the whole tail each.
        if self.tail.len() >= 4 * KEPT {
            toolroom_work::step(KEPT);
            self.tail.drain(..self.tail.len() - KEPT);
        }
    }

    /// The id of the message, as far as it shows at either end: some servers write it first, some last.
    pub(crate) fn id(&self) -> Option<u64> {
        let tail = &self.tail[self.tail.len().saturating_sub(KEPT)..];
        id_at_head(&self.head).or_else(|| id_at_tail(tail))
    }
}

const KEY: &[u8] = b"\"id\"";

/// Behind a second brace, it would be an id in the result.
fn id_at_head(head: &[u8]) -> Option<u64> {
    let outer =
        head.iter().skip(1).position(|byte| matches!(byte, b'{' | b'[')).map_or(head, |end| &head[..=end]);
    let at = outer.windows(KEY.len()).position(|window| window == KEY)?;
    number(&outer[at + KEY.len()..]).map(|(id, _)| id)
}

/// Before a second brace, it would be an id in the result.
fn id_at_tail(tail: &[u8]) -> Option<u64> {
    let at = tail.windows(KEY.len()).rposition(|window| window == KEY)?;
    let (id, rest) = number(&tail[at + KEY.len()..])?;
    (rest.trim_ascii() == b"}").then_some(id)
}

/// A colon, a number, and the rest.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let text = text.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let id = std::str::from_utf8(&text[..end]).ok()?.parse().ok()?;
    Some((id, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::{Line, LineReader};

    fn read(text: &str, chunk: usize) -> Vec<String> {
        let mut reader = LineReader::new(100);
        let mut lines = Vec::new();
        for bytes in text.as_bytes().chunks(chunk) {
            reader.push(bytes, |line| {
                lines.push(match line {
                    Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                    Line::Dropped(dropped) => format!("dropped {} {:?}", dropped.length, dropped.id()),
                });
            });
        }
        lines
    }

    #[test]
    fn promise_any_line_takes_work_that_grows_with_its_length_alone_however_it_is_cut() {
        let target = toolroom_work::fuzz::Target {
            name: "lines of a stdio server",
            words: &["{", "}", "\"id\"", ":", "12", "\"id\":12}", "\n", "[", "x", "\"result\"", " "],
            sample: 300,
            longest: 20_000,
            fixed: 2_000,
            per_byte: 20,
        };
        target.run(|text| [1, 7, 4096].into_iter().for_each(|chunk| drop(read(text, chunk))));
    }

    #[test]
    fn lines_come_out_whole_and_overlong_ones_as_their_ids_however_the_bytes_are_cut() {
        let filler = "x".repeat(1000);
        let first = format!(r#"{{"jsonrpc":"2.0","id":12,"result":{{"text":"{filler}","id":9}}}}"#);
        let last = format!(r#"{{"result":{{"id":9,"text":"{filler}"}},"jsonrpc":"2.0","id":34}}"#);
        let text = format!("one\n\n{first}\ntwo\n{last}\n{filler}\nthree\nrest");
        for chunk in [1, 2, 3, 7, 50, 99, 100, 101, 500, 5000] {
            let lines = read(&text, chunk);
            let expected = [
                "one".to_owned(),
                String::new(),
                format!("dropped {} Some(12)", first.len()),
                "two".to_owned(),
                format!("dropped {} Some(34)", last.len()),
                "dropped 1000 None".to_owned(),
                "three".to_owned(),
            ];
            assert_eq!(lines, expected, "cut into {chunk}");
        }
    }
}
