//! Messages between the processes that share a PostgreSQL database: for the one that holds a client's stream, or runs its
//! request. It rings for its receiver. A message is read once, or never; whoever sends one does without an answer.

use std::time::Duration;

use toolroom_contract::ids::RunId;

use crate::engine::{Row, args};
use crate::{StoreError, Unit, bell};

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    pub kind: String,
    /// JSON.
    pub body: String,
}

/// The kind of ring that tells a process, by its run, of a message.
pub const BELL: &str = "mail";

/// A message that was not read for so long is about something that is over.
const LIFE: Duration = Duration::from_secs(60);

/// Sends a message to a process, by one statement; false if that one is gone.
pub fn send(unit: &mut Unit<'_>, to: RunId, letter: &Letter) -> Result<bool, StoreError> {
    Ok(deliver(unit, "id = $3", to, letter)? == 1)
}

/// Sends a message to all processes but this one, by one statement.
pub fn send_to_others(unit: &mut Unit<'_>, me: RunId, letter: &Letter) -> Result<(), StoreError> {
    deliver(unit, "id <> $3", me, letter).map(drop)
}

/// Takes the messages of a kind to a process in the order in which they were sent, by one statement.
pub fn take(unit: &mut Unit<'_>, me: RunId, kind: &str) -> Result<Vec<Letter>, StoreError> {
    let sql = format!(
        "WITH taken AS (DELETE FROM mail WHERE replica = $1 AND kind = $2 RETURNING id, kind, body, at)
         SELECT kind, body FROM taken WHERE at > {} - $3 ORDER BY id",
        unit.clock()
    );
    let rows = unit.query(&sql, args![me, kind, LIFE])?;
    rows.into_iter().map(|mut row: Row| Ok(Letter { kind: row.take(0)?, body: row.take(1)? })).collect()
}

/// Removes messages that nobody read in time, and returns how many.
pub fn purge(unit: &mut Unit<'_>) -> Result<u64, StoreError> {
    unit.execute(&format!("DELETE FROM mail WHERE at <= {} - $1", unit.clock()), args![LIFE])
}

/// To those of whom that is true, and who are alive; returns how many.
fn deliver(unit: &mut Unit<'_>, who: &str, run: RunId, letter: &Letter) -> Result<i64, StoreError> {
    let now = unit.clock();
    let sql = format!(
        "WITH sent AS (INSERT INTO mail (replica, kind, body, at) SELECT id, $1, $2, {now} FROM replicas
                       WHERE {who} AND lease_until > {now} RETURNING replica)
         SELECT count(pg_notify('{}', '{BELL}:' || replica)) FROM sent",
        bell::CHANNEL
    );
    unit.query_one(&sql, args![&letter.kind, &letter.body, run])?.take(0)
}
