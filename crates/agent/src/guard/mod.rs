//! Nothing is claimed that was not done: sentences that claim it without a change of that kind are withheld.

mod claims;
mod sentences;

use serde::{Deserialize, Serialize};
use toolroom_contract::{Effect, EffectKind};

use crate::word_list::WordList;

pub use claims::{Claim, claim};
pub use sentences::{Sentences, split};

/// What a call really did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What it may have done; empty if nothing.
    pub kinds: Vec<EffectKind>,
    /// Words for what it did that to.
    #[serde(default)]
    pub nouns: Vec<String>,
}

impl Change {
    /// What a tool's call does. Of a tool that does not say, its name may tell.
    pub fn of(effect: &Effect, name: &str) -> Self {
        let kinds = effect.kinds();
        if !effect.nouns().is_empty() {
            return Self { kinds: kinds.collect(), nouns: effect.nouns().to_vec() };
        }
        let mut nouns = words(name);
        let things = claims::THINGS.map(str::to_owned);
        if nouns.iter().any(|noun| things.iter().any(|thing| singular(thing) == singular(noun))) {
            nouns.extend(things);
        }
        let verb = nouns.iter().find_map(|word| claims::present(word));
        Self { kinds: kinds.chain(verb).collect(), nouns }
    }

    /// Whether it makes the claim true, which is about these things if it names any.
    fn supports(&self, claim: &Claim, things: &[&String]) -> bool {
        use EffectKind::{Complete, Create, Restore, Run, Send, Update};
        let of_it = |thing: &&String| self.nouns.iter().any(|noun| singular(noun) == singular(thing));
        if !things.is_empty() && !things.iter().any(of_it) {
            return false;
        }
        let fits = |done: &EffectKind| match (*done, claim.kind) {
            (_, None) => true,
            (done, Some(claimed)) if done == claimed => true,
            (Send | Run, Some(Send | Run)) => true,
            // An update may complete or reopen something; completing it updates it.
            (Update, Some(Complete)) | (Complete, Some(Update)) | (Restore, Some(Create)) => true,
            // "I've set / put / scheduled …" fits something new as well as something changed.
            (Create, Some(Update)) => true,
            // What a script did is anybody's guess, unless its name says it.
            (Run, Some(_)) => things.is_empty() || self.kinds.len() == 1,
            _ => false,
        };
        self.kinds.iter().any(fits)
    }
}

/// What is known of a run when a model speaks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What calls of this run really did.
    pub done: Vec<Change>,
    /// What those of earlier messages did, which an answer to a question may speak of.
    pub earlier: Vec<Change>,
    /// Whether the person asked something rather than wanted something done.
    pub asked: bool,
    /// Whether they wrote a word such as "delete" or "add".
    pub ordered: bool,
    /// Whether a tool reported on the outside world, which an answer may then mention.
    pub elsewhere: bool,
    /// Whether a call that was to change something failed: what it was to do is then no history.
    pub failed: bool,
    /// Words for things that tools keep: who claims a change of one needs a change of one.
    pub kept: Vec<String>,
    /// Those of them that the person spoke of, one of which "it" then is.
    pub spoken: Vec<String>,
}

impl Evidence {
    /// What is known when a person has said something, of what was done before, and of what tools keep.
    pub fn of(said: &str, earlier: Vec<Change>, kept: &[String]) -> Self {
        let kept: Vec<String> = claims::THINGS.into_iter().map(str::to_owned).chain(kept.to_vec()).collect();
        let spoken = among(&kept, &words(said)).into_iter().cloned().collect();
        Self { earlier, asked: is_question(said), ordered: orders(said), spoken, kept, ..Self::default() }
    }

    /// Whether a sentence says no more than what happened.
    pub fn supports(&self, sentence: &str) -> bool {
        let Some(claim) = claim(sentence) else { return true };
        let mut things = among(&self.kept, &claim.words);
        // A poem or a page of history is not about what was done here.
        let wanted = self.ordered || self.failed;
        let about = claim.about || !things.is_empty();
        if !about && (!wanted || (self.elsewhere && !claim.own)) {
            return true;
        }
        // What a script did is no proof of what became of a task, also where the task is only "it".
        if things.is_empty() && claim.bare && claim.kind.is_some() {
            things = self.spoken.iter().collect();
        }
        let happened = |changes: &[Change]| changes.iter().any(|change| change.supports(&claim, &things));
        happened(&self.done) || (self.asked && (happened(&self.earlier) || !claim.own))
    }

    /// The part of a text before its first false claim; all of it if there is none.
    pub fn honest_part<'a>(&self, text: &'a str) -> Option<&'a str> {
        let mut end = 0;
        for sentence in split(text) {
            if !self.supports(sentence) {
                return Some(text[..end].trim_end());
            }
            end += sentence.len();
        }
        None
    }
}

/// Whether a person asks something: a reply may then mention what was done before.
pub fn is_question(said: &str) -> bool {
    const ASKS: WordList = WordList("is|are|was|were|did|does|has|when|who|why|where");
    const MAY_ASK: WordList = WordList("what|whats|which|how|do|have|show|list|tell|am|any|summarize|view");
    let words = words(said);
    let Some(first) = words.first().map(|first| first.replace('\'', "")) else { return false };
    ASKS.contains(&first) || (MAY_ASK.contains(&first) && !orders(said))
}

/// Whether a person wrote a word by which things are changed.
pub fn orders(said: &str) -> bool {
    const ORDERS: WordList = WordList(
        "delete|remove|add|create|make|complete|finish|mark|update|change|rename|move|set|reschedule|\
        postpone|cancel|restore|undo|clear|put|erase|done|send|upload|submit|install",
    );
    words(said).iter().any(|word| ORDERS.contains(word))
}

fn words(said: &str) -> Vec<String> {
    said.to_lowercase()
        .split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The words for kept things that are among these words.
fn among<'a>(kept: &'a [String], words: &[String]) -> Vec<&'a String> {
    kept.iter().filter(|noun| words.iter().any(|word| singular(word) == singular(noun))).collect()
}

/// A word without the ending of its plural.
fn singular(word: &str) -> &str {
    word.strip_suffix('s').unwrap_or(word)
}
