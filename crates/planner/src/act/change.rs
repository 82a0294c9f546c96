//! Changing fields of a task, doing the last thing again, and taking it back.

use jiff::ToSpan;
use serde_json::{Map, Value};

use super::tasks::field;
use super::{Needs, Play, Queued};
use crate::memory::Question;
use crate::say;
use crate::seen::Task;
use crate::wish::{Change, Priority, Target, When, Wish};

impl Play<'_> {
    pub(super) fn update(&mut self, target: Target, change: Change) -> Result<(), Needs> {
        if let Some(wish) = self.amended(&target, &change) {
            return self.wish(wish);
        }
        let wish = Wish::Update(target.clone(), change.clone());
        let wants_title = change.title.as_deref() == Some("");
        let wants_note = matches!(&change.description, Some(Some(note)) if note.is_empty());
        if change.is_empty() || wants_title || wants_note {
            let Some(tasks) = self.chosen(&target, &wish)? else { return Ok(()) };
            let ids = tasks.iter().map(|task| task.id).collect();
            let names: Vec<String> = tasks.iter().map(say::named).collect();
            self.says.push(match (wants_title, wants_note) {
                (true, _) => format!("What shall {} be called?", names.join(", ")),
                (_, true) => format!("What shall the note on {} say?", names.join(", ")),
                _ => format!(
                    "What shall I change about {}: its title, priority, due date or description?",
                    names.join(", ")
                ),
            });
            self.memory.focus = tasks;
            self.memory.question = Some(Question::Change(Wish::Update(Target::Ids(ids), change)));
            return Ok(());
        }
        let guess = change.due.as_ref().and_then(Option::as_ref).and_then(|when| self.guessed(when));
        if let Some((why, guess)) = guess {
            self.says.push(why);
            return self.offered(Wish::Update(target, Change { due: Some(Some(guess)), ..change }));
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
        let needs_old = change.days.is_some()
            || change.minutes.is_some()
            || change.appends && change.description.is_some();
        let has_time_alone = change.due.iter().flatten().any(|when| self.is_time_alone(when));
        let task = if (needs_old || has_time_alone) && task.title.is_empty() || change.appends {
            match self.looked_up(&task)? {
                Some(task) => task,
                None => return Ok(()),
            }
        } else {
            task
        };
        let change = &self.in_place(change, &task);
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

    /// Whether a date phrase names a time and no day.
    pub(super) fn is_time_alone(&self, when: &When) -> bool {
        let is_instant =
            matches!(&when.meaning, Ok(resolved) if matches!(resolved.due, toolroom_when::Due::Instant(_)));
        let dated = format!("{} {}", self.here.today(), when.said);
        let is_ahead =
            when.said.to_lowercase().starts_with("in ") || when.said.to_lowercase().contains("from now");
        is_instant && !is_ahead && toolroom_when::parse(&dated, self.here.now, self.here.zone).is_ok()
    }

    /// "actually 4pm" stays on its day, and "actually saturday" keeps its time.
    fn in_place(&self, change: &Change, task: &Task) -> Change {
        let (Some(Some(when)), Some(old)) = (&change.due, &task.due) else { return change.clone() };
        let Ok(old) = toolroom_when::parse(old, self.here.now, self.here.zone) else { return change.clone() };
        let Ok(new) = &when.meaning else { return change.clone() };
        let day = old.due.date_in(self.here.zone);
        let phrase = match (&old.due, &new.due) {
            _ if self.is_time_alone(when) && day >= self.here.today() => format!("{day} {}", when.said),
            (toolroom_when::Due::Instant(moment), toolroom_when::Due::Date(date)) => {
                let time = self.here.zone.to_datetime(moment.at()).time();
                // The end of a day is how some profiles write a date.
                if time == jiff::civil::time(23, 59, 59, 0) {
                    return change.clone();
                }
                format!("{date} {:02}:{:02}", time.hour(), time.minute())
            }
            _ => return change.clone(),
        };
        match toolroom_when::parse(&phrase, self.here.now, self.here.zone) {
            Ok(resolved) => {
                Change { due: Some(Some(When { said: phrase, meaning: Ok(resolved) })), ..change.clone() }
            }
            Err(_) => change.clone(),
        }
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
        if change.days.is_some() || change.minutes.is_some() {
            let (days, minutes) = (change.days.unwrap_or(0), change.minutes.unwrap_or(0));
            let from = task
                .due
                .as_deref()
                .and_then(|due| toolroom_when::parse(due, self.here.now, self.here.zone).ok());
            let from = from.map_or(toolroom_when::Due::Date(self.here.today()), |resolved| resolved.due);
            fields.extend(
                moved(&from, days, minutes, self.here.zone)
                    .and_then(|due| self.bindings.due(TOOL, &due, &self.here)),
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
        let asks_title = change.title.as_deref() == Some("");
        let last =
            self.memory.last.clone().filter(|last| !last.done && *target == Target::It && !asks_title)?;
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
                old.minutes = change.minutes.or(old.minutes.filter(|_| change.due.is_none()));
                old.description = change.description.clone().or(old.description);
                self.memory.last = None;
                Some(Wish::Update(Target::Ids(last.chosen.iter().map(|task| task.id).collect()), old))
            }
            _ => None,
        }
    }

    /// What makes a task again what it was before a change.
    pub(super) fn reverse(&self, change: &Change, old: &Task) -> Change {
        let due = old.due.as_deref().and_then(|due| {
            let read = |text: &str| toolroom_when::parse(text, self.here.now, self.here.zone).ok();
            let meaning = match read(due)?.due {
                // As it is said back: on the clocks of the user.
                due @ toolroom_when::Due::Instant(_) => read(&due.instant_in(self.here.zone).to_string())?,
                toolroom_when::Due::Date(_) => read(due)?,
            };
            Some(When { said: due.to_owned(), meaning: Ok(meaning) })
        });
        let rank = [Priority::Low, Priority::Medium, Priority::High];
        let rank = rank.into_iter().find(|rank| old.priority.as_deref() == Some(rank.as_str()));
        Change {
            title: change.title.as_ref().map(|_| old.title.clone()),
            priority: change.priority.and(rank),
            due: (change.due.is_some() || change.days.is_some() || change.minutes.is_some()).then_some(due),
            add_tags: change.remove_tags.clone(),
            remove_tags: change.add_tags.clone(),
            ..Change::default()
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
            Wish::Update(_, change) => {
                let known: Vec<Task> =
                    last.before.into_iter().filter(|task| !task.title.is_empty()).collect();
                if known.len() == ids.len() && !known.is_empty() && change.description.is_none() {
                    let back: Vec<(Change, Task)> =
                        known.into_iter().map(|task| (self.reverse(&change, &task), task)).collect();
                    for (change, task) in back {
                        let wish = Wish::Update(Target::Ids(vec![task.id]), change.clone());
                        let fields = self.fields(&change, &task);
                        if let Some(call) = self.bindings.update(task.id, fields) {
                            self.queue.push(Queued { call, wish, tasks: vec![task] });
                        }
                    }
                    return Ok(());
                }
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

/// A due date some days or minutes later. A day without a time has no minutes.
fn moved(
    due: &toolroom_when::Due,
    days: i64,
    minutes: i64,
    zone: &jiff::tz::TimeZone,
) -> Option<toolroom_when::Due> {
    match due {
        toolroom_when::Due::Date(_) if minutes != 0 => None,
        toolroom_when::Due::Date(date) => date.checked_add(days.days()).ok().map(toolroom_when::Due::Date),
        toolroom_when::Due::Instant(moment) => {
            let later = zone.to_datetime(moment.at()).checked_add(days.days()).ok()?;
            let at = zone.to_ambiguous_timestamp(later).compatible().ok()?;
            let at = at.checked_add(minutes.minutes()).ok()?;
            Some(toolroom_when::Due::Instant(toolroom_when::Moment::new(at, zone.to_offset(at))))
        }
    }
}
