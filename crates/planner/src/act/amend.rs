//! Changes what is offered, or what was just made or shown.

use toolroom_tagger::Intent;

use super::{Needs, Play};
use crate::read::spans;
use crate::read::tagged::FollowUp;
use crate::seen::Task;
use crate::similar;
use crate::wish::{Change, Draft, Target, Wish};

impl Play<'_> {
    /// "the last one has time until friday", "the oven on sunday", of several tasks that are offered: all are offered
    /// again.
    pub(super) fn amend_some(&mut self, drafts: &[Draft], next: &FollowUp) -> Result<bool, Needs> {
        let title = |at: usize| drafts.get(at).and_then(|draft| draft.title.clone()).unwrap_or_default();
        let tasks = (0..drafts.len()).map(|at| Task { id: at as i64, title: title(at), ..Task::default() });
        let places = match (&next.target, &next.named) {
            (Target::Places(places), _) => places.clone(),
            (Target::Last, _) => vec![drafts.len().saturating_sub(1)],
            (_, Some(name)) => match similar::best(name, tasks.collect()).as_slice() {
                [one] => vec![one.id as usize],
                _ => return Ok(false),
            },
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

    /// "drop the second one", of several tasks that are offered.
    pub(super) fn offer_less(&mut self, offer: Option<Vec<Wish>>, next: &FollowUp) -> Result<bool, Needs> {
        let Some([Wish::Create(drafts)]) = offer.as_deref() else { return Ok(false) };
        let gone = match &next.target {
            Target::Places(places) => places.clone(),
            Target::Last => vec![drafts.len().saturating_sub(1)],
            _ => return Ok(false),
        };
        let left =
            drafts.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, draft)| draft.clone());
        let left: Vec<Draft> = left.collect();
        if left.is_empty() || left.len() == drafts.len() {
            return Ok(false);
        }
        self.offer_tasks(left).map(|()| true)
    }

    /// "the oven on sunday" right after a task about the oven was made: no new one.
    pub(super) fn amend_named(&mut self, next: &FollowUp) -> Result<bool, Needs> {
        let Some(name) =
            next.named.as_deref().filter(|name| next.intent == Intent::Create && is_definite(name))
        else {
            return Ok(false);
        };
        let mut known = self.memory.made.clone();
        known.extend(self.memory.focus.iter().filter(|task| !self.memory.made.contains(task)).cloned());
        match similar::best(name, known).as_slice() {
            [task] if !next.change.is_empty() => {
                let target = Target::Ids(vec![task.id]);
                self.wish(Wish::Update(target, next.change.clone())).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// Changes what is offered, or what was just made or spoken of.
    pub(super) fn amend(
        &mut self,
        target: Target,
        change: Change,
        offer: Option<Vec<Wish>>,
        is_sure: bool,
    ) -> Result<bool, Needs> {
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
                let day = old.due.clone().flatten();
                let due = change.due.map(|due| due.map(|due| self.on_its_day(due, day.as_ref())));
                spans::join(&mut whole, Change { due, ..change });
                return self.wish(Wish::Update(target.clone(), whole)).map(|()| true);
            }
            // "reopen it", "and make it urgent"
            Some([one]) if one.target().is_some() => {
                let more = Wish::Update(one.target().cloned().unwrap_or(Target::It), change);
                return self.propose(vec![one.clone(), more]).map(|()| true);
            }
            Some(_) => return Ok(false),
            None => {}
        }
        let many = matches!(target, Target::Them | Target::Places(_) | Target::Ids(_) | Target::Last);
        let acts = self.memory.last.as_ref().is_some_and(|last| {
            matches!(
                last.wish,
                Wish::Create(_) | Wish::Update(..) | Wish::Show(_) | Wish::Complete(..) | Wish::List(_)
            )
        });
        if !many && self.memory.focus.len() != 1 && self.memory.last.as_ref().is_none_or(|last| last.done)
            || !acts && self.memory.focus.is_empty()
        {
            return Ok(false);
        }
        let wish = Wish::Update(if many { target } else { Target::It }, change);
        if is_sure {
            self.wish(wish)?
        } else {
            self.hinted(wish)?
        }
        Ok(true)
    }
}

/// Whether words name something that is known: "the oven".
fn is_definite(name: &str) -> bool {
    let first = name.split_whitespace().next().unwrap_or_default().to_lowercase();
    ["the", "my", "that", "this"].contains(&first.as_str())
}
