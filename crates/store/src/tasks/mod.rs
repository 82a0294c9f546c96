//! Tasks: created, changed, deleted and restored, only by their owner. Another user's task does not exist.

mod audit;
mod list;
mod model;
mod patch;

use jiff::Timestamp;
use jiff::civil::Date;
use toolroom_contract::ids::{TaskId, UserId};

use crate::engine::{Row, args};
use crate::{StoreError, Unit};
use audit::Action;
pub use audit::{AuditEntry, history};
pub use list::{Bound, Cursor, Order, Page, Query, Sort, list};
use model::{COLUMNS, task};
pub use model::{Changed, Counts, Due, Field, NewTask, Patch, Priority, Task, Title};

/// Makes a task.
pub fn insert(unit: &mut Unit<'_>, user: UserId, new: &NewTask, actor: &str) -> Result<Task, StoreError> {
    let now = unit.now;
    let sql = "INSERT INTO tasks (user_id, title, description, priority, due_date, due_at, due_sort, completed,
                                  completed_at, tags, title_sort, search_text, version, created_at, updated_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 1, $13, $13)";
    let id = unit.insert(
        sql,
        args![
            user,
            &new.title,
            new.description.as_ref(),
            new.priority,
            new.due.and_then(Due::date),
            new.due.and_then(Due::instant),
            new.due.map(Due::sort_key),
            new.completed,
            new.completed.then_some(now),
            serde_json::Value::from(new.tags.as_slice()),
            new.title.to_lowercase(),
            search_text(&new.title, new.description.as_deref()),
            now,
        ],
    )?;
    let task = Task {
        id: TaskId(id),
        user,
        title: new.title.clone(),
        description: new.description.clone(),
        priority: new.priority,
        due: patch::stored(new.due),
        completed: new.completed,
        completed_at: new.completed.then_some(now),
        tags: new.tags.clone(),
        version: 1,
        created_at: now,
        updated_at: now,
        deleted_at: None,
    };
    write_tags(unit, &task)?;
    audit::record(unit, &task, actor, Action::Create, &serde_json::json!({}))?;
    Ok(task)
}

/// The task of this user with this id.
pub fn get(unit: &mut Unit<'_>, user: UserId, id: TaskId) -> Result<Option<Task>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM tasks WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL");
    unit.query_first(&sql, args![id, user])?.as_mut().map(task).transpose()
}

/// Changes a task. With an expected version, only that version is changed; without, the newest.
pub fn update(
    unit: &mut Unit<'_>,
    user: UserId,
    id: TaskId,
    patch: &Patch,
    expected_version: Option<i64>,
    actor: &str,
) -> Result<Changed, StoreError> {
    loop {
        let Some(current) = get(unit, user, id)? else { return Ok(Changed::NotFound) };
        if expected_version.is_some_and(|expected| expected != current.version) {
            return Ok(Changed::Conflict { current });
        }
        let (next, fields) = patch.apply(&current, unit.now);
        if fields.is_empty() {
            return Ok(Changed::NoChange(current));
        }
        // Another transaction may have changed the task since it was read; then look again.
        if write(unit, &next, current.version)? {
            if fields.contains(&Field::Tags) {
                unit.execute("DELETE FROM task_tags WHERE task_id = $1", args![id])?;
                write_tags(unit, &next)?;
            }
            let changes = audit::changes(&current, &next, &fields);
            audit::record(unit, &next, actor, Action::Update, &changes)?;
            return Ok(Changed::Applied { task: next, fields });
        }
    }
}

/// Deletes a task, so that it can be restored until it is purged.
pub fn delete(
    unit: &mut Unit<'_>,
    user: UserId,
    id: TaskId,
    expected_version: Option<i64>,
    actor: &str,
) -> Result<Changed, StoreError> {
    loop {
        let Some(current) = get(unit, user, id)? else { return Ok(Changed::NotFound) };
        if expected_version.is_some_and(|expected| expected != current.version) {
            return Ok(Changed::Conflict { current });
        }
        let next = Task {
            version: current.version + 1,
            updated_at: unit.now,
            deleted_at: Some(unit.now),
            ..current
        };
        if write(unit, &next, next.version - 1)? {
            audit::record(unit, &next, actor, Action::Delete, &serde_json::json!({}))?;
            return Ok(Changed::Applied { task: next, fields: Vec::new() });
        }
    }
}

/// Brings back a task that was deleted at this time or later. One that is there is left as it is.
pub fn restore(
    unit: &mut Unit<'_>,
    user: UserId,
    id: TaskId,
    deleted_since: Timestamp,
    actor: &str,
) -> Result<Changed, StoreError> {
    if let Some(current) = get(unit, user, id)? {
        return Ok(Changed::NoChange(current));
    }
    let sql = format!(
        "UPDATE tasks SET deleted_at = NULL, version = version + 1, updated_at = $3
         WHERE id = $1 AND user_id = $2 AND deleted_at >= $4 RETURNING {COLUMNS}"
    );
    let Some(mut row) = unit.query_first(&sql, args![id, user, unit.now, deleted_since])? else {
        // Restored by somebody else between the two statements, or not there at all.
        return Ok(get(unit, user, id)?.map_or(Changed::NotFound, Changed::NoChange));
    };
    let task = task(&mut row)?;
    audit::record(unit, &task, actor, Action::Restore, &serde_json::json!({}))?;
    Ok(Changed::Applied { task, fields: Vec::new() })
}

/// Removes for good what was deleted at this time or before, with its history, and returns how many.
pub fn purge(unit: &mut Unit<'_>, deleted_until: Timestamp) -> Result<u64, StoreError> {
    unit.execute("DELETE FROM tasks WHERE deleted_at <= $1", args![deleted_until])
}

/// The titles of all tasks of a user.
pub fn titles(unit: &mut Unit<'_>, user: UserId) -> Result<Vec<Title>, StoreError> {
    let sql = "SELECT id, title, version FROM tasks WHERE user_id = $1 AND deleted_at IS NULL";
    read_titles(unit.query(sql, args![user])?)
}

/// The titles of a user's tasks that were changed at this time or later.
pub fn titles_since(unit: &mut Unit<'_>, user: UserId, since: Timestamp) -> Result<Vec<Title>, StoreError> {
    let sql =
        "SELECT id, title, version FROM tasks WHERE user_id = $1 AND deleted_at IS NULL AND updated_at >= $2";
    read_titles(unit.query(sql, args![user, since])?)
}

fn read_titles(mut rows: Vec<Row>) -> Result<Vec<Title>, StoreError> {
    rows.iter_mut()
        .map(|row| Ok(Title { id: row.take(0)?, title: row.take(1)?, version: row.take(2)? }))
        .collect()
}

/// How many tasks of a user are open and how many are done.
pub fn counts(unit: &mut Unit<'_>, user: UserId) -> Result<Counts, StoreError> {
    let sql =
        "SELECT completed, count(*) FROM tasks WHERE user_id = $1 AND deleted_at IS NULL GROUP BY completed";
    let mut counts = Counts { open: 0, completed: 0 };
    for row in &mut unit.query(sql, args![user])? {
        let number: i64 = row.take(1)?;
        let slot = if row.take(0)? { &mut counts.completed } else { &mut counts.open };
        *slot = number.unsigned_abs();
    }
    Ok(counts)
}

/// How many open tasks of a user are past their day or their moment. `today` is the user's.
pub fn overdue(unit: &mut Unit<'_>, user: UserId, today: Date) -> Result<u64, StoreError> {
    let sql = "SELECT count(*) FROM tasks
               WHERE user_id = $1 AND deleted_at IS NULL AND completed = $2 AND (due_date < $3 OR due_at < $4)";
    let count: i64 = unit.query_one(sql, args![user, false, today, unit.now])?.take(0)?;
    Ok(count.unsigned_abs())
}

/// Writes the whole task, if it still has the version that was read.
fn write(unit: &mut Unit<'_>, task: &Task, read_version: i64) -> Result<bool, StoreError> {
    let sql = "UPDATE tasks SET title = $3, description = $4, priority = $5, due_date = $6, due_at = $7,
                                due_sort = $8, completed = $9, completed_at = $10, tags = $11, title_sort = $12,
                                search_text = $13, version = $14, updated_at = $15, deleted_at = $16
               WHERE id = $1 AND version = $2 AND deleted_at IS NULL";
    let changed = unit.execute(
        sql,
        args![
            task.id,
            read_version,
            &task.title,
            task.description.as_ref(),
            task.priority,
            task.due.and_then(Due::date),
            task.due.and_then(Due::instant),
            task.due.map(Due::sort_key),
            task.completed,
            task.completed_at,
            serde_json::Value::from(task.tags.as_slice()),
            task.title.to_lowercase(),
            search_text(&task.title, task.description.as_deref()),
            task.version,
            task.updated_at,
            task.deleted_at,
        ],
    )?;
    Ok(changed == 1)
}

fn write_tags(unit: &mut Unit<'_>, task: &Task) -> Result<(), StoreError> {
    let sql = "INSERT INTO task_tags (user_id, tag, task_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    for tag in &task.tags {
        unit.execute(sql, args![task.user, tag, task.id])?;
    }
    Ok(())
}

fn search_text(title: &str, description: Option<&str>) -> String {
    let mut text = title.to_lowercase();
    if let Some(description) = description {
        text.push('\n');
        text.push_str(&description.to_lowercase());
    }
    text
}
