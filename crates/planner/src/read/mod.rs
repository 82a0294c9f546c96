//! Reads what a person wrote: which wishes it holds, in their order. Only the person's own words come here.
//!
//! Wishes about tasks are what the trained reader sees; a few plain forms (code, sums, "search the web for", talk) are
//! known by their words, and what nobody knows is the gate's to judge.

mod code;
pub(crate) mod courtesy;
mod dates;
pub(crate) mod fields;
pub(crate) mod filter;
mod gate;
mod guard;
pub(crate) mod holds;
mod language;
mod lists;
mod mend;
pub(crate) mod plain;
pub(crate) mod priority;
mod requests;
mod small_talk;
pub(crate) mod spans;
pub(crate) mod tagged;
pub(crate) mod target;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use self::tagged::{Seen, Tagged};
use super::text::{self, Kind, Word, begins, begins_any, find_any};
use super::wish::{Heard, SmallTalk, Strength, Target, Wish};
use super::words::patterns;

pub(crate) use code::looks_like_code;
pub(crate) use courtesy::stripped;
pub(crate) use gate::key_words;
pub(crate) use language::other_language;
pub(crate) use lists::{named, pasted};

/// How sure the trained reader must be of a change for it to be made without a question.
const ACTS: f32 = 0.9;
/// The same if it has read every word of the wish.
const ACTS_IF_WHOLE: f32 = 0.4;
/// How sure it must be of a change that other words speak against, to offer it.
pub(crate) const SURE: f32 = 0.6;

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
pub(crate) fn wishes(said: &Utterance<'_>, tagged: &Tagged<'_>, here: &Here<'_>) -> Vec<Heard> {
    let bare = stripped(&said.words);
    let strong = |wish| Heard { wish, strength: Strength::Strong };
    if let Some(talk) = small_talk::whole(&said.words) {
        return vec![strong(Wish::SmallTalk(talk))];
    }
    // Code, searches and questions to people are taken whole: what stands in them is not a separate wish.
    if let Some(heard) = code::fenced(said.text, &said.words)
        .or_else(|| code::calculation(said.text, bare))
        .or_else(|| code::run(said.text, bare).filter(|one| matches!(one.wish, Wish::Run(Some(_)))))
        .or_else(|| requests::web(said.text, bare))
        .or_else(|| requests::ask_person(said.text, bare))
    {
        return vec![heard];
    }
    if let Some(list) = lists::several(said, here) {
        return vec![strong(Wish::Create(list))];
    }
    if patterns("undoes").iter().any(|pattern| begins(bare, pattern) == Some(bare.len())) {
        return vec![strong(Wish::Undo)];
    }
    let seen = tagged.wishes(here);
    let mut heard: Vec<Heard> = seen.into_iter().map(|seen| weighed(seen, tagged, here)).collect();
    let talks = |one: &Heard| matches!(one.wish, Wish::SmallTalk(_));
    if heard.iter().any(|one| !talks(one)) {
        heard.retain(|one| !talks(one) || matches!(one.wish, Wish::SmallTalk(SmallTalk::Leave)));
        let unsure = |one: &Heard| one.strength == Strength::Hint || !one.wish.is_change();
        let other = gate::other_than_tasks(said, here).filter(|_| heard.iter().all(unsure));
        return other.map_or(heard, |other| vec![other]);
    }
    let talk = heard.into_iter().next();
    let talk = talk.or_else(|| guard::guard(&said.words, bare).map(|talk| strong(Wish::SmallTalk(talk))));
    if let Some(talk) = talk {
        return vec![talk];
    }
    if let Some(command) = plain::command(said, here).filter(|command| command.is_plain) {
        return vec![strong(command.wish)];
    }
    let asks_for_code = code::run(said.text, bare);
    vec![asks_for_code.unwrap_or_else(|| gate::judged(said, bare, here))]
}

/// How far a wish that the trained reader sees is to be followed.
fn weighed(seen: Seen, tagged: &Tagged<'_>, here: &Here<'_>) -> Heard {
    let clause = Utterance::new(tagged.text.get(seen.place.clone()).unwrap_or_default());
    let bare = stripped(&clause.words);
    let kind = |wish: &Wish| std::mem::discriminant(wish);
    let command = plain::command(&clause, here);
    let is_alike =
        command.as_ref().is_some_and(|command| command.is_plain && kind(&command.wish) == kind(&seen.wish));
    let says_nothing = matches!(&seen.wish, Wish::Update(_, change) if change.is_empty());
    let is_alike = is_alike && !says_nothing;
    let whole = Utterance::new(tagged.text);
    let how = begins(&whole.words, "how do|can|could|would|should i|we|you").map(|_| SmallTalk::HowTo);
    let is_how = how.is_some();
    let talk = how
        .or_else(|| guard::guard(&clause.words, bare))
        .or_else(|| guard::guard(&whole.words, stripped(&whole.words)));
    if let Some(command) = command.filter(|command| command.is_plain && !is_alike && talk.is_none()) {
        return Heard { wish: command.wish, strength: Strength::Strong };
    }
    let changes = seen.wish.is_change();
    if let Some(talk) = talk {
        return match changes && seen.sure >= SURE && !is_how {
            true => Heard { wish: seen.wish, strength: Strength::Hint },
            false => Heard { wish: Wish::SmallTalk(talk), strength: Strength::Strong },
        };
    }
    // "did you set the tap to high priority?" asks; nothing follows from it.
    let asked = courtesy::unsigned(&clause.words);
    let asks = begins(asked, "did|have|has|had|was|were|why|when|who|havent|didnt|hasnt").is_some();
    if let Some(target) = seen.wish.target().filter(|_| changes && asks) {
        return Heard { wish: Wish::Show(target.clone()), strength: Strength::Strong };
    }
    // "paid the bill", "rent on friday" are no commands: what follows from them is offered.
    let is_news = match seen.wish {
        // "check the milk" may be one more thing to do.
        Wish::Complete(_, true) if begins(bare, "check").is_some() => {
            find_any(bare, &["off|done|complete|completed|finished"]).is_none()
        }
        Wish::Complete(_, true) => !commands(bare),
        Wish::Create(_) => find_any(&clause.words, patterns("makes something new")).is_none(),
        Wish::Delete(_) => {
            !bare.iter().any(|word| word.is_any(courtesy::VERBS) || word.is_any("kill|bin|lose"))
        }
        Wish::Update(Target::Words(_), _) => {
            let begins = bare.first().is_some_and(|word| word.is_any(courtesy::VERBS));
            !begins && bare.len() == asked.len() && !target::speaks_of_tasks(bare)
        }
        _ => false,
    };
    // Whoever gives a number, or a command in so many words, knows what is meant.
    let begins = bare.first().is_some_and(|word| word.is_any(courtesy::VERBS));
    let marks =
        matches!(seen.wish, Wish::Complete(..)) && find_any(bare, &["mark|tick|check|cross"]).is_some();
    let by_number = matches!(seen.wish.target(), Some(Target::Ids(_))) && (begins || commands(bare));
    let place = if tagged.is_only(&seen.place) { 0..tagged.text.len() } else { seen.place.clone() };
    // What is opened again does no harm. A deletion may be set to need no yes, so words around one that were not read count
    // unless it is a command in so many words.
    let is_harmless = match seen.wish {
        Wish::Complete(_, false) => true,
        Wish::Delete(_) => is_alike || by_number,
        _ => false,
    };
    let is_read = is_harmless || tagged.is_whole(&place);
    let is_bare = matches!(seen.wish, Wish::Complete(..) | Wish::Delete(_) | Wish::Restore(_));
    let is_done = is_bare
        && !matches!(seen.wish, Wish::Complete(_, false))
        && find_any(&whole.words, &["no longer"]).is_none();
    let doubts = is_bare && tagged.has_values(&place)
        || whole.words.last().is_some_and(|word| word.kind == Kind::Sign('?')) && !is_polite(&whole)
        || is_done && find_any(&whole.words, patterns("puts in doubt")).is_some();
    let enough = match (is_alike || marks || by_number, is_read) {
        (true, true) => tagged::LIKELY,
        (_, true) => ACTS_IF_WHOLE,
        _ => ACTS,
    };
    let is_unnamed =
        matches!(&seen.wish, Wish::Create(drafts) if drafts.iter().all(|draft| draft.title.is_none()));
    let acts = !changes || is_unnamed || seen.sure >= enough && !is_news && !doubts;
    Heard { wish: seen.wish, strength: if acts { Strength::Strong } else { Strength::Hint } }
}

/// "could you …?" asks for it, and does not doubt it.
fn is_polite(said: &Utterance<'_>) -> bool {
    find_any(&said.words, &["can|could|would|will you|u|we|i", "please|pls", "mind"]).is_some()
}

/// Whether words tell somebody to mark something as done.
fn commands(bare: &[Word]) -> bool {
    begins_any(bare, patterns("completes")).or_else(|| begins_any(bare, patterns("may complete"))).is_some()
        || find_any(bare, &["mark|tick|check|cross|close"]).is_some()
        || begins(bare, "im? done|finished with").is_some()
        || target::speaks_of_tasks(bare)
}
