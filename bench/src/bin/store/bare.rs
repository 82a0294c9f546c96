//! The peer of the creates: a loop on the driver that inserts the same rows and commits every 32 tasks.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use rusqlite::{Connection, params};

const PER_COMMIT: usize = 32;

/// What the loop writes for a task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// The task, and the row that says who made it, as a create does.
    TaskAndAudit,
    /// The task alone.
    Task,
}

/// Tasks per second, into the tables and indexes of an existing database, as durable as the store's own.
pub fn rate(path: &Path, user: i64, rows: usize, written: Rows) -> Result<f64> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
         PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864;",
    )?;
    let began = Instant::now();
    for batch in 0..rows / PER_COMMIT {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for row in 0..PER_COMMIT {
            insert(&connection, user, batch * PER_COMMIT + row)?;
            if written == Rows::TaskAndAudit {
                insert_audit(&connection, user)?;
            }
        }
        connection.execute_batch("COMMIT")?;
    }
    Ok((rows / PER_COMMIT * PER_COMMIT) as f64 / began.elapsed().as_secs_f64())
}

fn insert(connection: &Connection, user: i64, number: usize) -> rusqlite::Result<usize> {
    let (title, description) = super::creates::texts("bare", number);
    let (title_sort, search_text) =
        (title.to_lowercase(), format!("{}\n{}", title.to_lowercase(), description.to_lowercase()));
    let now = jiff::Timestamp::now().as_microsecond();
    let mut statement = connection.prepare_cached(
        "INSERT INTO tasks (user_id, title, description, priority, completed, tags, title_sort, search_text,
                            version, created_at, updated_at)
         VALUES (?1, ?2, ?3, 'medium', 0, '[]', ?4, ?5, 1, ?6, ?6)",
    )?;
    statement.execute(params![user, title, description, title_sort, search_text, now])
}

fn insert_audit(connection: &Connection, user: i64) -> rusqlite::Result<usize> {
    let now = jiff::Timestamp::now().as_microsecond();
    let mut statement = connection.prepare_cached(
        "INSERT INTO task_audit (task_id, version, user_id, actor, action, at, changes)
         VALUES (?1, 1, ?2, 'bench', 'create', ?3, '{}')",
    )?;
    statement.execute(params![connection.last_insert_rowid(), user, now])
}
