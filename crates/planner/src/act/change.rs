//! Changing fields of a task, doing the last thing again, and taking it back.

use jiff::ToSpan;
use serde_json::{Map, Value};

use super::tasks::field;
use super::{Needs, Play, Queued};
use crate::memory::Question;
use crate::say;
use crate::seen::Task;
use crate::wish::{Change, Target, When, Wish};

impl Play<'_> {
    pub(super) fn update(&mut self, target: Target, change: Change) -> Result<(), Needs> {
        if let Some(wish) = self.amended(&target, &change) {
            return self.wish(wish);
        }
        let wish = Wish::Update(target.clone(), change.clone());
        if change.is_empty() {
            let Some(tasks) = self.chosen(&target, &wish)? else { return Ok(()) };
            let ids = tasks.iter().map(|task| task.id).collect();
            let names: Vec<String> = tasks.iter().map(say::named).collect();
            self.says.push(format!(
                "What shall I change about {}: its title, priority, due date or description?",
                names.join(", ")
            ));
            self.memory.focus = tasks;
            self.memory.question = Some(Question::Change(Wish::Update(Target::Ids(ids), change)));
            return Ok(());
        }
        if let Some(doubt) = change.due.as_ref().and_then(Option::as_ref).and_then(|when| self.doubt(when)) {
            self.says.push(doubt);
            self.memory.question = Some(Question::Date(wish));
            return Ok(());
        }
        let Some(tasks) = self.chosen(&target, &wish)? else { return Ok(()) };
        for task in tasks {
            self.queue_update(&wish, &change, task)?;
        }
        Ok(())
    }

    pub(super) fn queue_update(&mut self, wish: &Wish, change: &Change, task: Task) -> Result<(), Needs> {
        // What is added to must be known first.
        let needs_old = change.days.is_some() || change.appends && change.description.is_some();
        let task = if needs_old && task.title.is_empty() || change.appends {
            match self.looked_up(&task)? {
                Some(task) => task,
                None => return Ok(()),
            }
        } else {
            task
        };
        let fields = self.fields(change, &task);
        if fields.is_empty() {
            self.says.push("The tools of this profile cannot change that.".into());
            return Ok(());
        }
        if let Some(call) = self.bindings.update(task.id, fields) {
            self.queue.push(Queued { call, wish: wish.clone(), tasks: vec![task] });
        }
        Ok(())
    }

    /// The fields of the call; what the profile does not know is said, and left out.
    fn fields(&mut self, change: &Change, task: &Task) -> Map<String, Value> {
        const TOOL: &str = "update-task";
        let mut fields = Map::new();
        if let Some(title) = &change.title {
            fields.extend([field("title", title.clone())]);
        }
        match &change.description {
            Some(Some(text)) => {
                let old = task.description.as_deref().filter(|_| change.appends);
                let whole = old.map_or_else(|| text.clone(), |old| format!("{old}\n{text}"));
                fields.extend([field("description", whole)]);
            }
            Some(None) => fields.extend([field("description", Value::Null)]),
            None => {}
        }
        fields.extend(
            change
                .priority
                .and_then(|priority| Some(field("priority", self.bindings.priority(TOOL, priority)?))),
        );
        match &change.due {
            Some(Some(When { meaning: Ok(resolved), .. })) => {
                fields.extend(self.bindings.due(TOOL, &resolved.due, &self.here))
            }
            Some(None) => fields.extend(self.bindings.no_due(TOOL)),
            _ => {}
        }
        if let Some(days) = change.days {
            let from = task
                .due
                .as_deref()
                .and_then(|due| toolroom_when::parse(due, self.here.now, self.here.zone).ok());
            let from = from.map_or(toolroom_when::Due::Date(self.here.today()), |resolved| resolved.due);
            fields.extend(
                moved(&from, days, self.here.zone).and_then(|due| self.bindings.due(TOOL, &due, &self.here)),
            );
        }
        for (name, tags) in [("addTags", &change.add_tags), ("removeTags", &change.remove_tags)] {
            if !tags.is_empty() {
                fields.extend([field(name, tags.clone())]);
            }
        }
        if change.clears_tags {
            fields.extend([field("tags", Value::Null)]);
        }
        fields.retain(|name, _| self.bindings.takes(TOOL, name));
        fields
    }

    /// "make it Friday" after a task that was asked about and not made, or a change that was not: the first wish
    /// again, with this in it.
    fn amended(&mut self, target: &Target, change: &Change) -> Option<Wish> {
        let last = self.memory.last.clone().filter(|last| !last.done && *target == Target::It)?;
        match last.wish {
            Wish::Create(mut drafts) => {
                let draft = drafts.last_mut()?;
                draft.title = change.title.clone().or(draft.title.take());
                draft.priority = change.priority.or(draft.priority);
                if let Some(due) = &change.due {
                    draft.due.clone_from(due);
                    draft.undated = draft
                        .due
                        .as_ref()
                        .and_then(|when| Some(format!("{} {}", draft.title.as_ref()?, when.said)));
                }
                if let Some(description) = &change.description {
                    draft.description.clone_from(description);
                }
                draft.tags.extend(change.add_tags.iter().cloned());
                self.memory.last = None;
                Some(Wish::Create(drafts))
            }
            Wish::Update(_, mut old) if !last.chosen.is_empty() => {
                old.title = change.title.clone().or(old.title);
                old.priority = change.priority.or(old.priority);
                old.due = change.due.clone().or(old.due);
                old.days = change.days.or(old.days.filter(|_| change.due.is_none()));
                old.description = change.description.clone().or(old.description);
                self.memory.last = None;
                Some(Wish::Update(Target::Ids(last.chosen.iter().map(|task| task.id).collect()), old))
            }
            _ => None,
        }
    }

    /// Takes the last change back.
    pub(super) fn undo(&mut self) -> Result<(), Needs> {
        let last = self.memory.last.clone().filter(|last| last.done);
        let Some(last) = last else {
            self.says.push("There is no change in this conversation that I could take back.".into());
            return Ok(());
        };
        let touched = if last.chosen.is_empty() { self.memory.focus.clone() } else { last.chosen };
        let ids: Vec<i64> = touched.iter().map(|task| task.id).collect();
        match last.wish {
            Wish::Complete(_, done) => self.wish(Wish::Complete(Target::Ids(ids), !done)),
            Wish::Delete(_) => self.wish(Wish::Restore(Target::Ids(ids))),
            Wish::Create(_) | Wish::Restore(_) => self.wish(Wish::Delete(Target::Ids(ids))),
            Wish::Update(..) => {
                let names: Vec<String> = touched.iter().map(say::named).collect();
                self.says.push(format!(
                    "I cannot take back the change of {}. Tell me what it shall be instead.",
                    names.join(", ")
                ));
                self.memory.question =
                    Some(Question::Change(Wish::Update(Target::Ids(ids), Change::default())));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// A due date some days later.
fn moved(due: &toolroom_when::Due, days: i64, zone: &jiff::tz::TimeZone) -> Option<toolroom_when::Due> {
    match due {
        toolroom_when::Due::Date(date) => date.checked_add(days.days()).ok().map(toolroom_when::Due::Date),
        toolroom_when::Due::Instant(moment) => {
            let later = zone.to_datetime(moment.at()).checked_add(days.days()).ok()?;
            let at = zone.to_ambiguous_timestamp(later).compatible().ok()?;
            Some(toolroom_when::Due::Instant(toolroom_when::Moment::new(at, zone.to_offset(at))))
        }
    }
}
