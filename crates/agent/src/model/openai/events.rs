//! The lines of an answer: events of a stream, or one object over many lines.

use serde_json::Value;

/// Something that a server sent.
pub(super) enum Event {
    /// A chunk, or a whole answer.
    Json(Value),
    /// The end of the stream.
    End,
}

/// Puts lines together. Comments, names of events and lines that are no JSON are passed over.
#[derive(Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    /// What is not an event: an answer that is not streamed.
    plain: Vec<u8>,
}

impl Lines {
    /// Takes bytes, and gives what they complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        toolroom_work::step(bytes.len());
        for byte in bytes {
            if *byte == b'\n' || *byte == b'\r' {
                let line = std::mem::take(&mut self.line);
                events.extend(self.line(&line));
            } else {
                self.line.push(*byte);
            }
        }
        events
    }

    /// What is left at the end.
    pub(super) fn rest(mut self) -> Vec<Event> {
        let line = std::mem::take(&mut self.line);
        let mut events: Vec<Event> = self.line(&line).into_iter().collect();
        toolroom_work::step(self.plain.len());
        // One object over many lines, or an object on every line.
        let values = serde_json::Deserializer::from_slice(&self.plain).into_iter();
        events.extend(values.map_while(Result::ok).map(Event::Json));
        events
    }

    fn line(&mut self, line: &[u8]) -> Option<Event> {
        toolroom_work::step(line.len());
        let text = String::from_utf8_lossy(line);
        let text = text.trim().trim_start_matches('\u{feff}');
        let Some(data) = text.strip_prefix("data:") else {
            if !text.starts_with([':', 'e', 'i', 'r']) {
                self.plain.extend_from_slice(text.as_bytes());
                self.plain.push(b'\n');
            }
            return None;
        };
        match data.trim() {
            "[DONE]" => Some(Event::End),
            data => serde_json::from_str(data).ok().map(Event::Json),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, Lines};

    fn read(text: &str, chunk: usize) -> Vec<String> {
        let mut lines = Lines::default();
        let mut events: Vec<Event> =
            text.as_bytes().chunks(chunk).flat_map(|bytes| lines.push(bytes)).collect();
        events.extend(lines.rest());
        let shown = |event: Event| match event {
            Event::Json(value) => value.to_string(),
            Event::End => "end".to_owned(),
        };
        events.into_iter().map(shown).collect()
    }

    #[test]
    fn promise_any_answer_of_a_model_takes_work_that_grows_with_its_length_alone_however_it_is_cut() {
        let target = toolroom_work::fuzz::Target {
            name: "answers of a model's server",
            words: &[
                "data:",
                "data: {}",
                "data: [DONE]",
                "{\"a\":",
                "}",
                "[",
                "]",
                ":",
                "event: x",
                "\n",
                "\r",
                "\n\n",
                "\u{feff}",
                "null",
                "x",
                " ",
            ],
            sample: 300,
            longest: 20_000,
            fixed: 10,
            // Each byte is taken, read with its line, and read again if it is not an event; twice over.
            per_byte: 8,
        };
        target.run(|text| assert_eq!(read(text, 7), read(text, 1 << 20)));
    }
}
