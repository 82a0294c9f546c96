//! Decides what to do with a message that two readers have read, the rules and the trained one. What both read alike is
//! done; where they differ, or one alone sees a change, the exact change is shown and asked about. An offer changes
//! nothing.

use toolroom_model::Asking;
use toolroom_tagger::{Intent, SpanKind};

use super::alike::{content, is_quoted, same};
use super::held::is_change;
use super::statements::cannot_repeat;
use super::{Needs, Play, others};
use crate::read::slots;
use crate::read::spans::is_reference;
use crate::read::tagged::{Seen, Tagged};
use crate::read::{self, Utterance, clauses, holds};
use crate::wish::{Draft, Filter, Heard, SmallTalk, Strength, Target, When, Wish};

/// A longer clause is not read a second time.
const MOST_BYTES: usize = 300;
/// How sure it must be where the rules are sure of something that is no change.
pub(super) const SURE: f32 = 0.6;

impl Play<'_> {
    /// The changes that the trained reader sees, with what the rules read better in the same words. What is not to be
    /// done is left out.
    pub(super) fn seen(&self, tagged: &Tagged<'_>) -> Vec<Seen> {
        let mut found = tagged.changes(&self.here);
        let holds = [SpanKind::Negation, SpanKind::Retraction];
        found.retain(|seen| !holds.iter().any(|kind| tagged.is_in(*kind, &seen.place)));
        for seen in &mut found {
            let said = tagged.text.get(seen.place.clone()).unwrap_or_default();
            // A long story was read once already.
            let said = if said.len() <= MOST_BYTES { said } else { "" };
            let ruled = read::wishes(&Utterance::new(said), &self.here);
            // "undo the library books, I still have them" brings nothing back that was deleted.
            let reopens = |one: &&Heard| matches!(one.wish, Wish::Complete(_, false));
            if let (Wish::Restore(_), Some(one)) = (&seen.wish, ruled.iter().find(reopens)) {
                seen.wish = one.wish.clone();
            }
            if let Some(ruled) = ruled.iter().find(|one| is_kin(&one.wish, &seen.wish)) {
                fill(&mut seen.wish, &ruled.wish, said);
            }
            let known = !self.memory.focus.is_empty() || !self.memory.shown.is_empty();
            if let Some(target) =
                target_mut(&mut seen.wish).filter(|target| **target == Target::Missing && known)
            {
                *target = Target::It;
            }
        }
        found
    }

    /// Does, or offers, the changes of a message; `false` if there is none in it.
    pub(super) fn decided(
        &mut self,
        tagged: &Tagged<'_>,
        heard: &[Heard],
        seen: Vec<Seen>,
    ) -> Result<bool, Needs> {
        let ruled: Vec<&Heard> = heard.iter().filter(|one| is_change(one)).collect();
        if heard.iter().any(|one| others::named_tool(self.bindings, tagged.text, one).is_some()) {
            return Ok(false);
        }
        let others: Vec<&Heard> = heard
            .iter()
            .filter(|one| matches!(one.wish, Wish::List(_) | Wish::Show(_) | Wish::Find(_)))
            .collect();
        let sure = seen.iter().map(|seen| seen.sure).fold(1.0, f32::min);
        let is_same = seen.len() == ruled.len()
            && seen.iter().zip(&ruled).all(|(seen, ruled)| {
                ruled.strength > Strength::Hint && same(&seen.wish, &ruled.wish, tagged.text)
            });
        let offered = match (seen.is_empty(), ruled.is_empty()) {
            (true, true) => return Ok(false),
            // What is taken back or brought back is known from the conversation.
            (true, false) if ruled.iter().all(|one| matches!(one.wish, Wish::Undo | Wish::Restore(_))) => {
                return Ok(false);
            }
            (true, false) => ruled.iter().map(|one| one.wish.clone()).collect(),
            (false, _) if is_same && repeats(tagged).is_none() && others.is_empty() => {
                let wishes =
                    seen.into_iter().zip(&ruled).map(|(seen, ruled)| as_named(seen.wish, &ruled.wish));
                return self.agreed(wishes.collect()).map(|()| true);
            }
            (false, _) if is_same && repeats(tagged).is_none() => return Ok(false),
            (false, true) if sure < SURE && heard.iter().any(is_plain) => return Ok(false),
            (false, false) if self.is_command(tagged, &seen, &ruled)? => {
                ruled.iter().map(|one| one.wish.clone()).collect()
            }
            (false, _) => seen.into_iter().map(|seen| seen.wish).collect(),
        };
        if tagged.unread() > 0 {
            self.says.push("I read only the beginning and the end of your message closely.".into());
        }
        let offered = self.once_each(tagged, offered);
        self.propose(offered)?;
        // A question beside them is answered, too.
        if tagged.wants(&[Intent::List, Intent::Get, Intent::Find]) >= SURE {
            others.into_iter().try_for_each(|one| self.wish(one.wish.clone()))?;
        }
        Ok(true)
    }

    /// Whether a message commands a change of a task that is there, and is no new one: "complete the drill".
    fn is_command(&mut self, tagged: &Tagged<'_>, seen: &[Seen], ruled: &[&Heard]) -> Result<bool, Needs> {
        const COMMANDS: &str = "cancel|complete|delete|remove|rename|reopen|restore|mark|tick|move|change|update|bump|raise|lower|reschedule|postpone";
        let said = Utterance::new(tagged.text);
        let leads = said.words.iter().find(|word| !word.is_sign()).is_some_and(|word| word.is_any(COMMANDS));
        match (seen, ruled) {
            // "delete everything that's done" marks nothing as done.
            ([seen], [ruled])
                if !matches!(seen.wish, Wish::Create(_)) && !is_kin(&seen.wish, &ruled.wish) =>
            {
                Ok(leads && ruled.strength == Strength::Strong && matches!(ruled.wish, Wish::Delete(_)))
            }
            ([Seen { wish: Wish::Create(_), .. }], [ruled]) => {
                let gives = matches!(&ruled.wish, Wish::Update(_, change) if !change.is_empty());
                let is_plain = leads || gives && ruled.strength == Strength::Strong;
                match target_of(&ruled.wish).filter(|_| is_plain) {
                    Some(Target::Words(words)) => Ok(!self.matching(&words.clone())?.is_empty()),
                    _ => Ok(false),
                }
            }
            // What nobody has is new: "chuck 'new tyres' onto the list".
            ([seen], [Heard { wish: Wish::Create(_), .. }]) => match target_of(&seen.wish) {
                Some(Target::Words(words)) => Ok(self.matching(&words.clone())?.is_empty()),
                _ => Ok(false),
            },
            _ => Ok(false),
        }
    }

    /// Does what both readers read.
    fn agreed(&mut self, wishes: Vec<Wish>) -> Result<(), Needs> {
        for wish in wishes {
            // What is meant by "it" may be what was just changed.
            if target_of(&wish).is_some_and(|target| matches!(target, Target::It | Target::Them)) {
                self.flush()?;
            }
            self.wish(wish)?;
        }
        Ok(())
    }

    /// Asks about changes, each shown as it would be made: all in one question.
    pub(super) fn propose(&mut self, wishes: Vec<Wish>) -> Result<(), Needs> {
        if let [one] = wishes.as_slice() {
            return match one {
                // "i want to add three things": what they are is asked.
                Wish::Create(drafts) if drafts.iter().all(is_unnamed) => {
                    self.create(vec![Draft { title: None, ..drafts.first().cloned().unwrap_or_default() }])
                }
                one => self.hinted(one.clone()),
            };
        }
        self.asking = Asking::First;
        wishes.into_iter().try_for_each(|wish| self.wish(wish))
    }

    /// What is to repeat is there once, and that is said.
    fn once_each(&mut self, tagged: &Tagged<'_>, wishes: Vec<Wish>) -> Vec<Wish> {
        let Some(repeats) = repeats(tagged) else { return wishes };
        let repeats = repeats.as_str();
        self.says.push(cannot_repeat(repeats));
        let once = |wish| match wish {
            Wish::Create(drafts) => {
                Wish::Create(drafts.into_iter().map(|draft| self.once(draft, repeats)).collect())
            }
            wish => wish,
        };
        wishes.into_iter().map(once).collect()
    }

    /// "show me the bills": a list of those that the words name.
    pub(super) fn about(tagged: &Tagged<'_>, heard: Vec<Heard>) -> Vec<Heard> {
        let Some(words) = tagged.listed() else { return heard };
        let named = |one: Heard| match one.wish {
            Wish::List(filter) if filter == Filter::default() => {
                Heard { wish: Wish::Find(words.to_owned()), ..one }
            }
            wish => Heard { wish, ..one },
        };
        heard.into_iter().map(named).collect()
    }

    /// Lists and questions that only the trained reader sees.
    pub(super) fn looked(
        &mut self,
        tagged: &Tagged<'_>,
        said: &Utterance<'_>,
        heard: &[Heard],
    ) -> Result<bool, Needs> {
        // A search of the web is only a guess where tasks are asked about.
        let is_other = |one: &Heard| is_plain(one) && !matches!(one.wish, Wish::Search(_));
        if !self.bindings.keeps_tasks() || heard.iter().any(is_other) {
            return Ok(false);
        }
        match tagged.intent() {
            Some((Intent::List, chance)) if chance >= SURE => {
                let filter = read::filter::read(said.text, &said.words, &self.here);
                match tagged.listed().filter(|_| filter == Filter::default()) {
                    Some(words) => self.find(words)?,
                    None => self.list(&filter)?,
                }
                Ok(true)
            }
            Some((Intent::Get | Intent::Find, _)) => match tagged.question(&self.here) {
                Some(wish) => self.wish(wish).map(|()| true),
                None => Ok(false),
            },
            _ => Ok(false),
        }
    }
}

/// How often something is to be done again, as either reader sees it.
fn repeats(tagged: &Tagged<'_>) -> Option<String> {
    let ruled = || holds::recurrence(&Utterance::new(tagged.text)).map(|apart| apart.said);
    tagged.repeats().map(str::to_owned).or_else(ruled)
}

fn is_unnamed(draft: &Draft) -> bool {
    draft.title.as_deref().is_none_or(is_reference)
}

/// Whether the rules are sure of a wish, or of talk that is a wish of its own.
fn is_plain(heard: &Heard) -> bool {
    match &heard.wish {
        Wish::SmallTalk(talk) => {
            !matches!(talk, SmallTalk::Unknown | SmallTalk::Vague | SmallTalk::Knowledge | SmallTalk::Remark)
        }
        _ => heard.strength == Strength::Strong && !is_change(heard),
    }
}

fn is_kin(one: &Wish, other: &Wish) -> bool {
    match (one, other) {
        (Wish::Complete(_, a), Wish::Complete(_, b)) => a == b,
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

/// A wish about the task as the rules name it: theirs are all the words.
fn as_named(mut seen: Wish, ruled: &Wish) -> Wish {
    if let (Some(target @ Target::Words(_)), Some(named @ Target::Words(_))) =
        (target_mut(&mut seen), target_of(ruled))
    {
        target.clone_from(named);
    }
    seen
}

fn target_of(wish: &Wish) -> Option<&Target> {
    match wish {
        Wish::Complete(target, _)
        | Wish::Delete(target)
        | Wish::Update(target, _)
        | Wish::Restore(target) => Some(target),
        _ => None,
    }
}

fn target_mut(wish: &mut Wish) -> Option<&mut Target> {
    match wish {
        Wish::Complete(target, _)
        | Wish::Delete(target)
        | Wish::Update(target, _)
        | Wish::Restore(target) => Some(target),
        _ => None,
    }
}

/// Takes over what the rules read and the trained reader did not: a date, a priority, labels, a target.
fn fill(seen: &mut Wish, ruled: &Wish, text: &str) {
    match (&mut *seen, ruled) {
        (Wish::Create(drafts), Wish::Create(ruled)) => {
            for (at, draft) in drafts.iter_mut().enumerate() {
                let Some(ruled) = ruled.get(at).or(ruled.first()) else { continue };
                fill_draft(draft, ruled, text);
            }
        }
        (Wish::Update(target, change), Wish::Update(ruled_target, ruled)) => {
            let unread = matches!(&change.due, Some(Some(When { meaning: Err(_), .. })));
            if unread && (ruled.days.is_some() || ruled.due.is_some()) {
                (change.due, change.days) = (ruled.due.clone(), ruled.days);
            }
            if change.due.is_none() && change.days.is_none() && change.minutes.is_none() {
                (change.due, change.days) = (ruled.due.clone(), ruled.days);
            }
            change.priority = change.priority.or(ruled.priority);
            if change.description.is_none() {
                (change.description, change.appends) = (ruled.description.clone(), ruled.appends);
            }
            change.title = change.title.take().or(ruled.title.clone());
            change.clears_tags |= ruled.clears_tags;
            // "to Clean oven and hob" is one title.
            if let (Some(title), Some(whole)) = (&change.title, &ruled.title)
                && whole.to_lowercase().starts_with(&title.to_lowercase())
            {
                change.title = Some(whole.clone());
            }
            change.remove_tags.extend(ruled.remove_tags.iter().cloned());
            take_target(target, ruled_target);
        }
        (Wish::Complete(target, _), Wish::Complete(ruled, _))
        | (Wish::Delete(target), Wish::Delete(ruled))
        | (Wish::Restore(target), Wish::Restore(ruled)) => take_target(target, ruled),
        _ => {}
    }
}

fn take_target(target: &mut Target, ruled: &Target) {
    // "hotel booking" of "the hotel booking in Rome".
    if let (Target::Words(seen), Target::Words(whole)) = (&*target, ruled) {
        let more = content(whole).len().saturating_sub(content(seen).len());
        if (1..=2).contains(&more)
            && whole.to_lowercase().starts_with(&seen.to_lowercase())
            && !whole.contains([',', '.', ';'])
        {
            target.clone_from(ruled);
            return;
        }
    }
    let is_exact = matches!(ruled, Target::All(_) | Target::Ids(_));
    if *target == Target::Missing || is_exact && !matches!(target, Target::Words(_)) {
        target.clone_from(ruled);
    }
}

fn fill_draft(draft: &mut Draft, ruled: &Draft, text: &str) {
    let unread = draft.due.as_ref().is_none_or(|when| when.meaning.is_err());
    let ruled_due = ruled.due.as_ref().filter(|when| when.meaning.is_ok());
    if let (true, Some(due)) = (unread, ruled_due) {
        // A date that stands in the title is no part of it.
        if let (Some(title), Some(ruled)) = (&draft.title, &ruled.title)
            && title.to_lowercase().ends_with(&due.said.to_lowercase())
            && ruled.len() < title.len()
        {
            draft.title = Some(ruled.clone());
        }
        draft.due = Some(due.clone());
    }
    if let (Some(title), Some(ruled)) = (&draft.title, &ruled.title)
        && !is_quoted(&title.to_lowercase(), &text.to_lowercase())
        && let Some(whole) = uncut(title, ruled)
    {
        draft.title = Some(slots::capital(&whole));
    }
    draft.priority = draft.priority.or(ruled.priority);
    if draft.tags.is_empty() {
        draft.tags.clone_from(&ruled.tags);
    }
    draft.done |= ruled.done;
    draft.undated = ruled.undated.clone().or(draft.undated.take());
    // What was put in quotation marks is the title beyond doubt.
    let quoted = ruled.title.as_ref().filter(|title| is_quoted(title, text));
    if let Some(title) = quoted {
        draft.title = Some(title.clone());
    }
}

/// A title of which the trained reader has cut the last word or two, as the rules read it; `None` if what is behind it
/// is a remark.
fn uncut(title: &str, ruled: &str) -> Option<String> {
    let (low, whole) = (title.to_lowercase(), ruled.to_lowercase());
    let start = whole.find(&low)?;
    let rest = ruled.get(start + low.len()..)?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let is_remark = |word: &&str| {
        let low = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        REMARKS.contains(&low.as_str()) || clauses::VERBS.split('|').any(|verb| verb == low)
    };
    let joins =
        rest.starts_with([' ', '\'', '\u{2019}']) && !rest.contains([',', '.', ':', ';', '"', '(', '!', '?']);
    let fits = joins && (1..=2).contains(&words.len()) && !words.iter().any(is_remark);
    fits.then(|| ruled.get(start..).unwrap_or_default().to_owned())
}

/// Words of remarks about a task, rather than of its title.
const REMARKS: [&str; 30] = [
    "it", "that", "please", "pls", "list", "me", "also", "too", "priority", "due", "tho", "though", "thanks",
    "thx", "ok", "and", "on", "for", "by", "at", "in", "to", "asap", "urgent", "then", "now", "today",
    "tomorrow", "is", "so",
];
