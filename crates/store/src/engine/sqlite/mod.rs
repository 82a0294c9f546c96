//! SQLite: one connection, its statements cached, errors put into our words.

mod readers;
mod threads;

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, OpenFlags, ToSql, params_from_iter};

use super::{Arg, Row, Sql, Value};
use crate::StoreError;
use crate::backup::{BackupError, Scan};
pub(crate) use readers::Readers;
pub(crate) use threads::start;

/// Texts built for list filters could be many; the map is emptied rather than let grow.
const MOST_TRANSLATIONS: usize = 512;

/// How long to wait while another process writes.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Connection {
    raw: rusqlite::Connection,
    /// `$n` to `?n`: SQLite numbers `$n` by first use, not by n.
    translated: HashMap<String, String>,
}

impl Connection {
    /// Opens the file, making it if needed. Only its owner may read it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        make_private(path)
            .map_err(|error| StoreError::Unavailable { cause: format!("{}: {error}", path.display()) })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = rusqlite::Connection::open_with_flags(path, flags)
            .and_then(|raw| prepare_connection(&raw).map(|()| raw));
        let raw = connection.map_err(|error| match our_error(error) {
            StoreError::Corrupt { cause } => {
                StoreError::Corrupt { cause: format!("{}: {cause}", path.display()) }
            }
            StoreError::Unavailable { cause } => {
                StoreError::Unavailable { cause: format!("{}: {cause}", path.display()) }
            }
            other => other,
        })?;
        Ok(Self { raw, translated: HashMap::new() })
    }

    /// Opens the file only to look at it. It waits for no lock: on a damaged file some are never given back.
    pub fn open_for_a_look(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let raw = rusqlite::Connection::open_with_flags(path, flags).map_err(our_error)?;
        raw.busy_timeout(Duration::ZERO).map_err(our_error)?;
        Ok(Self { raw, translated: HashMap::new() })
    }

    /// How long a statement waits while another process writes.
    pub fn set_patience(&self, patience: Duration) -> Result<(), StoreError> {
        self.raw.busy_timeout(patience).map_err(our_error)
    }

    pub fn make_read_only(&self) -> Result<(), StoreError> {
        self.raw.pragma_update(None, "query_only", true).map_err(our_error)
    }

    /// Runs a statement that steers the transaction.
    pub fn control(&self, sql: &'static str) -> Result<(), StoreError> {
        let mut statement = self.raw.prepare_cached(sql).map_err(our_error)?;
        statement.execute([]).map(drop).map_err(our_error)
    }

    /// Whether no transaction is open: serious errors make SQLite roll back by itself.
    pub fn is_idle(&self) -> bool {
        self.raw.is_autocommit()
    }

    /// How many rows were ever changed here: the same before and after a unit means that it wrote nothing.
    pub fn rows_changed(&self) -> u64 {
        self.raw.total_changes()
    }

    fn statement(&mut self, sql: &str) -> Result<rusqlite::CachedStatement<'_>, StoreError> {
        if let Some(text) = self.translated.get(sql) {
            return self.raw.prepare_cached(text).map_err(our_error);
        }
        if self.translated.len() >= MOST_TRANSLATIONS {
            self.translated.clear();
        }
        let text = translate(sql);
        self.translated.insert(sql.to_owned(), text.clone());
        self.raw.prepare_cached(&text).map_err(our_error)
    }
}

impl Sql for Connection {
    fn execute(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<u64, StoreError> {
        let changed = self.statement(sql)?.execute(params_from_iter(args)).map_err(our_error)?;
        Ok(changed as u64)
    }

    fn query(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<Row>, StoreError> {
        let mut statement = self.statement(sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(args)).map_err(our_error)?;
        let mut read = Vec::new();
        while let Some(row) = rows.next().map_err(our_error)? {
            let values = (0..columns).map(|column| value(row, column)).collect::<Result<_, _>>()?;
            read.push(Row(values));
        }
        Ok(read)
    }

    // RETURNING would build a temporary table for its one row, which costs as much as the insert.
    fn insert(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<i64, StoreError> {
        self.execute(sql, args)?;
        Ok(self.raw.last_insert_rowid())
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.raw.execute_batch(sql).map_err(our_error)
    }

    fn clock(&self) -> &'static str {
        "CAST(unixepoch('now', 'subsec') * 1000000 AS INTEGER)"
    }
}

impl Scan for Connection {
    fn scan(
        &mut self,
        sql: &str,
        columns: &mut dyn FnMut(&[&str]) -> Result<(), BackupError>,
        row: &mut dyn FnMut(Row) -> Result<(), BackupError>,
    ) -> Result<(), BackupError> {
        let mut statement = self.raw.prepare(sql).map_err(our_error)?;
        columns(&statement.column_names().collect::<Vec<_>>())?;
        let width = statement.column_count();
        let mut rows = statement.query([]).map_err(our_error)?;
        while let Some(found) = rows.next().map_err(our_error)? {
            let values = (0..width).map(|column| value(found, column)).collect::<Result<_, _>>()?;
            row(Row(values))?;
        }
        Ok(())
    }
}

impl ToSql for Arg<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Arg::Null => ValueRef::Null,
            Arg::Int(n) => ValueRef::Integer(*n),
            Arg::Float(x) => ValueRef::Real(*x),
            Arg::Bool(truth) => ValueRef::Integer(i64::from(*truth)),
            Arg::Text(text) => ValueRef::Text(text.as_bytes()),
            Arg::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn value(row: &rusqlite::Row<'_>, column: usize) -> Result<Value, StoreError> {
    let decode = |expected| StoreError::Decode { column, expected };
    match row.get_ref(column).map_err(our_error)? {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(n) => Ok(Value::Int(n)),
        ValueRef::Real(x) => Ok(Value::Float(x)),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::Text(text.to_owned())),
            Err(_) => Err(decode("UTF-8")),
        },
        ValueRef::Blob(bytes) => Ok(Value::Bytes(bytes.to_vec())),
    }
}

fn prepare_connection(raw: &rusqlite::Connection) -> rusqlite::Result<()> {
    raw.busy_timeout(PATIENCE)?;
    raw.set_prepared_statement_cache_capacity(256);
    // FULL: an answered write survives a power cut. No mmap: there an I/O error is a signal that kills the process.
    raw.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA cache_size = -16000;
         PRAGMA temp_store = MEMORY;
         PRAGMA journal_size_limit = 67108864;",
    )?;
    // The pragmas above may not read a page; this does, so that a damaged file is refused here.
    raw.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

/// Makes the file if there is none. One that is there is never opened here: closing it again would drop the locks that
/// SQLite holds on it for this whole process, and the next one to close it would remove the write-ahead log.
#[cfg(unix)]
fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn make_private(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Rewrites `$n` as `?n`, leaving quoted texts alone.
fn translate(sql: &str) -> String {
    let mut quoted = false;
    let swap = |c| {
        quoted ^= c == '\'';
        if c == '$' && !quoted { '?' } else { c }
    };
    sql.chars().map(swap).collect()
}

fn our_error(error: rusqlite::Error) -> StoreError {
    let cause = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
        Some(
            ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied
            | ErrorCode::OperationInterrupted,
        ) => StoreError::Unavailable { cause },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt { cause },
        // What the migrations have made is gone.
        _ if cause.starts_with("no such table") || cause.starts_with("malformed") => {
            StoreError::Corrupt { cause }
        }
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly,
        Some(ErrorCode::ConstraintViolation) => StoreError::Constraint { cause },
        _ => StoreError::Engine { cause },
    }
}
