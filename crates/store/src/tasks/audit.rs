//! The history of a task: who changed what and when.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use toolroom_contract::ids::{TaskId, UserId};

use super::model::{Due, Field, Task};
use crate::engine::args;
use crate::named::named;
use crate::{StoreError, Unit};

named!(
    /// What was done to a task.
    Action {
        Create = "create",
        Update = "update",
        Delete = "delete",
        Restore = "restore",
    }
);

/// One change of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    pub actor: String,
    pub action: Action,
    /// The version that the change made.
    pub version: i64,
    pub at: Timestamp,
    /// By field: `{"from": …, "to": …}`. Empty for anything but an update.
    pub changes: Value,
}

/// The changes of a task of this user, oldest first; none for a task that is not there.
pub fn history(unit: &mut Unit<'_>, user: UserId, id: TaskId) -> Result<Vec<AuditEntry>, StoreError> {
    let sql = "SELECT a.actor, a.action, a.version, a.at, a.changes
               FROM task_audit a JOIN tasks t ON t.id = a.task_id
               WHERE a.task_id = $1 AND t.user_id = $2 AND t.deleted_at IS NULL ORDER BY a.version";
    let mut rows = unit.query(sql, args![id, user])?;
    rows.iter_mut()
        .map(|row| {
            Ok(AuditEntry {
                actor: row.take(0)?,
                action: row.take(1)?,
                version: row.take(2)?,
                at: row.take(3)?,
                changes: row.take(4)?,
            })
        })
        .collect()
}

pub(super) fn record(
    unit: &mut Unit<'_>,
    task: &Task,
    actor: &str,
    action: Action,
    changes: &Value,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO task_audit (task_id, user_id, actor, action, version, at, changes)
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let args = args![task.id, task.user, actor, action, task.version, unit.now, changes];
    unit.execute(sql, args).map(drop)
}

pub(super) fn changes(before: &Task, after: &Task, fields: &[Field]) -> Value {
    let change = |field: &Field| {
        let change = json!({"from": shown(before, *field), "to": shown(after, *field)});
        (field.as_str().to_owned(), change)
    };
    Value::Object(fields.iter().map(change).collect::<Map<_, _>>())
}

fn shown(task: &Task, field: Field) -> Value {
    match field {
        Field::Title => json!(task.title),
        Field::Description => json!(task.description),
        Field::Priority => json!(task.priority),
        Field::Due => match task.due {
            None => Value::Null,
            Some(Due::Date(date)) => json!(date.to_string()),
            Some(Due::Instant(at)) => json!(at.to_string()),
        },
        Field::Tags => json!(task.tags),
        Field::Completed => json!(task.completed),
    }
}
