//! What a model thinks aloud is not said: text between `<think>` and `</think>` at the start of an answer.

/// Lets through what is said.
#[derive(Default)]
pub struct Thoughts {
    held: String,
    /// White space at the start of what is held, so that it is looked at once.
    blank: usize,
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
    /// What to pass on of this piece and of what was withheld.
    pub fn pass(&mut self, piece: &str) -> String {
        if self.state == State::Saying {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        if self.state == State::Start {
            let start = self.held[self.blank..].trim_start();
            self.blank = self.held.len() - start.len();
            toolroom_work::step(1 + start.len().min(OPEN.len()));
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
        if self.state == State::Thinking {
            // Only the beginning of the mark may be needed once more; the thoughts are not.
            toolroom_work::step(self.held.len());
            let kept = self.held.len().saturating_sub(CLOSE.len() - 1);
            self.held.drain(..self.held.ceil_char_boundary(kept));
        }
        String::new()
    }

    /// What was withheld and is passed on after all.
    pub fn rest(self) -> String {
        if self.state == State::Start { self.held } else { String::new() }
    }
}
