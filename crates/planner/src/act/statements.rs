//! What a person says about tasks without naming a command: "plants are watered", "the report moved to the 25th". The
//! user's own titles tell what it is about; what follows from it is offered with its exact change, never just done.

use serde_json::Map;

use super::choose::verb;
use super::{Needs, Play};
use crate::memory::Question;
use crate::read::{Utterance, holds, slots};
use crate::say;
use crate::seen::{self, Task};
use crate::similar;
use crate::text::{Kind, Word, begins, begins_any, find_any, raw};
use crate::wish::{Change, Draft, Heard, SmallTalk, Strength, Target, Wish};
use crate::words::patterns;

/// Words by which a sentence says that something is not so, not yet, or somebody else's.
const UNSURE: &str = "not|never|havent|hasnt|didnt|isnt|arent|wont|cant|couldnt|dont|doesnt|wasnt|need|needs|should|must|want|wants|would|could|might|will|ill|if|unless|wish|almost|nearly|forgot|forget|said|says|told|heard|think|thinking|going|hate|love|used|shouldve|wouldve|hope|hopefully|maybe|perhaps|trying|ages|he|she|they|who|why|because|when";
const MOVED: &str = "moved|postponed|delayed|pushed|rescheduled|changed|shifted|deferred|due|is|now|instead|until|on|for|by|till|to|set|make|lets";
const MOST_WORDS: usize = 40;

/// What a part of a sentence says of a task, before it is known which.
#[allow(clippy::large_enum_variant, reason = "a message has few of them, and none is kept")]
enum Said {
    Done,
    Open,
    Gone,
    Changed(Change),
}

impl Play<'_> {
    /// Takes a message that no rule reads as a command; `false` if nothing follows from it.
    pub(super) fn stated(&mut self, said: &Utterance<'_>, heard: &[Heard]) -> Result<bool, Needs> {
        if !self.bindings.keeps_tasks() || said.words.len() > MOST_WORDS || !is_open(said, heard) {
            return Ok(false);
        }
        if said.words.iter().any(|word| word.kind == Kind::Code) {
            return Ok(false);
        }
        if let Some(repeats) = holds::recurrence(said) {
            return self.repeating(&repeats);
        }
        if said.words.last().is_none_or(|word| word.kind != Kind::Sign('?')) && self.told(said)? {
            return Ok(true);
        }
        if self.asked_about(said)? {
            return Ok(true);
        }
        self.needed(said)
    }

    /// Every task, to compare words with their titles.
    pub(super) fn titles(&mut self) -> Result<Vec<Task>, Needs> {
        if let Some(known) = &self.titles {
            return Ok(known.clone());
        }
        let mut fields = Map::new();
        fields.insert("status".into(), "all".into());
        fields.insert("limit".into(), 100.into());
        let Some(call) = self.bindings.call("list-tasks", fields) else { return Ok(Vec::new()) };
        let outcome = self.result(call)?;
        let found = if outcome.failure.is_some() { Vec::new() } else { seen::tasks(outcome.result) };
        self.titles = Some(found.clone());
        Ok(found)
    }

    /// "plants are watered, and the report is due monday".
    fn told(&mut self, said: &Utterance<'_>) -> Result<bool, Needs> {
        let parts: Vec<&[Word]> = said
            .words
            .split(|word| {
                matches!(word.kind, Kind::Sign(',' | ';' | '.' | '!' | '\n'))
                    || word.is_any("and|also|but|plus")
            })
            .filter(|part| part.iter().any(|word| !word.is_sign()))
            .collect();
        let read: Vec<Option<Said>> = parts.iter().map(|part| self.says_of(said, part)).collect();
        if read.iter().all(Option::is_none) {
            return Ok(false);
        }
        let titles = self.titles()?;
        let (mut wishes, mut unread): (Vec<(Wish, Task)>, Vec<&str>) = (Vec::new(), Vec::new());
        for (part, about) in parts.iter().zip(read) {
            let name = slots::draft(said.text, part, &self.here).title.unwrap_or_default();
            let found = similar::likeliest(&name, &titles);
            match (about, found.as_slice(), wishes.last_mut()) {
                (Some(about), [task], _) => wishes.push((about.wish(task), task.clone())),
                // "…, due 28 november": more about the same task.
                (Some(Said::Changed(more)), [], Some((Wish::Update(_, change), _))) => {
                    change.priority = more.priority.or(change.priority);
                    change.due = more.due.or(change.due.take());
                }
                // "… and with the dentist": the same of another one.
                (None, [task], Some((wish, _))) => {
                    let wish = super::tasks::with_target(wish, Target::Ids(vec![task.id]));
                    wishes.push((wish, task.clone()));
                }
                (None, _, Some(_)) => unread.push(raw(said.text, part)),
                _ => return Ok(false),
            }
        }
        if wishes.is_empty() {
            return Ok(false);
        }
        for part in unread.into_iter().filter(|part| part.split_whitespace().count() > 1) {
            self.says.push(format!("I did not understand {}.", say::quoted(part)));
        }
        self.offer(wishes)?;
        Ok(true)
    }

    fn says_of(&self, said: &Utterance<'_>, part: &[Word]) -> Option<Said> {
        if begins_any(part, &["undo|reopen"]).is_some() {
            return Some(Said::Open);
        }
        if part.iter().any(|word| word.is_any(UNSURE))
            || begins(part, "what|where|who|how|which|is|are|do|does|did|can").is_some()
        {
            return None;
        }
        let draft = slots::draft(said.text, part, &self.here);
        let due = draft.due.filter(|_| part.iter().any(|word| word.is_any(MOVED)));
        if draft.priority.is_some() || due.is_some() {
            return Some(Said::Changed(Change {
                priority: draft.priority,
                due: due.map(Some),
                ..Change::default()
            }));
        }
        if find_any(part, &["cancelled|canceled|obsolete|irrelevant", "called off", "no longer"]).is_some() {
            return Some(Said::Gone);
        }
        let done = part.iter().any(|word| {
            word.is_any("done|complete|sorted|handled|over|clean|ready|empty|tidy|settled|solved")
                || word.kind == Kind::Plain && similar::is_past(&word.low)
        });
        done.then_some(Said::Done)
    }

    /// "tell me about the report".
    fn asked_about(&mut self, said: &Utterance<'_>) -> Result<bool, Needs> {
        let words = said.words.as_slice();
        let Some(length) = begins_any(words, patterns("asks about one task")) else {
            return Ok(false);
        };
        let rest = words.get(length..).unwrap_or_default();
        if rest.is_empty() || rest.len() > 8 {
            return Ok(false);
        }
        let found = similar::likeliest(raw(said.text, rest), &self.titles()?);
        match found.as_slice() {
            [] => return Ok(false),
            [one] => self.says.push(say::whole(one, &self.here)),
            many => many.iter().for_each(|task| self.says.push(format!("- {}", say::line(task, &self.here)))),
        }
        self.memory.shown.clone_from(&found);
        self.memory.focus = found;
        Ok(true)
    }

    /// "I have to pick up the kids at 5", "buy a card by thursday": a task is offered.
    fn needed(&mut self, said: &Utterance<'_>) -> Result<bool, Needs> {
        let words = crate::read::stripped(&said.words);
        let asks = said.words.last().is_some_and(|word| word.kind == Kind::Sign('?'));
        let needs = begins_any(words, patterns("says that something must be done"));
        let rest = words.get(needs.unwrap_or(0)..).unwrap_or_default();
        let draft = slots::draft(said.text, rest, &self.here);
        let is_bare = rest.first().is_some_and(|word| {
            word.kind == Kind::Plain && !word.is_any(UNSURE) && !word.is_any("i|we|it|the|a|an|my|our|this|that|these|there|you|what|where|which|how|is|are|was|do|does|did|can|no|yes|ok|today|tomorrow|on|at|its|im|ive|theres|thats|his|her|to|more|help|some|be|know|your|of|for|in")
        });
        let fits = !asks && is_bare && rest.len() > 1 && (needs.is_some() || draft.due.is_some());
        if fits && draft.title.is_some() && self.bindings.tool("create-task").is_some() {
            self.offer_tasks(vec![draft])?;
            return Ok(true);
        }
        Ok(false)
    }

    /// What is to be done again and again is there once, and that is said.
    fn repeating(&mut self, repeats: &holds::Apart) -> Result<bool, Needs> {
        let rest = Utterance::new(&repeats.rest);
        let words = crate::read::stripped(&rest.words);
        let first = words.first();
        if first.is_none_or(|word| {
            word.is_any(UNSURE) || word.is_any("i|we|it|you|the|my|what|how|is|are|do|does|there|this|that")
        }) {
            return Ok(false);
        }
        self.says.push(cannot_repeat(&repeats.said));
        let draft = slots::draft(rest.text, words, &self.here);
        let titles = self.titles()?;
        if let [task] = similar::likeliest(draft.title.as_deref().unwrap_or_default(), &titles).as_slice() {
            self.says.push(format!("It is on your list once: {}", say::whole(task, &self.here)));
            self.memory.focus = vec![task.clone()];
            return Ok(true);
        }
        let draft = self.once(draft, &repeats.said);
        self.offer_tasks(vec![draft])?;
        Ok(true)
    }

    /// A task that was to repeat, for its first time.
    pub(super) fn once(&self, mut draft: Draft, repeats: &str) -> Draft {
        let Some(title) = &draft.title else { return draft };
        let (low, phrase) = (title.to_lowercase(), repeats.to_lowercase());
        let bare = match (low.strip_prefix(&phrase), low.strip_suffix(&phrase)) {
            (Some(rest), _) => title.get(title.len() - rest.len()..),
            (_, Some(rest)) => title.get(..rest.len()),
            _ => None,
        };
        if let Some(bare) = bare.map(str::trim).filter(|bare| !bare.is_empty()) {
            draft.title = Some(slots::capital(bare));
            draft.description = draft.description.or(Some(repeats.to_owned()));
        }
        if draft.due.is_none()
            && let Some(day) = holds::first_time(repeats)
            && let Ok(resolved) = toolroom_when::parse(day, self.here.now, self.here.zone)
        {
            draft.due = Some(crate::wish::When { said: day.to_owned(), meaning: Ok(resolved) });
        }
        draft
    }

    /// Asks whether changes shall be made, and shows each of them.
    pub(super) fn offer(&mut self, wishes: Vec<(Wish, Task)>) -> Result<(), Needs> {
        // Where several changes at once are asked about anyway, that question says what each does.
        if wishes.len() > 1 && self.bindings.confirms_deletes {
            return wishes.into_iter().try_for_each(|(wish, task)| {
                self.wish(super::tasks::with_target(&wish, Target::Ids(vec![task.id])))
            });
        }
        let each: Vec<String> = wishes.iter().map(|(wish, task)| exactly(wish, task)).collect();
        let asked = format!("Shall I {}?", each.join("; and "));
        self.says.push(asked.clone());
        let about = |(wish, task): &(Wish, Task)| super::tasks::with_target(wish, Target::Ids(vec![task.id]));
        // "no, the other one" may follow.
        if let [(wish, task)] = wishes.as_slice() {
            self.chose(wish, std::slice::from_ref(task), &[]);
        }
        self.memory.question = Some(Question::Offer(wishes.iter().map(about).collect(), asked));
        self.memory.focus = wishes.into_iter().map(|(_, task)| task).collect();
        Ok(())
    }

    /// Asks whether tasks shall be made, and shows each of them.
    pub(super) fn offer_tasks(&mut self, drafts: Vec<Draft>) -> Result<(), Needs> {
        // A date in doubt is asked about first.
        if drafts.iter().filter_map(|draft| draft.due.as_ref()).any(|when| self.doubt(when).is_some())
            && drafts.len() == 1
        {
            return self.create(drafts);
        }
        let each: Vec<String> = drafts.iter().map(say::draft).collect();
        let text = match each.as_slice() {
            [one] => format!("Shall I add a task {one}?"),
            many => format!("Shall I add these {} tasks: {}?", many.len(), many.join("; ")),
        };
        self.says.push(text.clone());
        self.memory.question = Some(Question::Offer(vec![Wish::Create(drafts)], text));
        Ok(())
    }
}

pub(super) fn cannot_repeat(said: &str) -> String {
    format!("Tasks do not repeat here, so {} is not done: it is there once.", say::quoted(said))
}

/// A change of a task in words.
fn exactly(wish: &Wish, task: &Task) -> String {
    match wish {
        Wish::Update(_, change) => format!("change {}: {}", say::named(task), say::change(change)),
        wish => format!("{} {}", verb(wish), say::named(task)),
    }
}

impl Said {
    fn wish(self, task: &Task) -> Wish {
        let target = Target::Ids(vec![task.id]);
        match self {
            Self::Done => Wish::Complete(target, true),
            Self::Open => Wish::Complete(target, false),
            Self::Gone => Wish::Delete(target),
            Self::Changed(change) => Wish::Update(target, change),
        }
    }
}

/// Whether no rule has read a command out of a message.
fn is_open(said: &Utterance<'_>, heard: &[Heard]) -> bool {
    let looks_up = begins_any(
        &said.words,
        &["search|google|look|find|what|whats|who|when|where|why|how|is|are|does|do|did|can|could|which"],
    )
    .is_some();
    let joins = |target: &Target| matches!(target, Target::Words(words) if words.contains([',', '&', ';']) || words.contains(" and ") || words.contains(" also "));
    heard.iter().all(|one| match &one.wish {
        Wish::SmallTalk(talk) => {
            matches!(talk, SmallTalk::Unknown | SmallTalk::Vague | SmallTalk::Knowledge | SmallTalk::Remark)
        }
        Wish::Search(Some(_)) | Wish::Run(None) => !looks_up,
        Wish::Create(_) => one.strength == Strength::Hint,
        Wish::Complete(target, _) | Wish::Update(target, _) => {
            one.strength == Strength::Hint && (joins(target) || *target == Target::Missing)
        }
        _ => false,
    })
}
