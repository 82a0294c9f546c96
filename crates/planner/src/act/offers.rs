//! Offers: a change that is not beyond doubt is shown exactly as it would be made, and the person is asked.

use toolroom_model::Asking;

use super::choose::verb;
use super::tasks::narrowed;
use super::{Needs, Play};
use crate::memory::Question;
use crate::read::{fields, holds};
use crate::say;
use crate::seen::Task;
use crate::similar;
use crate::wish::{Draft, Target, Wish, with_target};

impl Play<'_> {
    /// Asks about changes, each shown as it would be made: all in one question.
    pub(super) fn propose(&mut self, wishes: Vec<Wish>) -> Result<(), Needs> {
        if let [one] = wishes.as_slice() {
            return self.hinted(one.clone());
        }
        self.asking = Asking::First;
        wishes.into_iter().try_for_each(|wish| self.wish(wish))
    }

    /// Changes about which the person was asked and has not answered, as an offer. Deletions are asked about anew.
    pub(super) fn unanswered(&self, waiting: Vec<Wish>) -> Option<Question> {
        if waiting.is_empty() || waiting.iter().any(|wish| matches!(wish, Wish::Delete(_))) {
            return None;
        }
        let each = |wish: &Wish| match wish {
            Wish::Create(drafts) => {
                let titles: Vec<String> = drafts.iter().map(say::draft).collect();
                format!("add {}", titles.join("; "))
            }
            wish => {
                let about =
                    |task: &&Task| matches!(wish.target(), Some(Target::Ids(ids)) if ids.contains(&task.id));
                let tasks: Vec<String> =
                    self.memory.focus.iter().filter(about).map(|task| exactly(wish, task)).collect();
                tasks.join("; ")
            }
        };
        let each: Vec<String> = waiting.iter().map(each).collect();
        Some(Question::Offer(waiting, format!("Shall I {}?", each.join("; and "))))
    }

    /// A wish that was only guessed: it is offered.
    pub(super) fn hinted(&mut self, wish: Wish) -> Result<(), Needs> {
        let changes =
            matches!(wish, Wish::Complete(..) | Wish::Delete(_) | Wish::Update(..) | Wish::Restore(_));
        // Where the person is asked anyway, one question is enough.
        let deletes = matches!(wish, Wish::Delete(_));
        let confirmed = deletes && self.bindings.confirms_deletes || self.bindings.confirms_changes;
        if changes && (!self.can(&wish) || confirmed) {
            return self.change(wish);
        }
        self.offered(wish)
    }

    /// A wish that names no task, about the one that the words of the message are likeliest to mean.
    fn with_likely_target(&mut self, wish: Wish) -> Result<Wish, Needs> {
        let target = match &wish {
            Wish::Complete(target, _) | Wish::Delete(target) | Wish::Update(target, _) => target,
            _ => return Ok(wish),
        };
        if *target != Target::Missing || self.naming.is_empty() {
            return Ok(wish);
        }
        let titles = self.titles()?;
        Ok(match similar::likeliest_of(&self.naming, &titles).as_slice() {
            [task] => with_target(&wish, Target::Ids(vec![task.id])),
            _ => wish,
        })
    }

    /// Asks whether to carry out a wish, with its exact change.
    pub(super) fn offered(&mut self, wish: Wish) -> Result<(), Needs> {
        let wish = self.with_likely_target(wish)?;
        match wish {
            Wish::Create(drafts) => {
                let named = drafts.iter().all(|draft| draft.title.is_some());
                if !named || self.bindings.tool("create-task").is_none() {
                    return self.create(drafts);
                }
                self.offer_tasks(drafts)
            }
            Wish::Update(_, ref change) if change.is_empty() || change.lacks_words() => self.change(wish),
            Wish::Complete(ref target, _)
            | Wish::Delete(ref target)
            | Wish::Update(ref target, _)
            | Wish::Restore(ref target) => {
                let target = narrowed(target, &wish);
                let Some(tasks) = self.chosen(&target, &wish)? else { return Ok(()) };
                self.offer(tasks.into_iter().map(|task| (wish.clone(), task)).collect())
            }
            other => self.wish(other),
        }
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
            draft.title = Some(fields::capital(bare));
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
            return wishes
                .into_iter()
                .try_for_each(|(wish, task)| self.wish(with_target(&wish, Target::Ids(vec![task.id]))));
        }
        let each: Vec<String> = wishes.iter().map(|(wish, task)| exactly(wish, task)).collect();
        let asked = format!("Shall I {}?", each.join("; and "));
        self.says.push(asked.clone());
        let about = |(wish, task): &(Wish, Task)| with_target(wish, Target::Ids(vec![task.id]));
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
