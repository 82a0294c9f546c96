//! Server-sent events out of a stream of bytes, each bounded in size. The one reader of them.

/// An event.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// `message` if it is empty.
    pub kind: String,
    /// Its lines, joined.
    pub data: Vec<u8>,
    /// From where the stream can be resumed.
    pub id: Option<String>,
    /// How long to wait before that, in milliseconds.
    pub retry: Option<u64>,
}

/// Puts events together.
pub struct EventReader {
    limit: usize,
    line: Vec<u8>,
    after_return: bool,
    at_start: bool,
    event: Event,
    has_data: bool,
}

/// An event is larger than the limit.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLarge;

impl EventReader {
    /// Events of up to so many bytes.
    pub fn new(limit: usize) -> Self {
        let event = Event::default();
        Self { limit, line: Vec::new(), after_return: false, at_start: true, event, has_data: false }
    }

    /// Takes bytes, and gives each event that they complete.
    pub fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(Event)) -> Result<(), TooLarge> {
        while !bytes.is_empty() {
            // A line ends with CR, LF or both.
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &bytes[..end.unwrap_or(bytes.len())];
            crate::step(1 + part.len());
            if self.line.len() + self.event.data.len() + part.len() > self.limit {
                return Err(TooLarge);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { return Ok(()) };
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            if let Some(event) = self.line(&line) {
                take(event);
            }
            // The room is used again, unless it was an unusually long line.
            if line.capacity() <= 64 << 10 {
                self.line = line;
                self.line.clear();
            }
        }
        Ok(())
    }

    /// What a stream ended in without the empty line that completes an event.
    pub fn rest(mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        // An empty line would complete it.
        if line.is_empty() { self.finish() } else { self.line(&line).or_else(|| self.finish()) }
    }

    fn line(&mut self, line: &[u8]) -> Option<Event> {
        let line = match std::mem::take(&mut self.at_start) {
            true => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
            false => line,
        };
        if line.is_empty() {
            return self.finish();
        }
        crate::step(line.len());
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match &line[..colon] {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.kind = text(),
            b"id" if !value.contains(&0) => self.event.id = Some(text()),
            b"retry" => self.event.retry = text().parse().ok(),
            // A comment, or a field that nobody knows.
            _ => {}
        }
        None
    }

    fn finish(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        // An id or a retry without data still counts for resuming the stream.
        let told = std::mem::take(&mut self.has_data) || event.id.is_some() || event.retry.is_some();
        told.then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, EventReader, TooLarge};

    fn read(text: &str, chunk: usize) -> Vec<Event> {
        let mut reader = EventReader::new(1000);
        let mut events = Vec::new();
        for bytes in text.as_bytes().chunks(chunk) {
            reader.push(bytes, |event| events.push(event)).unwrap();
        }
        events
    }

    #[test]
    fn events_come_out_whole_however_the_bytes_are_cut() {
        let text = "\u{feff}: hello\r\nevent: endpoint\rdata: /a\ndata:b\r\n\r\nid: 7\nretry: 50\ndata\n\ndata: {}\n\n:\n\nevent: x\n\n";
        for chunk in 1..=text.len() {
            let events = read(text, chunk);
            assert_eq!(events.len(), 3, "{events:?}");
            assert_eq!(
                events[0],
                Event { kind: "endpoint".into(), data: b"/a\nb".to_vec(), ..Event::default() }
            );
            assert_eq!(
                (events[1].id.as_deref(), events[1].retry, events[1].data.len()),
                (Some("7"), Some(50), 0)
            );
            assert_eq!(events[2].data, b"{}");
        }
    }

    #[test]
    fn an_event_that_was_not_completed_is_the_rest() {
        let rest = |text: &[u8]| {
            let mut reader = EventReader::new(1000);
            reader.push(text, |_| {}).unwrap();
            reader.rest().map(|event| event.data)
        };
        assert_eq!(rest(b"data: 1\n\ndata: 2"), Some(b"2".to_vec()));
        assert_eq!(rest(b"data: 1\n\ndata: 2\n"), Some(b"2".to_vec()));
        assert_eq!(rest(b"data: 1\n\n"), None);
    }

    #[test]
    fn promise_any_stream_takes_work_that_grows_with_its_length_alone_however_it_is_cut() {
        let target = crate::fuzz::Target {
            name: "server-sent events",
            words: &[
                "data:", "data: {}", "event:", "id:", "retry: 5", ":", "\n", "\r", "\r\n", "\n\n",
                "\u{feff}", "x",
            ],
            sample: 300,
            longest: 20_000,
            fixed: 30,
            per_byte: 12,
        };
        target.run(|text| {
            for chunk in [1, 7, 4096] {
                let mut reader = EventReader::new(5_000);
                let mut held = 0;
                let mut chunks = text.as_bytes().chunks(chunk);
                let whole = chunks.all(|bytes| reader.push(bytes, |event| held += event.data.len()).is_ok());
                assert!(held <= text.len() || !whole);
            }
        });
    }

    #[test]
    fn an_event_that_never_ends_is_refused_at_the_limit() {
        let mut reader = EventReader::new(1000);
        assert_eq!(reader.push(&[b'a'; 600], |_| {}), Ok(()));
        assert_eq!(reader.push(&[b'a'; 600], |_| {}), Err(TooLarge));
        let mut reader = EventReader::new(1000);
        let line = [&b"data: "[..], &[b'a'; 94], b"\n"].concat();
        let refused = (0..20).position(|_| reader.push(&line, |_| {}).is_err());
        assert_eq!(refused, Some(10));
    }
}
