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
}

/// How long a process counts as alive without a sign of life.
pub const LEASE: Duration = Duration::from_secs(10);

/// Gives a sign of life, the first or the next. Whoever ran in the same home before is gone.
pub fn renew(unit: &mut Unit<'_>, replica: &Replica) -> Result<(), StoreError> {
    let now = unit.clock();
    unit.execute("DELETE FROM replicas WHERE home = $1 AND id <> $2", args![&replica.home, replica.id])?;
    let sql = format!(
        "INSERT INTO replicas (id, home, version, started_at, lease_until) VALUES ($1, $2, $3, {now}, {now} + $4)
         ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until"
    );
    unit.execute(&sql, args![replica.id, &replica.home, replica.version, LEASE]).map(drop)
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
