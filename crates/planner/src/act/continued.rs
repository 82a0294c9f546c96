//! What goes on with what was last said, shown or done, as the trained reader sees it: "hmm, wednesday is better", "make
//! that Paula", "that's denver time", "and the oven", "actually don't". Without such a state the same words mean nothing.

use toolroom_model::Asking;
use toolroom_tagger::Intent;

use super::details::renames_a_part;
use super::{Needs, Play};
use crate::memory::{Last, Question};
use crate::read::tagged::{FollowUp, Tagged};
use crate::read::{self, Utterance, target};
use crate::text::{Kind, Word, begins_any, find_any};
use crate::wish::{Change, Draft, Target, Wish, with_target};
use crate::words::patterns;

/// How sure the reader must be that a message goes on with the last one to act on that without a question.
const SURE: f32 = 0.3;
/// A longer message is a wish of its own.
const MOST_WORDS: usize = 20;

impl Play<'_> {
    /// Takes a message that goes on with the last one; `false` if it does not.
    pub(super) fn continued(
        &mut self,
        said: &Utterance<'_>,
        tagged: &Tagged<'_>,
        question: Option<Question>,
        just_done: bool,
    ) -> Result<bool, Needs> {
        let offer = match question {
            Some(Question::Offer(wishes, _)) => Some(wishes),
            _ => None,
        };
        let last = self.memory.last.clone();
        if said.words.len() > MOST_WORDS || offer.is_none() && last.is_none() && self.memory.focus.is_empty()
        {
            return Ok(false);
        }
        if just_done && self.regretted(&said.words) {
            return self.undo().map(|()| true);
        }
        let value = self.noted(said).or_else(|| self.zoned(said));
        let value = value.or_else(|| self.cleared(said)).or_else(|| self.lengthened(said));
        // "10/10", "until tomorrow" after something was done says nothing of it.
        let is_open = offer.is_some()
            || last.as_ref().is_none_or(|last| !matches!(last.wish, Wish::Complete(..) | Wish::Delete(_)));
        let alone = || self.value_alone(said, &said.words).filter(|_| is_open && !is_question(said));
        if let Some(change) = value.or_else(alone) {
            let is_sure = find_any(&said.words, &["maybe|perhaps|possibly|lol|or"]).is_none();
            return self.amend(Target::It, change, offer, is_sure);
        }
        let Some(mut next) = tagged.follow_up(&self.here) else {
            return Ok(false);
        };
        let asks = is_question(said);
        let says_when = next.change.due.is_some() && next.named.is_none();
        // "and friday?"
        if asks && says_when && !self.memory.shown.is_empty() && said.words.len() <= 6 {
            let filter = read::filter::read(said.text, &said.words, &self.here);
            return self.list(&filter).map(|()| true);
        }
        if asks && next.intent != Intent::Pick
            || read::plain::command(said, &self.here).is_some_and(|command| command.is_plain)
        {
            return Ok(false);
        }
        self.naming = tagged.naming();
        // "the slides too"
        let adds = find_any(&said.words, &["too|also|aswell|likewise", "as well"]).is_some()
            || begins_any(&said.words, &["and|also|plus"]).is_some();
        if adds && next.change.is_empty() && matches!(next.target, Target::Words(_) | Target::Ids(_)) {
            next.intent = Intent::More;
        }
        // "and mom is fine" is no "and mom".
        if next.intent == Intent::More && !tagged.is_whole(&(0..tagged.text.len())) {
            next.sure = 0.0;
        }
        self.complete_change(&mut next, said, last.as_ref());
        if let Some([Wish::Create(drafts)]) = offer.as_deref()
            && self.amend_some(drafts, &next)?
        {
            return Ok(true);
        }
        if self.amend_named(&next)? {
            return Ok(true);
        }
        match next.intent {
            Intent::No if offer.is_some() && next.change.is_empty() => {
                self.says.push("All right, I leave it at that.".into());
                Ok(true)
            }
            // "actually don't", "no wait": what is done is taken back only after a yes.
            Intent::No | Intent::Restore if just_done && is_bare(&next) => Ok(self.offer_undo(said)),
            Intent::Amend | Intent::No | Intent::Pick if !next.change.is_empty() => {
                let done = last
                    .as_ref()
                    .is_some_and(|last| matches!(last.wish, Wish::Complete(..) | Wish::Delete(_)));
                let doubts = is_question(said) || find_any(&said.words, &["maybe|perhaps|lol|or"]).is_some();
                let is_sure = next.sure >= SURE && !renames_a_part(&next, said) && !done && !doubts;
                self.amend(next.target, next.change, offer, is_sure)
            }
            // "it's due tomorrow", "push it back by an hour": about what was just spoken of.
            Intent::Update if is_it(&next.target) && !next.change.is_empty() && offer.is_some() => {
                self.amend(next.target, next.change, offer, true)
            }
            Intent::Delete if offer.is_some() => self.offer_less(offer, &next),
            Intent::Amend | Intent::Pick | Intent::No => self.meant(last, next, said),
            Intent::More => self.once_more(last, offer, next, said),
            _ if is_bare_of_names(&next) => self.said_of_it(said, next, offer),
            _ => Ok(false),
        }
    }

    fn offer_undo(&mut self, said: &Utterance<'_>) -> bool {
        let takes_back = find_any(&said.words, patterns("may take back")).is_some() && said.words.len() <= 8;
        if takes_back {
            let asked = "That is done already. Shall I take it back?";
            self.ask_for(asked, Question::Offer(vec![Wish::Undo], asked.to_owned()));
        }
        takes_back
    }

    /// "it takes place on the 12th", "both for the 27th please": a date or a priority for what was just spoken of is
    /// offered, whatever the words around it.
    fn said_of_it(
        &mut self,
        said: &Utterance<'_>,
        next: FollowUp,
        offer: Option<Vec<Wish>>,
    ) -> Result<bool, Needs> {
        let change = Change { description: None, ..next.change };
        let is_read = !change.is_empty() && change.due.iter().flatten().all(|when| when.meaning.is_ok());
        let many = find_any(&said.words, &["both|all|them|those|these|each"]).is_some();
        let known = if many { self.memory.shown.len() > 1 } else { self.memory.focus.len() == 1 };
        if !is_read || is_question(said) || !(known || offer.is_some()) {
            return Ok(false);
        }
        self.amend(if many { Target::Them } else { Target::It }, change, offer, false)
    }

    /// "scratch that", "that's not done yet" right after a change.
    fn regretted(&self, words: &[Word]) -> bool {
        let is_parted = |word: &Word| matches!(word.kind, Kind::Sign(',' | '.' | '!' | ';'));
        let last = words.rsplit(is_parted).find(|part| !part.is_empty()).unwrap_or(words);
        [words, last].into_iter().map(target::trimmed_of_signs).any(|words| {
            let regrets = begins_any(words, patterns("regrets right after a change"));
            regrets.or_else(|| begins_any(words, patterns("undoes"))) == Some(words.len())
        })
    }

    /// "no, i meant the plants", "the oven, i mean", "the second one".
    fn meant(&mut self, last: Option<Last>, next: FollowUp, said: &Utterance<'_>) -> Result<bool, Needs> {
        let Some(last) = last.filter(|last| last.wish.target().is_some()) else { return Ok(false) };
        let target = match &next.target {
            Target::Missing | Target::It | Target::All(_) => return Ok(false),
            // "only the first" of several that wait for a yes.
            Target::Places(places) if !last.done && last.chosen.len() > 1 => {
                Target::Ids(places.iter().filter_map(|at| Some(last.chosen.get(*at)?.id)).collect())
            }
            target => target.clone(),
        };
        let wishes = self.instead(&last, target);
        // Nothing that is done is taken back for a bare number or name.
        if last.done && find_any(&said.words, patterns("corrects")).is_none() {
            self.asking = Asking::First;
        }
        wishes.into_iter().try_for_each(|wish| self.wish(wish))?;
        Ok(true)
    }

    /// "and pay the internet bill too", "and the oven", "same for the tyres", "and the parcel on tuesday".
    fn once_more(
        &mut self,
        last: Option<Last>,
        offer: Option<Vec<Wish>>,
        next: FollowUp,
        said: &Utterance<'_>,
    ) -> Result<bool, Needs> {
        let before = offer.as_ref().and_then(|wishes| wishes.last().cloned());
        let Some(before) = before.or(last.map(|last| last.wish)) else { return Ok(false) };
        let is_same = find_any(&said.words, &["same|ditto|likewise"]).is_some();
        // "and mia's to the 19th"
        let mut next = next;
        if let (Target::Missing, Some(name)) = (&next.target, &next.named) {
            next.target = Target::Words(name.clone());
        }
        let wish = match &before {
            Wish::Create(drafts) => match (drafts.last(), next.drafts) {
                (Some(old), new) if !new.is_empty() => {
                    let names = |draft: &Draft| {
                        let title = draft.title.as_deref().unwrap_or_default().to_lowercase();
                        said.text.to_lowercase().contains(&format!("the {title}"))
                    };
                    let each = new.into_iter().map(|mut draft| {
                        draft.due = draft.due.map(|due| self.on_its_day(due, old.due.as_ref()));
                        let is_thing = names(&draft);
                        taken_over(draft, old, is_same, is_thing)
                    });
                    Wish::Create(each.collect())
                }
                _ => return Ok(false),
            },
            Wish::Update(..) if next.target != Target::Missing && !next.change.is_empty() => {
                Wish::Update(next.target, next.change)
            }
            wish if wish.is_change() && next.target != Target::Missing => with_target(wish, next.target),
            _ => return Ok(false),
        };
        match offer {
            // Nothing of what was offered is lost, and nothing is done before a yes.
            Some(mut wishes) => {
                wishes.push(wish);
                self.propose(joined(wishes))?;
            }
            None if next.sure >= SURE => self.wish(wish)?,
            None => self.hinted(wish)?,
        }
        Ok(true)
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

/// Whether a message asks, rather than tells. "can you make that friday?" tells.
fn is_question(said: &Utterance<'_>) -> bool {
    let words = said
        .words
        .get(begins_any(&said.words, &["so|and|ok|okay|alright|hmm|wait|but|then*"]).unwrap_or(0)..);
    let words = words.unwrap_or_default();
    let tells = begins_any(words, &["can|could|would|will|may|might you|we|i|it"]).is_some();
    let asks =
        begins_any(words, &["what|whats|which|how|when|who|do|does|is|are|anything|have|did"]).is_some();
    asks || !tells && said.words.last().is_some_and(|word| word.kind == Kind::Sign('?'))
}

/// New tasks of several wishes as one wish.
pub(super) fn joined(wishes: Vec<Wish>) -> Vec<Wish> {
    if !wishes.iter().all(|wish| matches!(wish, Wish::Create(_))) || wishes.is_empty() {
        return wishes;
    }
    let drafts = wishes.into_iter().flat_map(|wish| match wish {
        Wish::Create(drafts) => drafts,
        _ => Vec::new(),
    });
    vec![Wish::Create(drafts.collect())]
}

/// "same for bread" takes over the date, the priority and the verb of the last task; "and the plumber" only the verb.
fn taken_over(mut draft: Draft, old: &Draft, is_same: bool, is_thing: bool) -> Draft {
    if is_same {
        draft.due = draft.due.or_else(|| old.due.clone());
        draft.priority = draft.priority.or(old.priority);
    }
    let verb = old.title.as_deref().and_then(|title| title.split_once(' ')).map(|(verb, _)| verb);
    let title = draft.title.clone().unwrap_or_default();
    if let Some(verb) = verb.filter(|_| (is_same || is_thing) && title.split_whitespace().count() <= 2) {
        let article = if is_thing { "the " } else { "" };
        draft.title = Some(format!("{verb} {article}{}", title.to_lowercase()));
    }
    draft
}

fn is_it(target: &Target) -> bool {
    matches!(target, Target::Missing | Target::It)
}

/// Whether no task is named, and nothing is to be made.
fn is_bare_of_names(next: &FollowUp) -> bool {
    next.named.is_none() && matches!(next.target, Target::Missing | Target::It | Target::Them)
}

/// Whether nothing but the intent was said.
fn is_bare(next: &FollowUp) -> bool {
    next.change.is_empty() && next.drafts.is_empty() && is_it(&next.target)
}
