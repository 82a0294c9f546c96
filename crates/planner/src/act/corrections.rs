//! Corrections of what was said before: "no, the other one", "I meant task 6", "no, friday".

use toolroom_model::Asking;

use super::Play;
use super::tasks::with_target;
use crate::memory::Last;
use crate::read::{self, Utterance, priority, slots, target, unquoted};
use crate::seen::Task;
use crate::similar;
use crate::text::{Word, begins, begins_any, raw};
use crate::wish::{Change, Heard, Strength, Target, Wish};

impl Play<'_> {
    /// "no, the other one", "I meant task 6", "not that one, the second".
    pub(super) fn corrected(&mut self, said: &Utterance<'_>) -> Option<Vec<Wish>> {
        let last = self.memory.last.clone()?;
        let words = meant_instead(said.words.as_slice());
        let lead = begins_any(
            words,
            &[
                "no|nope|nah|wait|actually|sorry|oops|hmm|oh|well|argh|not|that|one|it|this|wrong|task|i|meant|mean|was|talking|about|said|rather*",
            ],
        );
        let rest = words.get(lead.unwrap_or(0)..)?;
        let rest = rest.get(rest.iter().take_while(|word| word.is_sign()).count()..)?;
        let rest = rest.get(
            begins(rest, "i|meant|mean|but|rather|instead|its|make|do|it|was|only|just|that*")
                .filter(|taken| *taken < rest.len())
                .unwrap_or(0)..,
        )?;
        let acts = matches!(
            last.wish,
            Wish::Complete(..) | Wish::Delete(_) | Wish::Update(..) | Wish::Restore(_) | Wish::Show(_)
        );
        let object = target::trimmed(rest);
        let found = target::read(said.text, object, &self.here);
        let said_no = |word: &Word| word.is_any("no|nope|nah|wait|actually|sorry|oops|not|wrong|meant|mean");
        let negative = words.len() < said.words.len()
            || words.get(..lead.unwrap_or(0))?.iter().any(said_no)
            || begins(words, "i meant|mean").is_some();
        if acts && found == Target::Other {
            return Some(self.instead(&last, found));
        }
        // "the first one" while several wait for a yes: only that one.
        if acts && !last.done && last.chosen.len() > 1 {
            let picked: Vec<i64> = match &found {
                Target::Places(places) => {
                    places.iter().filter_map(|at| Some(last.chosen.get(*at)?.id)).collect()
                }
                Target::Last => last.chosen.last().map(|task| task.id).into_iter().collect(),
                _ => Vec::new(),
            };
            if !picked.is_empty() {
                return Some(vec![with_target(&last.wish, Target::Ids(picked))]);
            }
        }
        if acts && negative && !object.is_empty() && is_object(object, &found, &last.candidates, said.text) {
            return Some(self.instead(&last, found));
        }
        // "no, the slides", while the wish waits for its yes.
        let instead = !last.done && begins(object, "the|my").is_some();
        let meant = instead || words.iter().any(|word| word.is_any("meant|mean"));
        if acts && negative && meant && matches!(found, Target::Words(_)) && object.len() <= 6 {
            return Some(self.instead(&last, found));
        }
        // "no, friday", "I said high priority"
        if negative && matches!(last.wish, Wish::Create(_) | Wish::Update(..)) && object.len() <= 6 {
            if let Some(priority) = priority::alone(object) {
                return Some(vec![Wish::Update(
                    Target::It,
                    Change { priority: Some(priority), ..Change::default() },
                )]);
            }
            if let Some(due) = slots::date_alone(said.text, object, &self.here) {
                return Some(vec![Wish::Update(
                    Target::It,
                    Change { due: Some(Some(due)), ..Change::default() },
                )]);
            }
        }
        // "no, call it …": a wish of its own behind the no, or another title.
        if negative && !rest.is_empty() && rest.len() < words.len() {
            let start = words
                .iter()
                .position(|word| !said_no(word) && !word.is_sign() && !word.is_any("oh|hmm|well|argh"))?;
            let behind = raw(said.text, words.get(start..)?);
            let heard = read::wishes(&Utterance::new(behind), &self.here);
            let acts = |one: &Heard| {
                one.strength == Strength::Strong
                    && !matches!(one.wish, Wish::SmallTalk(_) | Wish::Search(_) | Wish::Run(_))
            };
            if heard.iter().all(acts) && !heard.is_empty() {
                return Some(heard.into_iter().map(|one| one.wish).collect());
            }
            let renames = begins(words.get(start..)?, "make|call it|that").is_some();
            if renames && matches!(last.wish, Wish::Create(_)) {
                let title = unquoted(said.text, object);
                let change = Change { title: Some(slots::capital(&title)), ..Change::default() };
                return Some(vec![Wish::Update(Target::It, change)]);
            }
        }
        None
    }

    /// The last wish with another task; what was completed by mistake is opened again.
    pub(super) fn instead(&mut self, last: &Last, target: Target) -> Vec<Wish> {
        let mut wishes = Vec::new();
        let ids: Vec<i64> = last.chosen.iter().map(|task| task.id).collect();
        if last.done && !ids.is_empty() {
            match &last.wish {
                Wish::Complete(_, done) => wishes.push(Wish::Complete(Target::Ids(ids), !done)),
                Wish::Delete(_) if self.bindings.tool("restore-task").is_some() => {
                    wishes.push(Wish::Restore(Target::Ids(ids)))
                }
                Wish::Update(_, change) => {
                    let known = last.before.iter().filter(|task| !task.title.is_empty());
                    wishes
                        .extend(known.map(|task| {
                            Wish::Update(Target::Ids(vec![task.id]), self.reverse(change, task))
                        }));
                }
                _ => {}
            }
        }
        if wishes.len() == 1 {
            self.asking = Asking::Corrects;
        }
        wishes.push(with_target(&last.wish, target));
        wishes
    }
}

/// Whether words are the object of a correction: a number, a place, "the … one", or words of a candidate.
fn is_object(words: &[Word], found: &Target, candidates: &[Task], _text: &str) -> bool {
    match found {
        Target::Ids(_) => {
            begins(words, "task|todo|number|#|the|id").is_some()
                || words.iter().all(|word| word.is_sign() || word.number().is_some() || word.is("and"))
        }
        Target::Places(_) | Target::Last | Target::Other => true,
        Target::Words(name) => {
            let marked = begins(words, "the|my").is_some()
                && words.last().is_some_and(|word| word.is_any("one|task|todo|reminder|item"));
            marked || similar::best(name, candidates.to_vec()).len() == 1
        }
        _ => false,
    }
}

/// "not the oven, the light": what comes behind the comma.
fn meant_instead(words: &[Word]) -> &[Word] {
    let not = words.iter().position(|word| word.is("not")).filter(|at| *at <= 4);
    let comma = words.iter().rposition(|word| matches!(word.kind, crate::text::Kind::Sign(',')));
    match (not, comma) {
        (Some(not), Some(comma)) if comma > not + 1 && comma + 1 < words.len() => {
            words.get(comma + 1..).unwrap_or(words)
        }
        _ => words,
    }
}
