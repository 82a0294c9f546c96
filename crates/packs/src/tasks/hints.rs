//! What the task tools tell an agent next to the data.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use toolroom_contract::hints::{Warning, WarningKind};
use toolroom_contract::ids::TaskId;
use toolroom_contract::{HintsDraft, Priority, SuggestedAction, ToolError};
use toolroom_store::Unit;
use toolroom_store::tasks::{self, Task};

use super::dates::{self, DueRead};
use super::task::due_text;
use super::task_store::Author;
use crate::fuzzy::{Prepared, Query, score};

/// Warns if another open task says the same; `alike` are the tasks that may.
pub(super) fn duplicates(
    unit: &mut Unit<'_>,
    author: &Author,
    task: &Task,
    alike: &[TaskId],
) -> Result<Option<Warning>, ToolError> {
    if alike.is_empty() {
        return Ok(None);
    }
    let query = Query::new(&task.title);
    let mut same = Vec::new();
    for id in alike.iter().filter(|id| **id != task.id) {
        let other = tasks::get(unit, author.user, *id)?;
        same.extend(
            other.filter(|other| !other.completed && score(&query, &Prepared::new(&other.title)) == 1.0),
        );
    }
    let Some(first) = same.first() else { return Ok(None) };
    let message = match same.len() {
        1 => format!("Task {} is open and has the same title.", first.id),
        many => format!("{many} other open tasks have the same title."),
    };
    let mut warning = Warning::new(WarningKind::Duplicate, Priority::Medium, message);
    warning.related_ids = same.iter().map(|task| task.id.to_string()).collect();
    warning.suggested_fix = Some("If they mean the same, keep one and delete the other.".to_owned());
    Ok(Some(warning))
}

/// What there is to say about a due date that was just given.
pub(super) fn about_due(
    mut hints: HintsDraft,
    task: &Task,
    read: Option<&DueRead>,
    author: &Author,
) -> HintsDraft {
    let Some(read) = read else { return hints };
    hints.assumptions.extend(read.assumption.clone());
    if dates::is_overdue(task, author.now, &author.zone) {
        let message = format!("The due date is past: {}.", read.echo);
        hints = hints.warn(Warning::new(WarningKind::Validation, Priority::Low, message));
    }
    hints
}

/// The overdue among these tasks, the most overdue of them as the next thing to look at.
pub(super) fn overdue(mut hints: HintsDraft, tasks: &[Task], now: Timestamp, zone: &TimeZone) -> HintsDraft {
    let mut late: Vec<&Task> = tasks.iter().filter(|task| dates::is_overdue(task, now, zone)).collect();
    late.sort_by_key(|task| task.due.map(|due| dates::end_of(due, zone)));
    for task in late.iter().take(5) {
        hints = hints.related("overdue-task", task.id, &task.title, 1.0);
    }
    match late.first() {
        Some(first) => hints.next(reschedule(first)),
        None => hints,
    }
}

/// Something must be done about an overdue task.
pub(super) fn reschedule(task: &Task) -> SuggestedAction {
    let due = task.due.map(due_text).unwrap_or_default();
    SuggestedAction::new("update-task", Priority::High)
        .with("taskId", task.id.0)
        .described(format!("'{}' was due {due}: give it a new date, or complete it.", task.title))
}

/// Mark an open task as done.
pub(super) fn complete(task: &Task) -> SuggestedAction {
    SuggestedAction::new("complete-task", Priority::Medium)
        .with("taskId", task.id.0)
        .described("Mark the task as done.")
}
