//! Reads what a person wrote: which wishes it holds, in their order. Only the person's own words come here.

mod change;
mod clauses;
mod code;
mod create;
mod filter;
mod gate;
mod look;
mod remove;
pub(crate) mod slots;
mod talk;
pub(crate) mod target;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::text::{self, Kind, Word};
use super::wish::{Heard, Strength, Target, Wish};

pub(crate) use clauses::stripped;
pub(crate) use create::title_of;
pub(crate) use gate::{key_words, select};

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
pub(crate) struct Said<'a> {
    pub text: &'a str,
    pub words: Vec<Word>,
}

impl<'a> Said<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, words: text::words(text) }
    }
}

/// The wishes of a message, in their order; at least one.
pub(crate) fn wishes(said: &Said<'_>, here: &Here<'_>) -> Vec<Heard> {
    if let Some(list) = create::several(said.text, &said.words, here) {
        return vec![list];
    }
    let clauses = clauses::split(&said.words);
    let mut heard: Vec<Heard> = Vec::new();
    for (at, range) in clauses.iter().enumerate() {
        let words = said.words.get(range.clone()).unwrap_or_default();
        let is_only = clauses.len() == 1;
        let next = match clause(said, words, here, is_only) {
            Some(next) => next,
            None => continue,
        };
        let follows = at > 0;
        match (follows, continued(&mut heard, next, said.text, words, here)) {
            (_, Some(next)) => heard.push(next),
            (_, None) => {}
        }
    }
    settled(heard, said, here)
}

/// One clause on its own; nothing if it is only courtesy.
fn clause(said: &Said<'_>, words: &[Word], here: &Here<'_>, is_only: bool) -> Option<Heard> {
    let strong = |wish| Some(Heard { wish, strength: Strength::Strong });
    if let Some(code) = code::fenced(said.text, words) {
        return Some(code);
    }
    if let Some(talk) = talk::whole(words) {
        return (is_only || talk::counts(talk))
            .then_some(Heard { wish: Wish::Talk(talk), strength: Strength::Strong });
    }
    let bare = stripped(words);
    if bare.is_empty() {
        return None;
    }
    if let Some(talk) = talk::guard(words, bare) {
        return strong(Wish::Talk(talk));
    }
    let asks = words.last().is_some_and(|word| word.kind == Kind::Sign('?'));
    let found = code::calculation(said.text, bare)
        .or_else(|| look::question(said.text, bare, here, asks))
        .or_else(|| change::read(said.text, bare, here))
        .or_else(|| remove::complete(said.text, bare, here, asks))
        .or_else(|| remove::restore(said.text, bare, here))
        .or_else(|| create::read(said.text, bare, here))
        .or_else(|| remove::delete(said.text, bare, here))
        .or_else(|| look::command(said.text, bare, here))
        .or_else(|| code::run(said.text, bare))
        .or_else(|| talk::ask_human(said.text, bare));
    match found {
        Some(heard) if heard.strength == Strength::Strong => Some(heard),
        found => Some(gate::judged(said.text, words, bare, found, here)),
    }
}

/// Joins a clause to those before it: "add milk, and make it urgent", "I got the milk, mark it done", "delete task 3
/// and the milk one".
fn continued(
    heard: &mut Vec<Heard>,
    next: Heard,
    text: &str,
    words: &[Word],
    here: &Here<'_>,
) -> Option<Heard> {
    let Some(before) = heard.last_mut() else { return Some(next) };
    match (&mut before.wish, &next.wish) {
        (Wish::Create(drafts), Wish::Update(Target::It, change)) if next.strength == Strength::Strong => {
            let draft = drafts.last_mut()?;
            draft.priority = change.priority.or(draft.priority);
            if let Some(due) = &change.due {
                draft.due.clone_from(due);
            }
            if let Some(description) = &change.description {
                draft.description.clone_from(description);
            }
            draft.title = change.title.clone().or(draft.title.take());
            draft.tags.extend(change.add_tags.iter().cloned());
            None
        }
        (Wish::Complete(spoken, _) | Wish::Delete(spoken) | Wish::Show(spoken), _)
            if before.strength == Strength::Hint && matches!(spoken, Target::Words(_)) =>
        {
            let spoken = spoken.clone();
            heard.pop();
            let wish = match next.wish {
                Wish::Complete(Target::It | Target::Missing, done) => Wish::Complete(spoken, done),
                Wish::Delete(Target::It | Target::Missing) => Wish::Delete(spoken),
                Wish::Update(Target::It | Target::Missing, change) => Wish::Update(spoken, change),
                other => other,
            };
            Some(Heard { wish, ..next })
        }
        (Wish::Complete(..) | Wish::Delete(_) | Wish::Update(..) | Wish::Restore(_), _)
            if next.strength < Strength::Strong =>
        {
            // A verb that stands once for several objects.
            let object = match target::read(text, stripped(words), here) {
                Target::Words(_)
                    if !target::speaks_of_tasks(words) && !text::begins(stripped(words), "the").is_some() =>
                {
                    None
                }
                Target::Missing => None,
                found => Some(found),
            };
            let Some(object) = object else { return Some(next) };
            let wish = match &before.wish {
                Wish::Complete(_, done) => Wish::Complete(object, *done),
                Wish::Delete(_) => Wish::Delete(object),
                Wish::Update(_, change) => Wish::Update(object, change.clone()),
                _ => Wish::Restore(object),
            };
            Some(Heard { wish, strength: before.strength })
        }
        _ => Some(next),
    }
}

/// Leaves out remarks beside real wishes; what is left is judged as a whole if nothing was understood.
fn settled(mut heard: Vec<Heard>, said: &Said<'_>, here: &Here<'_>) -> Vec<Heard> {
    let acts = |one: &Heard| one.strength == Strength::Strong && !matches!(one.wish, Wish::Talk(_));
    if heard.iter().any(acts) {
        let keeps = |one: &Heard| acts(one) || matches!(one.wish, Wish::Talk(talk) if talk::stays(talk));
        heard.retain(keeps);
        return heard;
    }
    if heard.len() > 1 {
        // Several half-understood clauses say less than the whole.
        let talk =
            heard.iter().find(|one| matches!(one.wish, Wish::Talk(talk) if talk::stays(talk))).cloned();
        let whole = gate::judged(said.text, &said.words, stripped(&said.words), None, here);
        let first = heard.into_iter().max_by_key(|one| (one.strength, matches!(one.wish, Wish::Talk(_))));
        return vec![talk.or(first.filter(|one| one.strength > Strength::Hint)).unwrap_or(whole)];
    }
    if heard.is_empty() {
        heard.push(gate::judged(said.text, &said.words, stripped(&said.words), None, here));
    }
    heard
}
