//! What a server sends in answer: events of a stream, or one object that is not streamed.

use serde_json::{Deserializer, Value};
use toolroom_work::sse::EventReader;

use super::MOST_BYTES;

/// Something that a server sent.
pub(super) enum Event {
    /// A chunk, or a whole answer.
    Json(Value),
    /// The end of the stream.
    End,
}

/// Puts an answer together. Anything that is not JSON is skipped.
pub(super) struct Answer {
    events: EventReader,
    /// An answer that is not streamed: one object over many lines, or an object on every line.
    plain: Option<Vec<u8>>,
    begun: bool,
}

impl Answer {
    pub(super) fn new() -> Self {
        Self { events: EventReader::new(MOST_BYTES), plain: None, begun: false }
    }

    /// Takes bytes, and gives what they complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut bytes = bytes;
        // A byte order mark and white space may come first.
        let blank = |byte: &u8| byte.is_ascii_whitespace() || b"\xef\xbb\xbf".contains(byte);
        if !self.begun
            && let Some(first) = bytes.iter().position(|byte| !blank(byte))
        {
            self.begun = true;
            if matches!(bytes[first], b'{' | b'[') {
                self.plain = Some(Vec::new());
                bytes = &bytes[first..];
            }
        }
        let mut found = Vec::new();
        match &mut self.plain {
            Some(plain) => {
                toolroom_work::step(bytes.len());
                plain.extend_from_slice(bytes);
            }
            // The answer as a whole is bounded by whoever reads it.
            None => {
                let _ = self.events.push(bytes, |event| found.extend(read(&event.data)));
            }
        }
        found
    }

    /// What is left at the end.
    pub(super) fn rest(self) -> Vec<Event> {
        match self.plain {
            None => self.events.rest().map(|event| read(&event.data)).unwrap_or_default(),
            Some(plain) => {
                toolroom_work::step(plain.len());
                let values = Deserializer::from_slice(&plain).into_iter();
                values.map_while(Result::ok).map(Event::Json).collect()
            }
        }
    }
}

/// One event. Some servers put several on lines of their own, without the empty line between them.
fn read(data: &[u8]) -> Vec<Event> {
    toolroom_work::step(data.len());
    let text = String::from_utf8_lossy(data);
    if let Ok(value) = serde_json::from_str(&text) {
        return vec![Event::Json(value)];
    }
    let lines = text.lines().filter_map(|line| match line.trim() {
        "[DONE]" => Some(Event::End),
        line => serde_json::from_str(line).ok().map(Event::Json),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::{Answer, Event};

    fn read(text: &str, chunk: usize) -> Vec<String> {
        let mut answer = Answer::new();
        let mut events: Vec<Event> =
            text.as_bytes().chunks(chunk).flat_map(|bytes| answer.push(bytes)).collect();
        events.extend(answer.rest());
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
