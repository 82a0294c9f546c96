//! The whole database as lines of JSON, the same for both engines: what one wrote, the other reads.
//!
//! A table is a line with its name and columns, then a line per row. It is written from one snapshot while others go on
//! working, and read into an empty database; neither keeps more than a row in memory.

mod load;
mod rows;

use std::io::{self, Write};

use serde_json::{Value as Json, json};

pub use load::{Lines, Loaded, Target, load};

use crate::engine::{Engine, postgres, sqlite};
use crate::url::Target as Place;
use crate::{DatabaseUrl, StoreError};
use rows::encode;

/// Every table that is kept, each after those that it refers to.
pub const TABLES: [&str; 15] = [
    "users",
    "keys",
    "pending",
    "standing_approvals",
    "idempotency",
    "settings",
    "tasks",
    "task_tags",
    "task_audit",
    "conversations",
    "messages",
    "runs",
    "decks",
    "cards",
    "card_reviews",
];

/// What is not kept. A session of the console that was ended since would be alive again; the registry is kept as the files
/// of the home, which are copies of it, and the log is in the files of each home. A refresh token of a login may have been
/// used since, and using it again would end the login.
pub const LEFT_OUT: [&str; 18] = [
    "replicas",
    "schema_migrations",
    "sessions",
    "generations",
    "open_changes",
    "counters",
    "leases",
    "log_homes",
    "log_files",
    "log_shards",
    "log_pieces",
    "registry",
    "registry_changes",
    "registry_documents",
    "parcels",
    "mail",
    "deferred",
    "logins",
];

/// The tables whose rows the database numbers.
const NUMBERED: [&str; 6] = ["users", "keys", "tasks", "messages", "decks", "cards"];

/// Why a backup could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file failed.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The lines are not those of a backup.
    #[error("{0}")]
    Malformed(String),
    /// There is something in the database already.
    #[error("the database is not empty")]
    NotEmpty,
    /// Other processes work on the database.
    #[error("other processes work on this database ({0})")]
    InUse(i64),
}

/// A connection that can be read row by row.
pub(crate) trait Scan {
    /// Gives the names of the columns, then every row.
    fn scan(
        &mut self,
        sql: &str,
        columns: &mut dyn FnMut(&[&str]) -> Result<(), BackupError>,
        row: &mut dyn FnMut(crate::engine::Row) -> Result<(), BackupError>,
    ) -> Result<(), BackupError>;
}

/// Writes the database as it is at one moment. Blocks; not to be called on an async thread. Returns the number of rows.
pub fn dump(url: &DatabaseUrl, out: &mut dyn Write) -> Result<u64, BackupError> {
    match &url.0 {
        // A server makes its file when it starts.
        Place::Sqlite(path) if !path.exists() => Ok(0),
        Place::Sqlite(path) => {
            let mut connection = sqlite::Connection::open(path)?;
            connection.make_read_only()?;
            connection.control("BEGIN")?;
            dump_all(&mut connection, Engine::Sqlite, out)
        }
        Place::Postgres(server) => {
            let mut connection = postgres::Connection::open(server)?;
            let begin = "SET statement_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
            connection.control(begin).map_err(|(error, _)| error)?;
            dump_all(&mut connection, Engine::Postgres, out)
        }
    }
}

fn dump_all<C: Scan>(from: &mut C, engine: Engine, out: &mut dyn Write) -> Result<u64, BackupError> {
    let Some(schema) = load::schema_version(from, engine)? else { return Ok(0) };
    line(out, &json!({ "schema": schema }))?;
    let mut count = 0;
    for table in TABLES.into_iter().filter(|table| schema >= load::first_version(table)) {
        let out = std::cell::RefCell::new(&mut *out);
        from.scan(
            &format!("SELECT * FROM {table}"),
            &mut |columns| line(&mut **out.borrow_mut(), &json!({ "table": table, "columns": columns })),
            &mut |row| {
                count += 1;
                line(&mut **out.borrow_mut(), &encode(row))
            },
        )?;
    }
    for table in NUMBERED.into_iter().filter(|table| schema >= load::first_version(table)) {
        let sql = match engine {
            Engine::Sqlite => format!("SELECT seq FROM sqlite_sequence WHERE name = '{table}'"),
            Engine::Postgres => format!("SELECT last_value FROM {table}_id_seq"),
        };
        let mut last = 0;
        from.scan(&sql, &mut |_| Ok(()), &mut |mut row| {
            last = row.take(0)?;
            Ok(())
        })?;
        line(out, &json!({ "numbered": table, "last": last }))?;
    }
    Ok(count)
}

fn line(out: &mut dyn Write, value: &Json) -> Result<(), BackupError> {
    serde_json::to_writer(&mut *out, value).map_err(io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}
