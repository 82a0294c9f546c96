//! Showing tasks: lists, one task, and whether there is one.

use serde_json::Map;

use super::{Needs, Play};
use crate::memory::Question;
use crate::say;
use crate::seen::{self, Task};
use crate::similar;
use crate::wish::{DueRange, Filter, Priority, Sort, Target, Wish};

impl Play<'_> {
    pub(super) fn list(&mut self, filter: &Filter) -> Result<(), Needs> {
        let Some((mut tasks, mut total)) = self.fetch(filter)? else { return Ok(()) };
        let mut filter = filter.clone();
        if let Some(about) = filter.about.take() {
            let named = similar::best(&about, tasks.clone());
            if !named.is_empty() {
                (total, tasks) = (named.len(), named);
                filter.text = Some(about);
            }
        }
        if filter.text.is_some() && filter.sort.is_none() {
            in_order(&mut tasks);
        }
        self.says.push(say::list(&tasks, total, &filter, &self.here));
        if !filter.counts {
            self.memory.focus = if tasks.len() == 1 { tasks.clone() } else { Vec::new() };
            self.memory.shown = tasks;
        }
        Ok(())
    }

    /// The tasks of a kind, and how many there are in total.
    pub(super) fn fetch(&mut self, filter: &Filter) -> Result<Option<(Vec<Task>, usize)>, Needs> {
        const TOOL: &str = "list-tasks";
        if self.bindings.tool(TOOL).is_none() {
            self.lacks("list tasks");
            return Ok(None);
        }
        let mut fields = Map::new();
        // The profile of the assistant is asked for "all" explicitly.
        let status = filter.done.map_or("all", |done| if done { "completed" } else { "pending" });
        fields.insert("status".into(), status.into());
        if let Some(priority) = filter.priority {
            fields.insert("priority".into(), priority.as_str().into());
        }
        if let Some(tag) = &filter.tag {
            fields.insert("tag".into(), tag.clone().into());
        }
        match &filter.due {
            Some(DueRange::Between(from, to, _)) => {
                if from.year() > 1970 {
                    fields.insert("dueFrom".into(), from.to_string().into());
                }
                fields.insert("dueTo".into(), to.to_string().into());
            }
            Some(DueRange::Overdue) => {
                fields.insert(
                    "dueTo".into(),
                    self.here.today().yesterday().unwrap_or(self.here.today()).to_string().into(),
                );
            }
            _ => {}
        }
        let sort = filter.sort.or(filter.due.as_ref().map(|_| Sort::Due));
        if let Some(sort) = sort {
            let by = match sort {
                Sort::Due => "due",
                Sort::Priority => "priority",
                Sort::Title => "title",
            };
            fields.insert("sortBy".into(), by.into());
        }
        fields.insert("limit".into(), 100.into());
        let Some(call) = self.bindings.call(TOOL, fields) else { return Ok(None) };
        let whole = filter.text.is_none() && filter.due != Some(DueRange::Never);
        let outcome = self.result(call)?;
        if let Some(why) = outcome.failure {
            self.says.push(format!("The list could not be read: {why}"));
            return Ok(None);
        }
        let all = seen::tasks(outcome.result);
        let count = all.len();
        let mut tasks: Vec<Task> = all.into_iter().filter(|task| self.fits(task, filter)).collect();
        if let Some(text) = &filter.text {
            tasks = similar::best(text, tasks);
        }
        self.sort(&mut tasks, sort);
        // Beyond one page only the tool knows how many there are.
        let total = match seen::total(outcome.result) {
            Some(total) if total > count && whole && tasks.len() == count => total,
            _ => tasks.len(),
        };
        Ok(Some((tasks, total)))
    }

    /// What the tool cannot filter is filtered here, where the result shows it.
    fn fits(&self, task: &Task, filter: &Filter) -> bool {
        let due = task.due.as_deref().and_then(|due| say::day(due, &self.here));
        let in_time = match &filter.due {
            None => true,
            Some(DueRange::Overdue) => {
                due.is_some_and(|due| due < self.here.today()) && task.done != Some(true)
            }
            Some(DueRange::Between(from, to, _)) => due.is_some_and(|due| (*from..=*to).contains(&due)),
            Some(DueRange::Never) => task.due.is_none(),
        };
        let in_state = filter.done.is_none_or(|done| task.done.is_none_or(|is| is == done));
        let in_rank =
            filter.priority.is_none_or(|priority| task.priority.as_deref() == Some(priority.as_str()));
        let in_tags =
            filter.tag.as_ref().is_none_or(|tag| task.tags.iter().any(|one| one.eq_ignore_ascii_case(tag)));
        in_time && in_state && in_rank && in_tags
    }

    fn sort(&self, tasks: &mut [Task], sort: Option<Sort>) {
        let rank = |task: &Task| match task.priority.as_deref() {
            Some(name) if name == Priority::High.as_str() => 0,
            Some(name) if name == Priority::Low.as_str() => 2,
            _ => 1,
        };
        match sort {
            Some(Sort::Title) => tasks.sort_by_key(|task| task.title.to_lowercase()),
            Some(Sort::Priority) => tasks.sort_by_key(rank),
            Some(Sort::Due) => tasks.sort_by_key(|task| (task.due.is_none(), task.due.clone())),
            None => {}
        }
    }

    pub(super) fn show(&mut self, target: Target) -> Result<(), Needs> {
        let wish = Wish::Show(target.clone());
        if let Target::Words(words) = &target {
            return self.find(words);
        }
        let Some(tasks) = self.chosen(&target, &wish)? else { return Ok(()) };
        let mut shown = Vec::new();
        for task in tasks {
            if let Some(task) = self.looked_up(&task)? {
                // A profile that cannot read one task shows what it said about it before.
                self.says.push(say::whole(&task, &self.here));
                shown.push(task);
            }
        }
        if !shown.is_empty() {
            self.memory.focus = shown;
        }
        Ok(())
    }

    pub(super) fn find(&mut self, words: &str) -> Result<(), Needs> {
        if self.bindings.tool("find-tasks").is_none() && self.bindings.tool("list-tasks").is_none() {
            self.lacks("search tasks");
            return Ok(());
        }
        let mut found = self.matching(words)?;
        in_order(&mut found);
        match found.as_slice() {
            [] => self.says.push(format!("I found no task that matches {}.", say::quoted(words))),
            [one] => {
                self.says.push(format!("I found one: {}", say::whole(one, &self.here)));
                self.memory.focus = found;
            }
            many => {
                let mut lines =
                    vec![format!("I found {} tasks that match {}:", many.len(), say::quoted(words))];
                lines.extend(
                    many.iter()
                        .take(20)
                        .enumerate()
                        .map(|(at, task)| format!("{}. {}", at + 1, say::line(task, &self.here))),
                );
                self.says.push(lines.join("\n"));
                self.memory.shown = found;
                self.memory.focus = Vec::new();
            }
        }
        Ok(())
    }

    /// A question that the person was asked, without a wish of which it is a part.
    pub(super) fn ask_for(&mut self, text: &str, question: Question) {
        self.says.push(text.to_owned());
        self.memory.question = Some(question);
    }
}

/// Few tasks of one kind stand as people think of them: by date, then by age.
fn in_order(tasks: &mut [Task]) {
    tasks.sort_by_key(|task| (task.due.is_none(), task.due.clone(), task.id));
}
