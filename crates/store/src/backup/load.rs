//! Reads a backup into an empty database, whole or not at all.

use std::path::Path;

use serde_json::Value as Json;

use super::rows::{argument, decode};
use super::{BackupError, LEFT_OUT, NUMBERED, Scan, TABLES};
use crate::engine::{Arg, Engine, Sql, postgres, sqlite};
use crate::url::Target as Place;
use crate::{DatabaseUrl, StoreError, migrations};

/// The next line, without its end; `None` after the last.
pub type Lines<'a> = &'a mut dyn FnMut() -> Result<Option<String>, BackupError>;

/// Where the data goes, and what may become of what is there.
#[derive(Clone, Debug)]
pub struct Target {
    pub url: DatabaseUrl,
    /// Whether data that is there may be replaced.
    pub replace: bool,
    /// A home that is known to be at rest, as its processes named it.
    pub home: Option<String>,
}

/// What was read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loaded {
    pub rows: u64,
    /// Requests and approvals that cannot be used any more, because they may have been used since.
    pub void: u64,
}

/// How far the numbers of rows go on behind the last: those in between may have been given after the backup.
const GAP: i64 = 1_000;

/// Reads the lines of [`super::dump`]. Blocks; not to be called on an async thread.
///
/// Nothing is given twice: what waited for a person or was approved is void, what was claimed stays claimed, and runs
/// that went on are forgotten. On SQLite the file must not be there; on PostgreSQL nobody may work on the database.
pub fn load(target: &Target, lines: Lines<'_>) -> Result<Loaded, BackupError> {
    match &target.url.0 {
        Place::Sqlite(path) => load_file(path, lines),
        Place::Postgres(server) => {
            let mut connection = postgres::Connection::open(server)?;
            connection
                .script("SET statement_timeout = 0; BEGIN; SELECT pg_advisory_xact_lock(8390318671)")?;
            if schema_version(&mut connection, Engine::Postgres)?.is_some() {
                clear(&mut connection, target)?;
            }
            let loaded = fill(&mut connection, Engine::Postgres, lines)?;
            connection.script("COMMIT")?;
            Ok(loaded)
        }
    }
}

/// A file that is not whole is removed.
fn load_file(path: &Path, lines: Lines<'_>) -> Result<Loaded, BackupError> {
    if path.exists() {
        return Err(BackupError::NotEmpty);
    }
    let mut load = || {
        let mut connection = sqlite::Connection::open(path)?;
        connection.control("BEGIN IMMEDIATE")?;
        let loaded = fill(&mut connection, Engine::Sqlite, lines)?;
        connection.control("COMMIT")?;
        Ok(loaded)
    };
    load().inspect_err(|_| {
        for end in ["", "-wal", "-shm"] {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            let _ = std::fs::remove_file(name);
        }
    })
}

/// Empties the database of an installation that nobody works on.
fn clear(connection: &mut postgres::Connection, target: &Target) -> Result<(), BackupError> {
    let now = connection.clock();
    let mut count = |sql: &str, args: &[Arg<'_>]| -> Result<i64, BackupError> {
        let mut rows = connection.query(sql, args)?;
        Ok(rows.first_mut().map_or(Ok(0), |row| row.take(0))?)
    };
    let mut found = Vec::new();
    for table in TABLES.into_iter().chain(LEFT_OUT) {
        let sql =
            "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1::text";
        if count(sql, &[Arg::from(table)])? > 0 {
            found.push(table);
        }
    }
    if found.contains(&"replicas") {
        let sql = format!("SELECT count(*) FROM replicas WHERE lease_until > {now} AND home <> $1");
        let alive = count(&sql, &[Arg::from(target.home.as_deref().unwrap_or_default())])?;
        if alive > 0 {
            return Err(BackupError::InUse(alive));
        }
    }
    // A database that was only looked at has a user and settings.
    let is_content = |table: &&&str| !LEFT_OUT.contains(table) && !["users", "settings"].contains(table);
    for table in found.iter().filter(|_| !target.replace).filter(is_content) {
        if count(&format!("SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 1) AS one"), &[])? > 0 {
            return Err(BackupError::NotEmpty);
        }
    }
    Ok(connection.script(&format!("DROP TABLE {} CASCADE", found.join(", ")))?)
}

/// Makes the schema of the backup, reads its rows, and brings it up to date.
fn fill<C: Sql>(into: &mut C, engine: Engine, lines: Lines<'_>) -> Result<Loaded, BackupError> {
    let malformed = |reason: String| BackupError::Malformed(reason);
    let mut loaded = Loaded::default();
    let mut insert: Option<(String, usize)> = None;
    let mut has_schema = false;
    while let Some(line) = lines()? {
        let line: Json =
            serde_json::from_str(&line).map_err(|_| malformed("a line is not JSON".to_owned()))?;
        if let Some(schema) = line.get("schema").and_then(Json::as_i64) {
            migrations::apply_up_to(into, engine, schema)?;
            has_schema = true;
        } else if let Some(table) = line.get("table").and_then(Json::as_str) {
            let known = insert_into(table, &line, engine);
            insert = Some(known.ok_or_else(|| malformed(format!("unknown table '{table}'")))?);
        } else if let Some(table) = line.get("numbered").and_then(Json::as_str) {
            let last = line.get("last").and_then(Json::as_i64).unwrap_or_default();
            go_on_behind(into, engine, table, last)?;
        } else {
            let row = decode(line).ok_or_else(|| malformed("a row cannot be read".to_owned()))?;
            let Some((sql, _)) = insert.as_ref().filter(|(_, columns)| *columns == row.len()) else {
                return Err(malformed("a row does not fit its table".to_owned()));
            };
            into.execute(sql, &row.iter().map(argument).collect::<Vec<_>>())?;
            loaded.rows += 1;
        }
    }
    if has_schema {
        migrations::apply(into, engine)?;
        loaded.void = void(into)?;
    }
    Ok(loaded)
}

/// An `INSERT` of one row with the ids that it has.
fn insert_into(table: &str, line: &Json, engine: Engine) -> Option<(String, usize)> {
    let columns: Vec<&str> =
        line.get("columns")?.as_array()?.iter().map(Json::as_str).collect::<Option<_>>()?;
    // They become SQL.
    let is_name =
        |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if !TABLES.contains(&table) || columns.is_empty() || !columns.iter().all(is_name) {
        return None;
    }
    let places: Vec<String> = (1..=columns.len()).map(|n| format!("${n}")).collect();
    let numbered = if engine == Engine::Postgres { "OVERRIDING SYSTEM VALUE" } else { "" };
    let sql =
        format!("INSERT INTO {table} ({}) {numbered} VALUES ({})", columns.join(", "), places.join(", "));
    Some((sql, columns.len()))
}

fn go_on_behind(into: &mut dyn Sql, engine: Engine, table: &str, last: i64) -> Result<(), BackupError> {
    if !NUMBERED.contains(&table) {
        return Err(BackupError::Malformed(format!("unknown table '{table}'")));
    }
    if last == 0 {
        return Ok(());
    }
    let next = last.saturating_add(GAP);
    match engine {
        Engine::Sqlite => {
            into.execute(&format!("DELETE FROM sqlite_sequence WHERE name = '{table}'"), &[])?;
            let sql = format!("INSERT INTO sqlite_sequence (name, seq) VALUES ('{table}', $1)");
            into.execute(&sql, &[Arg::from(next)])?;
        }
        Engine::Postgres => {
            into.query(&format!("SELECT setval('{table}_id_seq', $1)"), &[Arg::from(next)])?;
        }
    }
    Ok(())
}

/// What was open or approved may have been used after the backup was made, and must not be used again.
fn void(into: &mut dyn Sql) -> Result<u64, StoreError> {
    let now = into.clock();
    let waiting = "UPDATE pending SET state = 'expired' WHERE state IN ('open', 'approved', 'answered')";
    let standing = format!("UPDATE standing_approvals SET ended_at = {now} WHERE ended_at IS NULL");
    let void = into.execute(waiting, &[])? + into.execute(&standing, &[])?;
    // A run would go on where it was, and repeat what it has done since.
    into.execute("DELETE FROM runs WHERE status <> 'done'", &[])?;
    into.execute("UPDATE conversations SET busy_by = NULL, busy_until = NULL", &[])?;
    // Sealed states that clients have are void with their key; and calls are not counted with those of the original.
    into.execute("DELETE FROM settings WHERE key IN ('mcp.request_state_key', 'redis_prefix')", &[])?;
    Ok(void)
}

/// The version of the schema; `None` in an empty database. A later one than this program knows may have tables that it
/// would leave out.
pub(super) fn schema_version<C: Scan>(from: &mut C, engine: Engine) -> Result<Option<i64>, BackupError> {
    let tables = match engine {
        Engine::Sqlite => "SELECT name FROM sqlite_schema WHERE name = 'schema_migrations'",
        Engine::Postgres => {
            "SELECT tablename::text FROM pg_tables
             WHERE schemaname = current_schema() AND tablename = 'schema_migrations'"
        }
    };
    let mut is_there = false;
    from.scan(tables, &mut |_| Ok(()), &mut |_| {
        is_there = true;
        Ok(())
    })?;
    let mut version = None;
    if is_there {
        from.scan("SELECT max(version) FROM schema_migrations", &mut |_| Ok(()), &mut |mut row| {
            version = row.take(0)?;
            Ok(())
        })?;
    }
    match (version, migrations::known()) {
        (Some(found), known) if found > known => Err(StoreError::NewerSchema { found, known }.into()),
        _ => Ok(version),
    }
}

/// The version of the schema in which a table came.
pub(super) fn first_version(table: &str) -> i64 {
    match table {
        "users" | "keys" | "pending" | "idempotency" | "settings" => 1,
        "tasks" | "task_tags" | "task_audit" => 2,
        "conversations" | "messages" | "runs" => 3,
        "decks" | "cards" | "card_reviews" => 5,
        _ => 7,
    }
}
