//! How far the things of each user have come, for processes that share a PostgreSQL database: a change moves the number
//! in its own transaction, and whoever has kept an answer reads the number before giving it again.
//!
//! So a kept answer is never older than a change that was answered, whatever crashes. Read at the primary alone.

use std::fmt::Write;
use std::time::Duration;

use toolroom_contract::ids::UserId;

use crate::engine::{Arg, args};
use crate::{Store, StoreError, Unit};

/// A state of some resources: of two, the later one is greater. A connection that breaks may lead to a database that
/// fell back to an older state, so what was read over earlier connections is another matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Generation {
    connections: u64,
    number: i64,
}

impl Generation {
    /// As part of a key.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.connections.to_le_bytes());
        bytes[8..].copy_from_slice(&self.number.to_le_bytes());
        bytes
    }
}

/// What there is to know before an answer is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub generation: Generation,
    /// Whether something outside of the database is changing these resources now: no answer may be kept.
    pub is_busy: bool,
}

/// A row per shard, so that the changes of one user need not wait for one another.
const SHARDS: u32 = 16;

/// How far a user's resources have come, those that are everybody's included.
pub async fn read(store: &Store, user: UserId, resources: Vec<String>) -> Result<Look, StoreError> {
    if resources.is_empty() {
        return Ok(Look { generation: Generation::default(), is_busy: false });
    }
    let names = (2..resources.len() + 2).map(|place| format!("${place}")).collect::<Vec<_>>().join(", ");
    loop {
        let (names, resources) = (names.clone(), resources.clone());
        let connections = store.connections_opened();
        // Rows only ever grow, and states follow one another: an equal sum is an equal state.
        let read = store.read(move |unit| {
            let sql = format!(
                "SELECT coalesce(sum(n), 0)::bigint,
                        EXISTS (SELECT 1 FROM open_changes WHERE resource IN ({names}) AND until > {})
                 FROM generations WHERE owner IN (0, $1) AND resource IN ({names})",
                unit.clock()
            );
            let args: Vec<Arg<'_>> =
                [Arg::from(user)].into_iter().chain(resources.iter().map(Arg::from)).collect();
            let mut row = unit.query_one(&sql, &args)?;
            Ok::<(i64, bool), StoreError>((row.take(0)?, row.take(1)?))
        });
        let (number, is_busy) = read.await?;
        if store.connections_opened() == connections {
            return Ok(Look { generation: Generation { connections, number }, is_busy });
        }
    }
}

/// Moves a user's resources on, in the round trip of the commit.
pub fn advance(unit: &mut Unit<'_>, owner: UserId, resources: &[String]) -> Result<(), StoreError> {
    let is_name =
        |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    // They become SQL.
    if !resources.iter().all(is_name) {
        return Err(StoreError::Engine { cause: "the name of a resource has other characters".to_owned() });
    }
    if resources.is_empty() {
        return Ok(());
    }
    let rows: Vec<String> = resources.iter().map(|name| row(owner, &format!("'{name}'"), unit)).collect();
    unit.last_statement = moving(&rows);
    Ok(())
}

/// A script or another server, which have no transaction of ours, is about to change these resources: until
/// [`end_change`], and for so long at most, nobody keeps an answer. By one statement.
pub fn begin_change(
    unit: &mut Unit<'_>,
    id: &str,
    resources: &[String],
    most: Duration,
) -> Result<(), StoreError> {
    if resources.is_empty() {
        return Ok(());
    }
    let mut marks = String::new();
    for place in 3..resources.len() + 3 {
        let comma = if marks.is_empty() { "" } else { ", " };
        let _ = write!(marks, "{comma}($1, ${place}, {} + $2)", unit.clock());
    }
    let sql = format!(
        "WITH marked AS (INSERT INTO open_changes (id, resource, until) VALUES {marks}
                         ON CONFLICT (resource, id) DO UPDATE SET until = excluded.until)
         {}",
        moving(&of_everybody(unit, resources.len(), 3))
    );
    let args: Vec<Arg<'_>> =
        [Arg::from(id), Arg::from(most)].into_iter().chain(resources.iter().map(Arg::from)).collect();
    unit.execute(&sql, &args).map(drop)
}

/// It is over, one way or another. By one statement.
pub fn end_change(unit: &mut Unit<'_>, id: &str, resources: &[String]) -> Result<(), StoreError> {
    if resources.is_empty() {
        return Ok(());
    }
    let places: Vec<String> = (2..resources.len() + 2).map(|place| format!("${place}")).collect();
    let sql = format!(
        "WITH unmarked AS (DELETE FROM open_changes WHERE id = $1 AND resource IN ({}))
         {}",
        places.join(", "),
        moving(&of_everybody(unit, resources.len(), 2))
    );
    let args: Vec<Arg<'_>> = [Arg::from(id)].into_iter().chain(resources.iter().map(Arg::from)).collect();
    unit.execute(&sql, &args).map(drop)
}

/// Removes the marks of calls that were over an hour ago, and whose process did not live to say so.
pub fn purge(unit: &mut Unit<'_>) -> Result<u64, StoreError> {
    let sql = format!("DELETE FROM open_changes WHERE until < {} - $1", unit.clock());
    unit.execute(&sql, args![Duration::from_secs(3600)])
}

fn of_everybody(unit: &Unit<'_>, count: usize, first: usize) -> Vec<String> {
    (first..first + count).map(|place| row(UserId(0), &format!("${place}"), unit)).collect()
}

fn row(owner: UserId, resource: &str, unit: &Unit<'_>) -> String {
    format!("({}, {resource}, pg_backend_pid() % {SHARDS}, {})", owner.0, unit.clock())
}

/// A number is never given twice, even by a database that fell back: it is at least the time.
fn moving(rows: &[String]) -> String {
    format!(
        "INSERT INTO generations AS kept (owner, resource, shard, n) VALUES {}
         ON CONFLICT (owner, resource, shard) DO UPDATE SET n = greatest(kept.n + 1, excluded.n)",
        rows.join(", ")
    )
}
