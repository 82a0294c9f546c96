//! Reads what a person wrote: which wishes it holds, in their order. Only the person's own words come here.

mod change;
pub(crate) mod clauses;
mod code;
mod conjunctions;
mod create;
pub(crate) mod filter;
mod gate;
mod guard;
pub(crate) mod holds;
mod language;
mod look;
mod mend;
pub(crate) mod priority;
mod questions;
mod remove;
pub(crate) mod slots;
mod small_talk;
pub(crate) mod spans;
pub(crate) mod tagged;
pub(crate) mod target;
mod values;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::text::{self, Kind, Word};
use super::wish::{Heard, Strength, Wish};

pub(crate) use change::unquoted;
pub(crate) use clauses::stripped;
pub(crate) use code::looks_like_code;
pub(crate) use create::{pasted, title_of};
pub(crate) use gate::key_words;
pub(crate) use language::other_language;

/// When and where the person is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here<'a> {
    pub now: Timestamp,
    pub zone: &'a TimeZone,
}

impl Here<'_> {
    pub(crate) fn today(&self) -> Date {
        self.zone.to_datetime(self.now).date()
    }
}

/// A message, cut into words once.
#[derive(Clone, Debug)]
pub(crate) struct Utterance<'a> {
    pub text: &'a str,
    pub words: Vec<Word>,
    /// Whether these are all of its words.
    pub is_whole: bool,
}

impl<'a> Utterance<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let (words, is_whole) = text::words(text);
        Self { text, words, is_whole }
    }
}

/// The wishes of a message, in their order; at least one.
pub(crate) fn wishes(said: &Utterance<'_>, here: &Here<'_>) -> Vec<Heard> {
    if let Some(list) = create::several(said.text, &said.words, here) {
        return vec![list];
    }
    // Code and questions to people are taken whole: what stands in them is not a separate wish.
    let bare = stripped(&said.words);
    let whole = code::run(said.text, bare).filter(|heard| matches!(heard.wish, Wish::Run(Some(_))));
    if let Some(heard) = whole
        .or_else(|| small_talk::ask_in_full(said.text, bare))
        .filter(|heard| heard.strength == Strength::Strong)
    {
        return vec![heard];
    }
    let clauses = clauses::split(&said.words);
    let mut heard: Vec<Read<'_>> = Vec::new();
    for range in &clauses {
        // What is read beyond the budget is thrown away in any case.
        if toolroom_work::is_spent() {
            break;
        }
        let words = said.words.get(range.clone()).unwrap_or_default();
        let Some(next) = clause(said, words, here, clauses.len() == 1) else { continue };
        if let Some(next) = conjunctions::joined(&mut heard, next, said.text, here) {
            heard.push(next);
        }
    }
    settled(heard, said, here)
}

/// A clause and what was made of it.
struct Read<'a> {
    heard: Heard,
    words: &'a [Word],
    /// Whether only the gate, or nobody, could tell what it is.
    guessed: bool,
}

/// One clause on its own; nothing if it is only courtesy.
fn clause<'a>(
    said: &'a Utterance<'_>,
    words: &'a [Word],
    here: &Here<'_>,
    is_only: bool,
) -> Option<Read<'a>> {
    let read = |heard, guessed| Some(Read { heard, words, guessed });
    let strong = |wish| Heard { wish, strength: Strength::Strong };
    if let Some(code) = code::fenced(said.text, words) {
        return read(code, false);
    }
    if let Some(talk) = small_talk::whole(words) {
        return if is_only || small_talk::counts(talk) {
            read(strong(Wish::SmallTalk(talk)), false)
        } else {
            None
        };
    }
    let bare = stripped(words);
    if bare.is_empty() {
        return None;
    }
    if let Some(talk) = guard::guard(words, bare) {
        return read(strong(Wish::SmallTalk(talk)), false);
    }
    let asks = words.last().is_some_and(|word| word.kind == Kind::Sign('?'));
    match by_rules(said.text, bare, here, asks) {
        Some(heard) if heard.strength == Strength::Strong => read(heard, false),
        found => {
            let guessed = found.as_ref().is_none_or(|heard| heard.strength == Strength::Hint);
            read(gate::judged(said.text, words, bare, found, here), guessed)
        }
    }
}

/// The order matters: what is said explicitly comes before what may be meant.
fn by_rules(text: &str, bare: &[Word], here: &Here<'_>, asks: bool) -> Option<Heard> {
    code::calculation(text, bare)
        .or_else(|| questions::question(text, bare, here, asks))
        .or_else(|| change::named(text, bare, here))
        .or_else(|| remove::restore(text, bare, here))
        .or_else(|| create::named(text, bare, here))
        .or_else(|| remove::complete(text, bare, here))
        .or_else(|| values::valued(text, bare, here))
        .or_else(|| create::bare(text, bare, here))
        .or_else(|| remove::delete(text, bare, here))
        .or_else(|| look::command(text, bare, here))
        .or_else(|| code::run(text, bare))
        .or_else(|| small_talk::ask_human(text, bare))
}

/// Leaves out remarks beside real wishes; what is left is judged as a whole if nothing was understood.
fn settled(read: Vec<Read<'_>>, said: &Utterance<'_>, here: &Here<'_>) -> Vec<Heard> {
    let acts = |one: &Heard| one.strength == Strength::Strong && !matches!(one.wish, Wish::SmallTalk(_));
    let known = read.iter().any(|one| acts(&one.heard) && !one.guessed);
    let keeps = |one: &Read<'_>| {
        let is_command = !one.guessed && !matches!(one.heard.wish, Wish::SmallTalk(_));
        acts(&one.heard) && !(known && one.guessed)
            || is_command
            || matches!(one.heard.wish, Wish::SmallTalk(talk) if small_talk::stays(talk))
    };
    if read.iter().any(|one| acts(&one.heard)) {
        return read.into_iter().filter(keeps).map(|one| one.heard).collect();
    }
    let mut heard: Vec<Heard> = read.into_iter().map(|one| one.heard).collect();
    if heard.len() == 1 {
        return heard;
    }
    // Several half-understood clauses say less than the whole.
    let whole = || gate::judged(said.text, &said.words, stripped(&said.words), None, here);
    if let Some(at) =
        heard.iter().position(|one| matches!(one.wish, Wish::SmallTalk(talk) if small_talk::stays(talk)))
    {
        return vec![heard.swap_remove(at)];
    }
    let best = heard.into_iter().filter(|one| one.strength > Strength::Hint).max_by_key(|one| one.strength);
    vec![best.unwrap_or_else(whole)]
}
