//! What is said to the person, as it comes. A model's words are passed on as they are, byte for byte.

use std::sync::Arc;

use crate::log::{EventKind, Log, TextSource};
use crate::sentences::Sentences;
use toolroom_model::Deltas;

/// Says things to the person, and remembers them.
pub(super) struct ResponseWriter {
    log: Arc<Log>,
    /// Everything that was said.
    pub(super) response: String,
    last: Option<TextSource>,
    /// Whether a model's words are part of it.
    pub(super) spoke: bool,
    /// What came of the model's current turn before it ended.
    early: String,
    /// How long the response was before that, and whose words were its last.
    before: (usize, Option<TextSource>),
}

impl ResponseWriter {
    pub(super) fn new(log: &Arc<Log>) -> Self {
        Self {
            log: Arc::clone(log),
            response: String::new(),
            last: None,
            spoke: false,
            early: String::new(),
            before: (0, None),
        }
    }

    /// Its own block.
    pub(super) fn say(&mut self, text: &str, source: TextSource) {
        let text = text.trim();
        if !text.is_empty() {
            self.say_block(text, source);
        }
    }

    /// What the model said, beyond what was said of it already.
    pub(super) fn say_turn(&mut self, text: &str) {
        let early = std::mem::take(&mut self.early);
        if early.trim().is_empty() {
            self.say_block(text, TextSource::Model);
        } else if let Some(rest) = text.strip_prefix(&early).filter(|rest| !rest.is_empty()) {
            self.speak(rest, TextSource::Model);
        }
    }

    /// The current turn broke off: what was said of it counts no more.
    pub(super) fn withdraw_turn(&mut self) {
        let begun = !std::mem::take(&mut self.early).trim().is_empty();
        let (length, last) = self.before;
        if begun && length < self.response.len() {
            let text = self.response.split_off(length);
            self.last = last;
            self.log.push(EventKind::Withdrawn { text });
        }
    }

    /// Takes the words of a turn as they come.
    pub(super) fn listen(&mut self) -> Listener<'_> {
        self.early.clear();
        self.before = (self.response.len(), self.last);
        Listener { writer: self, heard: String::new(), sentences: Sentences::default() }
    }

    /// A whole sentence of the current turn. White space is said once words follow it.
    fn pass_on(&mut self, sentence: &str) {
        let begun = !self.early.trim().is_empty();
        self.early.push_str(sentence);
        if begun {
            self.speak(sentence, TextSource::Model);
        } else if !sentence.trim().is_empty() {
            let early = self.early.clone();
            self.say_block(&early, TextSource::Model);
        }
    }

    fn say_block(&mut self, text: &str, source: TextSource) {
        let gap = match (self.last, source) {
            (None, _) => "",
            (Some(TextSource::Receipt), TextSource::Receipt) => "\n",
            _ => "\n\n",
        };
        self.speak(&format!("{gap}{text}"), source);
    }

    fn speak(&mut self, text: &str, source: TextSource) {
        self.response.push_str(text);
        self.last = Some(source);
        self.spoke |= source == TextSource::Model;
        self.log.push(EventKind::Text { text: text.to_owned(), source });
    }
}

/// Passes on whole sentences.
pub(super) struct Listener<'a> {
    writer: &'a mut ResponseWriter,
    heard: String,
    sentences: Sentences,
}

impl Deltas for Listener<'_> {
    fn text(&mut self, piece: &str) {
        self.heard.push_str(piece);
        while let Some(end) = self.sentences.next_end(&self.heard) {
            let Some(sentence) = self.heard.get(self.writer.early.len()..end) else { return };
            self.writer.pass_on(sentence);
        }
    }
}
