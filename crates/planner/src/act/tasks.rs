//! Making tasks, completing, deleting and restoring them.

use serde_json::{Map, Value};

use super::{Needs, Play, Queued};
use crate::memory::Question;
use crate::say;
use crate::seen::Task;
use crate::wish::{Draft, Target, When, Wish};

impl Play<'_> {
    pub(super) fn create(&mut self, drafts: Vec<Draft>) -> Result<(), Needs> {
        if self.bindings.tool("create-task").is_none() {
            self.lacks("make tasks");
            return Ok(());
        }
        for mut draft in drafts {
            if draft.title.is_none() {
                self.says.push("What shall the task be called?".into());
                self.memory.question = Some(Question::Title(draft));
                continue;
            }
            let dates = self.bindings.takes_dates("create-task");
            if let (true, Some((why, guess))) =
                (dates, draft.due.as_ref().and_then(|when| self.guessed(when)))
            {
                self.says.push(why);
                draft.due = Some(guess);
                self.offer_tasks(vec![draft])?;
                continue;
            }
            if let (true, Some(doubt)) = (dates, draft.due.as_ref().and_then(|when| self.doubt(when))) {
                self.says.push(doubt);
                self.memory.question = Some(Question::Date(Wish::Create(vec![draft])));
                continue;
            }
            self.queue_create(draft);
        }
        Ok(())
    }

    pub(super) fn queue_create(&mut self, draft: Draft) {
        let mut fields = Map::new();
        let dates = self.bindings.takes_dates("create-task");
        let title = if dates { draft.title.clone() } else { draft.undated.clone().or(draft.title.clone()) };
        fields.insert("title".into(), title.into());
        if let Some(description) = &draft.description {
            fields.insert("description".into(), description.clone().into());
        }
        if let Some(priority) =
            draft.priority.and_then(|priority| self.bindings.priority("create-task", priority))
        {
            fields.insert("priority".into(), priority);
        }
        if let Some(Ok(resolved)) = draft.due.as_ref().map(|when| &when.meaning)
            && let Some((name, value)) = self.bindings.due("create-task", &resolved.due, &self.here)
        {
            fields.insert(name, value);
        }
        if !draft.tags.is_empty() {
            fields.insert("tags".into(), draft.tags.clone().into());
        }
        if draft.done {
            fields.insert("status".into(), "completed".into());
        }
        let lost = [("priority", draft.priority.is_some()), ("tags", !draft.tags.is_empty())];
        for (field, given) in lost {
            if given && !self.bindings.takes("create-task", field) {
                self.says.push(format!("(The tools of this profile know no {field}.)"));
            }
        }
        if let Some(call) = self.bindings.call("create-task", fields) {
            self.queue.push(Queued { call, wish: Wish::Create(vec![draft]), tasks: Vec::new() });
        }
    }

    /// "at 5" is mostly meant for the afternoon: that is offered, with what is in doubt.
    pub(super) fn guessed(&self, when: &When) -> Option<(String, When)> {
        let why = when.meaning.as_ref().err()?;
        let said = format!("{} in the afternoon", when.said);
        let meaning = toolroom_when::parse(&said, self.here.now, self.here.zone).ok()?;
        let is_hour = matches!(meaning.due, toolroom_when::Due::Instant(_));
        is_hour.then(|| (format!("{why}."), When { said, meaning: Ok(meaning) }))
    }

    /// What is doubtful about a date: that it is none, past, or far ahead.
    pub(super) fn doubt(&self, when: &When) -> Option<String> {
        let ask = "When do you mean?";
        let resolved = match &when.meaning {
            Err(why) => return Some(format!("{why}. {ask}")),
            Ok(resolved) => resolved,
        };
        let day = resolved.due.date_in(self.here.zone);
        let past = match resolved.due {
            toolroom_when::Due::Date(date) => date < self.here.today(),
            toolroom_when::Due::Instant(moment) => moment.at() < self.here.now,
        };
        if past {
            return Some(format!(
                "{} is in the past ({}). Shall I use it all the same, or which date do you mean?",
                say::quoted(&when.said),
                resolved.echo
            ));
        }
        let far = day.year() > self.here.today().year() + 10
            || day.year() == self.here.today().year() + 10
                && (day.month(), day.day()) > (self.here.today().month(), self.here.today().day());
        far.then(|| format!("{} is more than ten years ahead ({}). Shall I use it all the same, or which date do you mean?", say::quoted(&when.said), resolved.echo))
    }

    /// Everything that is done to tasks that are there.
    pub(super) fn change(&mut self, wish: Wish) -> Result<(), Needs> {
        if !self.can(&wish) {
            self.lacks(match wish {
                Wish::Restore(_) => "restore tasks",
                Wish::Delete(_) => "delete tasks",
                _ => "change tasks",
            });
            return Ok(());
        }
        if let Wish::Update(target, change) = &wish {
            return self.update(target.clone(), change.clone());
        }
        let target = match &wish {
            Wish::Complete(target, _) | Wish::Delete(target) | Wish::Restore(target) => {
                narrowed(target, &wish)
            }
            _ => return Ok(()),
        };
        let by_number = matches!(target, Target::Ids(_));
        let Some(tasks) = self.chosen(&target, &wish)? else { return Ok(()) };
        for task in tasks {
            // Who names a number is shown what it is before it goes.
            let task = match &wish {
                Wish::Delete(_) if by_number => match self.looked_up(&task)? {
                    Some(task) => task,
                    None => continue,
                },
                _ => task,
            };
            self.queue_change(&wish, task);
        }
        Ok(())
    }

    pub(super) fn queue_change(&mut self, wish: &Wish, task: Task) {
        let call = match wish {
            Wish::Complete(_, done) => self.bindings.complete(task.id, *done),
            Wish::Delete(_) => self.bindings.about("delete-task", task.id, Map::new()),
            Wish::Restore(_) => self.bindings.about("restore-task", task.id, Map::new()),
            _ => None,
        };
        if let Some(call) = call {
            self.queue.push(Queued { call, wish: wish.clone(), tasks: vec![task] });
        }
    }

    pub(super) fn can(&self, wish: &Wish) -> bool {
        let canonical = match wish {
            Wish::Delete(_) => "delete-task",
            Wish::Restore(_) => "restore-task",
            Wish::Complete(..) if self.bindings.tool("complete-task").is_some() => "complete-task",
            _ => "update-task",
        };
        self.bindings.tool(canonical).is_some()
    }

    pub(super) fn lacks(&mut self, what: &str) {
        let text = format!(
            "I cannot {what} here: the profile {} has no tool for it that you may use.",
            say::quoted(self.bindings.profile)
        );
        self.says.push(text);
    }
}

/// "complete everything" is about what is open, and "reopen everything" about what is done.
pub(super) fn narrowed(target: &Target, wish: &Wish) -> Target {
    match (target, wish) {
        (Target::All(filter), Wish::Complete(_, done)) if filter.done.is_none() => {
            let mut filter = filter.clone();
            filter.done = Some(!done);
            Target::All(filter)
        }
        (target, _) => target.clone(),
    }
}

/// A value of a field, for a map.
pub(super) fn field(name: &str, value: impl Into<Value>) -> (String, Value) {
    (name.to_owned(), value.into())
}
