//! The schema and its versions: the same numbers and names for both engines.

use jiff::Timestamp;

use crate::StoreError;
use crate::engine::{Arg, Engine, Sql};

struct Migration {
    version: i64,
    name: &'static str,
    /// The newest version that the oldest program knows which can work on this schema. A migration that only adds what
    /// older programs need not know says the version before, or an earlier one.
    oldest_reader: i64,
    sqlite: &'static str,
    postgres: &'static str,
}

macro_rules! migrations {
    (@reader $version:literal) => { $version };
    (@reader $version:literal $reader:literal) => { $reader };
    ($($version:literal $name:literal $(read from $reader:literal)?),+ $(,)?) => {
        &[$(Migration {
            version: $version,
            name: $name,
            oldest_reader: migrations!(@reader $version $($reader)?),
            sqlite: include_str!(concat!("../../../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../../../migrations/postgres/", $name, ".sql")),
        }),+]
    };
}

const MIGRATIONS: &[Migration] = migrations![
    1 "0001_core",
    2 "0002_tasks",
    3 "0003_conversations",
    4 "0004_pending_requests",
    5 "0005_cards",
    6 "0006_sessions",
    7 "0007_approvals_and_keys",
    8 "0008_replicas",
    9 "0009_shared",
    10 "0010_log",
    11 "0011_registry",
    12 "0012_parcels_and_mail",
    13 "0013_upgrades" read from 12,
    14 "0014_logins" read from 13,
    15 "0015_workers" read from 13,
    16 "0016_call_windows" read from 13,
];

/// Brings the schema up to date, inside the transaction that the caller opened.
pub(crate) fn apply(sql: &mut dyn Sql, engine: Engine) -> Result<(), StoreError> {
    apply_up_to(sql, engine, known())
}

/// The version with which programs began to say who can read what they made.
const FIRST_WITH_READERS: i64 = 13;

/// The newest version.
pub(crate) fn known() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0)
}

/// Brings the schema to this version, if it is not there yet.
pub(crate) fn apply_up_to(sql: &mut dyn Sql, engine: Engine, wanted: i64) -> Result<(), StoreError> {
    sql.script(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
             version BIGINT PRIMARY KEY,
             name TEXT NOT NULL,
             applied_at BIGINT NOT NULL
         )",
    )?;
    let found = sql.query("SELECT coalesce(max(version), 0) FROM schema_migrations", &[])?;
    let before: i64 = found.into_iter().next().map_or(Ok(0), |mut row| row.take(0))?;
    let known = known();
    if wanted > known {
        return Err(StoreError::NewerSchema { found: wanted, known });
    }
    if before > known {
        // The later release has said whether this one can work beside it.
        let readable = oldest_reader(sql, known)? <= known;
        return if readable { Ok(()) } else { Err(StoreError::NewerSchema { found: before, known }) };
    }
    for migration in MIGRATIONS.iter().filter(|migration| (before + 1..=wanted).contains(&migration.version))
    {
        sql.script(match engine {
            Engine::Sqlite => migration.sqlite,
            Engine::Postgres => migration.postgres,
        })?;
        sql.execute(
            "INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)",
            &[Arg::from(migration.version), Arg::from(migration.name), Arg::from(Timestamp::now())],
        )?;
        if migration.version >= FIRST_WITH_READERS {
            sql.execute(
                "UPDATE schema_migrations SET oldest_reader = $2 WHERE version = $1",
                &[Arg::from(migration.version), Arg::from(migration.oldest_reader)],
            )?;
        }
    }
    Ok(())
}

/// What a program must know to work on what came after this version.
fn oldest_reader(sql: &mut dyn Sql, known: i64) -> Result<i64, StoreError> {
    let asked =
        "SELECT coalesce(max(coalesce(oldest_reader, version)), 0) FROM schema_migrations WHERE version > $1";
    sql.query(asked, &[Arg::from(known)])?.into_iter().next().map_or(Ok(0), |mut row| row.take(0))
}
