//! What is said to the person, word by word: the model's sentences only as far as receipts support them.

use std::sync::Arc;

use crate::guard::{Evidence, Sentences};
use crate::log::{EventKind, Log, TextSource};
use toolroom_model::Deltas;

/// Says things to the person, and remembers them.
pub(super) struct ResponseWriter {
    log: Arc<Log>,
    /// Everything that was said.
    pub(super) response: String,
    last: Option<TextSource>,
    /// What was said in the model's current turn before it ended.
    early: String,
    /// White space behind it, said only if more follows.
    space: String,
}

impl ResponseWriter {
    pub(super) fn new(log: &Arc<Log>) -> Self {
        Self {
            log: Arc::clone(log),
            response: String::new(),
            last: None,
            early: String::new(),
            space: String::new(),
        }
    }

    /// Its own block.
    pub(super) fn say(&mut self, text: &str, source: TextSource) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let gap = match (self.last, source) {
            (None, _) => "",
            (Some(TextSource::Receipt), TextSource::Receipt) => "\n",
            _ => "\n\n",
        };
        self.speak(&format!("{gap}{text}"), source);
    }

    /// What the model said, beyond what was said about it already.
    pub(super) fn say_turn(&mut self, text: &str) {
        let early = std::mem::take(&mut self.early);
        if early.trim().is_empty() {
            self.say(text, TextSource::Model);
        } else if let Some(rest) = text.strip_prefix(&early) {
            let rest = rest.trim_end();
            if !rest.is_empty() {
                let space = std::mem::take(&mut self.space);
                self.speak(&format!("{space}{rest}"), TextSource::Model);
            }
        }
    }

    /// Nothing more comes of the current turn.
    pub(super) fn end_turn(&mut self) {
        self.early.clear();
    }

    /// Takes the words of a turn as they come.
    pub(super) fn listen<'a>(&'a mut self, evidence: &'a Evidence) -> Listener<'a> {
        self.early.clear();
        self.space.clear();
        Listener {
            writer: self,
            evidence,
            heard: String::new(),
            sentences: Sentences::default(),
            silent: false,
        }
    }

    /// A whole sentence of the current turn.
    fn pass_on(&mut self, sentence: &str) {
        let first = self.early.trim().is_empty();
        self.early.push_str(sentence);
        let words = sentence.trim();
        if words.is_empty() {
            self.space.push_str(if first { "" } else { sentence });
            return;
        }
        let gap = match (first, self.last) {
            (true, Some(_)) => "\n\n".to_owned(),
            (true, None) => String::new(),
            (false, _) => std::mem::take(&mut self.space),
        };
        let words = if first { words } else { sentence.trim_end() };
        self.speak(&format!("{gap}{words}"), TextSource::Model);
        self.space = sentence[sentence.trim_end().len()..].to_owned();
    }

    fn speak(&mut self, text: &str, source: TextSource) {
        self.response.push_str(text);
        self.last = Some(source);
        self.log.push(EventKind::Text { text: text.to_owned(), source });
    }
}

/// Passes on whole sentences, up to the first that claims what was not done.
pub(super) struct Listener<'a> {
    writer: &'a mut ResponseWriter,
    evidence: &'a Evidence,
    heard: String,
    sentences: Sentences,
    silent: bool,
}

impl Deltas for Listener<'_> {
    fn text(&mut self, piece: &str) {
        self.heard.push_str(piece);
        if self.silent {
            return;
        }
        while let Some(end) = self.sentences.next_end(&self.heard) {
            let Some(sentence) = self.heard.get(self.writer.early.len()..end) else { return };
            if !self.evidence.supports(sentence) {
                self.silent = true;
                return;
            }
            self.writer.pass_on(sentence);
        }
    }
}
