//! What a model thinks aloud is not said: text between `<think>` and `</think>` at the start of an answer.

/// Lets through what is said.
#[derive(Default)]
pub(super) struct Thoughts {
    held: String,
    state: State,
}

#[derive(Default, PartialEq)]
enum State {
    /// Nothing but white space yet.
    #[default]
    Start,
    Thinking,
    Saying,
}

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

impl Thoughts {
    /// What of this piece, and of what was held back, is said.
    pub(super) fn pass(&mut self, piece: &str) -> String {
        if self.state == State::Saying {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        if self.state == State::Start {
            let start = self.held.trim_start();
            if start.starts_with(OPEN) {
                self.state = State::Thinking;
            } else if !OPEN.starts_with(start) {
                self.state = State::Saying;
                return std::mem::take(&mut self.held);
            }
        }
        if self.state == State::Thinking
            && let Some(at) = self.held.find(CLOSE)
        {
            self.state = State::Saying;
            let rest = self.held[at + CLOSE.len()..].trim_start().to_owned();
            self.held.clear();
            return rest;
        }
        String::new()
    }

    /// What was held back and is said after all.
    pub(super) fn rest(self) -> String {
        if self.state == State::Start { self.held } else { String::new() }
    }
}
