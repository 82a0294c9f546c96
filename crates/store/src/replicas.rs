//! The processes that work on one PostgreSQL database: who is alive, by leases that the database's clock counts.

use std::time::Duration;

use toolroom_contract::ids::RunId;

use crate::engine::args;
use crate::{StoreError, Unit};

/// A process that works on the database.
#[derive(Clone, Debug)]
pub struct Replica {
    /// Its run, which its claims and log carry.
    pub id: RunId,
    /// Where it runs: one process at a time.
    pub home: String,
    pub version: &'static str,
    pub mode: Mode,
    /// The version of the registry that it serves.
    pub registry_version: i64,
    /// The fields of tools and profiles that it can read, as a JSON list.
    pub knows: String,
}

/// What there is to know at a sign of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// How many processes are alive.
    pub replicas: usize,
    /// The newest version of the registry.
    pub registry_version: i64,
}

/// How a process wants to work on the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As one of several that share what they know.
    Shared,
    /// With a memory of its own.
    Alone,
    /// As those do that are there.
    AsOthers,
}

/// The answer to [`join`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Joined {
    /// It shares the database with others; there are so many, with it.
    Shared(usize),
    Alone,
    /// A process in that home works in the other way.
    Conflict(String),
}

/// How long a process counts as alive without a sign of life.
pub const LEASE: Duration = Duration::from_secs(10);

/// Gives the first sign of life. Whoever ran in the same home before is gone.
pub fn join(unit: &mut Unit<'_>, replica: &Replica) -> Result<Joined, StoreError> {
    let now = unit.clock();
    // Of two that want different things at the same time, the second must see the first.
    unit.execute("LOCK TABLE replicas IN SHARE ROW EXCLUSIVE MODE", &[])?;
    unit.execute("DELETE FROM replicas WHERE home = $1 AND id <> $2", args![&replica.home, replica.id])?;
    let others =
        format!("SELECT home, shared FROM replicas WHERE lease_until > {now} AND id <> $1 ORDER BY home");
    let mut others: Vec<(String, bool)> = unit
        .query(&others, args![replica.id])?
        .iter_mut()
        .map(|row| Ok((row.take(0)?, row.take(1)?)))
        .collect::<Result<_, StoreError>>()?;
    let shares = match replica.mode {
        Mode::Shared => true,
        Mode::Alone => false,
        Mode::AsOthers => others.iter().any(|(_, shared)| *shared),
    };
    if let Some(other) = others.iter().position(|(_, shared)| *shared != shares) {
        return Ok(Joined::Conflict(others.swap_remove(other).0));
    }
    let sql = format!(
        "INSERT INTO replicas (id, home, version, started_at, lease_until, shared, registry_version, knows)
         VALUES ($1, $2, $3, {now}, {now} + $4, $5, $6, $7)
         ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until"
    );
    let Replica { id, home, version, registry_version, knows, .. } = replica;
    unit.execute(&sql, args![*id, home, *version, LEASE, shares, *registry_version, knows])?;
    Ok(if shares { Joined::Shared(others.len() + 1) } else { Joined::Alone })
}

/// The next sign of life, by one statement. `None` if nobody knows of this process any more, so that it must join again.
pub fn renew(unit: &mut Unit<'_>, id: RunId) -> Result<Option<Renewed>, StoreError> {
    let now = unit.clock();
    let sql = format!(
        "WITH renewed AS (UPDATE replicas SET lease_until = {now} + $2 WHERE id = $1 RETURNING id)
         SELECT (SELECT count(*) FROM renewed),
                (SELECT count(*) FROM replicas WHERE lease_until > {now} AND id <> $1),
                (SELECT version FROM registry)"
    );
    let mut row = unit.query_one(&sql, args![id, LEASE])?;
    let (renewed, others): (i64, i64) = (row.take(0)?, row.take(1)?);
    let known = Renewed { replicas: others.unsigned_abs() as usize + 1, registry_version: row.take(2)? };
    Ok((renewed == 1).then_some(known))
}

/// The processes that are alive.
pub fn alive(unit: &mut Unit<'_>) -> Result<Vec<RunId>, StoreError> {
    let sql = format!("SELECT id FROM replicas WHERE lease_until > {}", unit.clock());
    unit.query(&sql, &[])?.iter_mut().map(|row| row.take(0)).collect()
}

/// Whether a process is alive.
pub fn is_alive(unit: &mut Unit<'_>, id: RunId) -> Result<bool, StoreError> {
    let sql = format!("SELECT 1 FROM replicas WHERE id = $1 AND lease_until > {}", unit.clock());
    Ok(unit.query_first(&sql, args![id])?.is_some())
}

/// Ends in good order: nobody has to wait for the lease.
pub fn leave(unit: &mut Unit<'_>, id: RunId) -> Result<(), StoreError> {
    unit.execute("DELETE FROM replicas WHERE id = $1", args![id]).map(drop)
}

/// Removes what processes left that were gone a day ago, and returns how many.
pub fn purge(unit: &mut Unit<'_>) -> Result<u64, StoreError> {
    let sql = format!("DELETE FROM replicas WHERE lease_until < {} - $1", unit.clock());
    unit.execute(&sql, args![Duration::from_secs(24 * 3600)])
}
