//! Nothing is claimed that was not done: sentences that claim it without a change of that kind are withheld.

mod claims;
mod sentences;

use serde::{Deserialize, Serialize};

pub use claims::{Kind, claim};
pub use sentences::{Sentences, split};

/// What is known about a run when a model answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The kinds of changes that calls of this run really made.
    pub done: Vec<Kind>,
    /// Those of earlier messages, which an answer to a question may mention.
    pub earlier: Vec<Kind>,
    /// Whether the person asked something rather than wanted something done.
    pub asked: bool,
    /// Whether they wrote a word such as "delete" or "add".
    pub ordered: bool,
    /// Whether a tool reported on the outside world, which an answer may then mention.
    pub elsewhere: bool,
    /// Whether a call that was to change something failed: what it was to do is then no history.
    #[serde(default)]
    pub failed: bool,
    /// Whether they mentioned tasks, which "it" then refers to.
    #[serde(default)]
    pub of_tasks: bool,
}

impl Evidence {
    /// What is known when a person has said something, and of what was done before.
    pub fn of(said: &str, earlier: Vec<Kind>) -> Self {
        let of_tasks = claims::speaks_of_tasks(&words(said));
        Self { earlier, asked: is_question(said), ordered: orders(said), of_tasks, ..Self::default() }
    }

    /// Whether a sentence says no more than what happened.
    pub fn bears(&self, sentence: &str) -> bool {
        let Some(claim) = claim(sentence) else { return true };
        // A poem or a page of history is not about what was done here.
        let wanted = self.ordered || self.failed;
        let of_the_world = !claim.about && (!wanted || (self.elsewhere && !claim.own));
        if of_the_world {
            return true;
        }
        // What a script did is not a proof of what became of a task, also where the task is only "it".
        let of_task = claim.of_tasks || claim.bare && claim.kind != Kind::Any && self.of_tasks;
        let proves = |kind: &Kind| match kind {
            Kind::Other => !of_task,
            kind => kind.bears(claim.kind),
        };
        let happened = |kinds: &[Kind]| kinds.iter().any(proves);
        happened(&self.done) || (self.asked && (happened(&self.earlier) || !claim.own))
    }

    /// The part of a text before its first false claim; all of it if there is none.
    pub fn honest_part<'a>(&self, text: &'a str) -> Option<&'a str> {
        let mut end = 0;
        for sentence in split(text) {
            if !self.bears(sentence) {
                return Some(text[..end].trim_end());
            }
            end += sentence.len();
        }
        None
    }
}

/// Whether a person asks something: a reply may then mention what was done before.
pub fn is_question(said: &str) -> bool {
    const ASKS: [&str; 11] =
        ["is", "are", "was", "were", "did", "does", "has", "when", "who", "why", "where"];
    const MAY_ASK: [&str; 13] = [
        "what",
        "whats",
        "which",
        "how",
        "do",
        "have",
        "show",
        "list",
        "tell",
        "am",
        "any",
        "summarize",
        "view",
    ];
    let words = words(said);
    let Some(first) = words.first().map(|first| first.replace('\'', "")) else { return false };
    ASKS.contains(&first.as_str()) || (MAY_ASK.contains(&first.as_str()) && !orders(said))
}

/// Whether a person wrote a word by which things are changed.
pub fn orders(said: &str) -> bool {
    const ORDERS: [&str; 22] = [
        "delete",
        "remove",
        "add",
        "create",
        "make",
        "complete",
        "finish",
        "mark",
        "update",
        "change",
        "rename",
        "move",
        "set",
        "reschedule",
        "postpone",
        "cancel",
        "restore",
        "undo",
        "clear",
        "put",
        "erase",
        "done",
    ];
    words(said).iter().any(|word| ORDERS.contains(&word.as_str()))
}

fn words(said: &str) -> Vec<String> {
    said.to_lowercase()
        .split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
