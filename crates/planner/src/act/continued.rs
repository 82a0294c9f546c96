//! What goes on with what was last said, shown or done, as the trained reader sees it: "hmm, wednesday is better", "make
//! that Paula", "that's denver time", "and the oven", "actually don't". Without such a state the same words mean nothing.

use toolroom_tagger::Intent;

use super::tasks::with_target;
use super::{Needs, Play};
use crate::memory::{Last, Question};
use crate::read::tagged::{FollowUp, LIKELY, Tagged};
use crate::read::{Utterance, slots, spans};
use crate::text::{Kind, begins_any, find_any, raw};
use crate::wish::{Change, Draft, Target, When, Wish};
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
        let value = self.noted(said).or_else(|| self.zoned(said));
        let value = value.or_else(|| self.cleared(said)).or_else(|| self.lengthened(said));
        if let Some(change) = value {
            return self.amend(change, offer, true);
        }
        let Some(mut next) = tagged.follow_up(&self.here).filter(|next| next.sure >= LIKELY) else {
            return Ok(false);
        };
        self.naming = tagged.naming();
        // "the slides too"
        let adds = find_any(&said.words, &["too|also|aswell|likewise", "as well"]).is_some()
            || begins_any(&said.words, &["and|also|plus"]).is_some();
        if adds && next.change.is_empty() && matches!(next.target, Target::Words(_) | Target::Ids(_)) {
            next.intent = Intent::More;
        }
        self.complete_change(&mut next, said, last.as_ref());
        if let Some([Wish::Create(drafts)]) = offer.as_deref()
            && self.amend_some(drafts, &next)?
        {
            return Ok(true);
        }
        match next.intent {
            Intent::Yes if offer.is_some() => {
                let wishes = offer.unwrap_or_default();
                wishes.into_iter().try_for_each(|wish| self.wish(wish))?;
                Ok(true)
            }
            Intent::No if offer.is_some() && next.change.is_empty() => {
                self.says.push("All right, I leave it at that.".into());
                Ok(true)
            }
            Intent::No | Intent::Restore if just_done && is_bare(&next) => self.undo().map(|()| true),
            Intent::Amend | Intent::No if !next.change.is_empty() => {
                let is_sure = next.sure >= SURE && !renames_a_part(&next, said);
                self.amend(next.change, offer, is_sure)
            }
            // "it's due tomorrow", "push it back by an hour": about what was just spoken of.
            Intent::Update if is_it(&next.target) && !next.change.is_empty() && offer.is_some() => {
                self.amend(next.change, offer, true)
            }
            Intent::Amend | Intent::Pick | Intent::No => self.meant(last, next, said),
            Intent::More => self.once_more(last, next, said),
            _ => Ok(false),
        }
    }

    /// "note: bring the ID" right after a task was made or shown.
    fn noted(&self, said: &Utterance<'_>) -> Option<Change> {
        let length = begins_any(&said.words, patterns("is a note on what was just done"))?;
        said.words.get(length).filter(|word| word.kind == Kind::Sign(':'))?;
        let text = raw(said.text, said.words.get(length + 1..)?).trim();
        let is_known = self.memory.focus.len() == 1 && !text.is_empty();
        is_known.then(|| Change {
            description: Some(Some(text.to_owned())),
            appends: true,
            ..Change::default()
        })
    }

    /// "that's denver time by the way".
    fn zoned(&self, said: &Utterance<'_>) -> Option<Change> {
        let due = due_of(&self.memory.last.as_ref()?.wish)?;
        let time = said.words.iter().position(|word| word.is("time")).filter(|_| said.words.len() <= 10)?;
        (1..=time.min(2)).rev().find_map(|count| {
            let zone = raw(said.text, said.words.get(time - count..=time)?);
            let named = slots::date(&format!("{} {zone}", due.said), &self.here);
            named.meaning.is_ok().then(|| Change { due: Some(Some(named)), ..Change::default() })
        })
    }

    /// "one more day please" after a date was changed.
    fn lengthened(&self, said: &Utterance<'_>) -> Option<Change> {
        let last = self.memory.last.as_ref()?;
        let moves =
            matches!(&last.wish, Wish::Update(_, change) if change.days.is_some() || change.due.is_some());
        let adds = find_any(&said.words, &["more|another"]).is_some();
        let (days, minutes) = toolroom_when::length(said.text).filter(|_| moves && adds)?;
        let some = |value: i64| (value != 0).then_some(value);
        Some(Change { days: some(days), minutes: some(minutes), ..Change::default() })
    }

    /// "remove the date again", "no date after all".
    fn cleared(&self, said: &Utterance<'_>) -> Option<Change> {
        let takes = find_any(&said.words, patterns("takes a field away"))?;
        let field =
            find_any(&said.words, &["due? date", "deadline"]).filter(|field| field.start > takes.start)?;
        let beside = |word: &&crate::text::Word| {
            !word.is_sign()
                && !word
                    .is_any("the|its|a|again|please|after|all|actually|oh|and|now|then|it|from|needed|off")
        };
        let others = said.words.iter().filter(beside).count();
        let is_alone = others <= field.len() + 1 && self.memory.focus.len() == 1;
        is_alone.then(|| Change { due: Some(None), ..Change::default() })
    }

    /// What a follow-up says without a word that the reader has marked.
    fn complete_change(&self, next: &mut FollowUp, said: &Utterance<'_>, last: Option<&Last>) {
        if !matches!(next.intent, Intent::Amend | Intent::Pick | Intent::No) {
            return;
        }
        let due = last.and_then(|last| due_of(&last.wish));
        // "sorry, 13" after a change of task 3 is a task, not a day.
        let number = match &next.change.due {
            Some(Some(when)) => when.said.trim().parse::<i64>().ok(),
            _ => None,
        };
        let acts = last
            .is_some_and(|last| matches!(last.wish, Wish::Complete(..) | Wish::Delete(_) | Wish::Show(_)));
        if let Some(id) = number.filter(|_| acts) {
            next.target = Target::Ids(vec![id]);
            next.change.due = None;
        }
        // "no wait, 11" after "tomorrow at 10" is an hour of the same half of the day.
        if let (Some(hour @ 1..=12), false, Some(Ok(old))) = (number, acts, due.map(|due| &due.meaning))
            && let toolroom_when::Due::Instant(_) = old.due
        {
            let at = old.due.instant_in(self.here.zone).at();
            let late = self.here.zone.to_datetime(at).hour() >= 12;
            let hour = if late && hour < 12 { hour + 12 } else { hour };
            next.change.due = Some(Some(slots::date(&format!("{hour}:00"), &self.here)));
        }
        if next.change.is_empty() && next.target == Target::Missing {
            let (days, minutes) = toolroom_when::length(said.text).unwrap_or_default();
            next.change.days = (days != 0).then_some(days);
            next.change.minutes = (minutes != 0).then_some(minutes);
        }
        // "make it two hours" after "in an hour".
        let is_ahead = due.is_some_and(|when| when.said.to_lowercase().starts_with("in "));
        let adds = find_any(&said.words, &["more|later|earlier|another|extra|back|forward|sooner"]).is_some();
        if let (true, false, Some(minutes)) = (is_ahead, adds, next.change.minutes) {
            next.change.minutes = None;
            next.change.due = Some(Some(slots::date(&format!("in {minutes} minutes"), &self.here)));
        }
        if let (Some(zone), Some(when)) = (&next.zone, due) {
            next.change.due = Some(Some(self.in_zone(when, zone)));
        }
        let title = last.and_then(|last| match &last.wish {
            Wish::Create(drafts) => drafts.last()?.title.clone(),
            _ => None,
        });
        let is_empty = next.change.is_empty() && next.intent == Intent::Amend && title.is_some();
        if let (Target::Words(new), true) = (&next.target, is_empty) {
            next.change.title = Some(new.clone());
            next.target = Target::Missing;
        }
        if let (Some(old), Some(new)) = (&title, &next.change.title)
            && !is_whole_name(said)
        {
            next.change.title = Some(replaced(old, new, next.old.as_deref()));
        }
    }

    /// The same date on the clocks of another zone.
    fn in_zone(&self, when: &When, zone: &str) -> When {
        let zone = zone.trim();
        let named = slots::date(&format!("{} {zone}", when.said), &self.here);
        if named.meaning.is_ok() {
            named
        } else {
            slots::date(&format!("{} {zone} time", when.said), &self.here)
        }
    }

    /// "the last one has time until friday", of several tasks that are offered: all are offered again.
    fn amend_some(&mut self, drafts: &[Draft], next: &FollowUp) -> Result<bool, Needs> {
        let places = match &next.target {
            Target::Places(places) => places.clone(),
            Target::Last => vec![drafts.len().saturating_sub(1)],
            _ => return Ok(false),
        };
        if drafts.len() < 2 || next.change.is_empty() || places.iter().any(|place| *place >= drafts.len()) {
            return Ok(false);
        }
        let mut drafts = drafts.to_vec();
        for (at, draft) in drafts.iter_mut().enumerate() {
            if places.contains(&at) {
                spans::amend(draft, &next.change);
            }
        }
        self.offer_tasks(drafts).map(|()| true)
    }

    /// Changes what is offered, or what was just made or spoken of.
    fn amend(&mut self, change: Change, offer: Option<Vec<Wish>>, is_sure: bool) -> Result<bool, Needs> {
        match offer.as_deref() {
            Some([Wish::Create(drafts)]) => {
                let mut drafts = drafts.clone();
                for draft in &mut drafts {
                    let mut change = change.clone();
                    let due =
                        change.due.take().map(|due| due.map(|due| self.on_its_day(due, draft.due.as_ref())));
                    spans::amend(draft, &Change { due, ..change });
                }
                return if is_sure { self.create(drafts) } else { self.offer_tasks(drafts) }.map(|()| true);
            }
            Some([Wish::Update(target, old)]) => {
                let mut whole = old.clone();
                spans::join(&mut whole, change);
                return self.wish(Wish::Update(target.clone(), whole)).map(|()| true);
            }
            Some(_) => return Ok(false),
            None => {}
        }
        let acts = self.memory.last.as_ref().is_some_and(|last| {
            matches!(
                last.wish,
                Wish::Create(_) | Wish::Update(..) | Wish::Show(_) | Wish::Complete(..) | Wish::List(_)
            )
        });
        if self.memory.focus.len() != 1 && self.memory.last.as_ref().is_none_or(|last| last.done)
            || !acts && self.memory.focus.is_empty()
        {
            return Ok(false);
        }
        let wish = Wish::Update(Target::It, change);
        if is_sure {
            self.wish(wish)?
        } else {
            self.hinted(wish)?
        }
        Ok(true)
    }

    /// "no, i meant the plants", "the oven, i mean", "the second one".
    fn meant(&mut self, last: Option<Last>, next: FollowUp, said: &Utterance<'_>) -> Result<bool, Needs> {
        let Some(last) = last else { return Ok(false) };
        let acts = matches!(
            last.wish,
            Wish::Complete(..) | Wish::Delete(_) | Wish::Update(..) | Wish::Restore(_) | Wish::Show(_)
        );
        if !acts || matches!(next.target, Target::Missing | Target::It | Target::All(_)) {
            return Ok(false);
        }
        let wishes = self.corrected(said).unwrap_or_else(|| self.instead(&last, next.target));
        wishes.into_iter().try_for_each(|wish| self.wish(wish))?;
        Ok(true)
    }

    /// "and pay the internet bill too", "and the oven", "same for the tyres".
    fn once_more(&mut self, last: Option<Last>, next: FollowUp, said: &Utterance<'_>) -> Result<bool, Needs> {
        let Some(last) = last else { return Ok(false) };
        // "same for …" takes over more than the verb, which the rules know.
        if find_any(&said.words, &["same|ditto|likewise"]).is_some() {
            return Ok(false);
        }
        let wish = match &last.wish {
            Wish::Create(_) if !next.drafts.is_empty() => Wish::Create(next.drafts),
            Wish::Complete(..) | Wish::Delete(_) | Wish::Restore(_) | Wish::Update(..)
                if next.target != Target::Missing =>
            {
                with_target(&last.wish, next.target)
            }
            _ => return Ok(false),
        };
        if next.sure >= SURE {
            self.wish(wish)?
        } else {
            self.hinted(wish)?
        }
        Ok(true)
    }
}

fn is_it(target: &Target) -> bool {
    matches!(target, Target::Missing | Target::It)
}

/// Whether nothing but the intent was said.
fn is_bare(next: &FollowUp) -> bool {
    next.change.is_empty() && next.drafts.is_empty() && is_it(&next.target)
}

/// "make that Paula": which part of the title is meant is a guess.
fn renames_a_part(next: &FollowUp, said: &Utterance<'_>) -> bool {
    next.change.title.is_some() && !is_whole_name(said)
}

/// "rename it to …", "make that 'file expenses'": the whole title is said.
fn is_whole_name(said: &Utterance<'_>) -> bool {
    find_any(&said.words, patterns("gives a new name")).is_some()
        || said.words.iter().any(|word| word.kind == Kind::Quoted)
}

fn due_of(wish: &Wish) -> Option<&When> {
    match wish {
        Wish::Create(drafts) => drafts.last()?.due.as_ref(),
        Wish::Update(_, change) => change.due.as_ref()?.as_ref(),
        _ => None,
    }
}

/// A title with one part of it replaced: what was named, else words that the new ones share, else a name by a name,
/// else what is done to something.
fn replaced(title: &str, new: &str, old: Option<&str>) -> String {
    if let Some(old) = old.filter(|old| title.contains(old)) {
        return title.replacen(old, new, 1);
    }
    let words: Vec<&str> = title.split_whitespace().collect();
    let news: Vec<&str> = new.split_whitespace().collect();
    let is_same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
    let with = |at: usize, count: usize| -> String {
        let front = words.get(..at).unwrap_or_default();
        let back = words.get(at + count..).unwrap_or_default();
        [front, news.as_slice(), back].concat().join(" ")
    };
    // A new title begins with what is to be done, as the old one does.
    if news.first().zip(words.first()).is_some_and(|(a, b)| is_same(a, b)) || news.len() > 3 {
        return slots::capital(new);
    }
    if let Some(at) = words.iter().rposition(|word| news.last().is_some_and(|last| is_same(word, last))) {
        return with(at, 1);
    }
    let is_name = |word: &&str| word.starts_with(char::is_uppercase);
    let names: Vec<usize> = (1..words.len()).filter(|at| words.get(*at).is_some_and(is_name)).collect();
    if let ([at], true) = (names.as_slice(), news.iter().all(is_name)) {
        return with(*at, 1);
    }
    if words.len() == 2 { with(1, 1) } else { slots::capital(new) }
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn a_part_of_a_title_is_replaced_by_what_fits_its_place() {
        for (title, new, old, expected) in [
            ("Lunch with Paul", "Paula", None, "Lunch with Paula"),
            ("Buy milk", "oat milk", None, "Buy oat milk"),
            ("Buy bread", "rolls", None, "Buy rolls"),
            ("Call Tom about the car", "Tim", Some("Tom"), "Call Tim about the car"),
            ("Buy a new toaster", "buy a new kettle", None, "Buy a new kettle"),
            ("Clean the house", "wash the car on monday", None, "Wash the car on monday"),
        ] {
            assert_eq!(replaced(title, new, old), expected, "{title} with {new}");
        }
    }
}
