//! Idempotency records: the first answer to a call with a key, so that a repeat has no second effect.

use jiff::Timestamp;
pub use toolroom_contract::context::Claim;
use toolroom_contract::error::Outcome;
use toolroom_contract::ids::{RunId, UserId};
use toolroom_contract::{Answer, ErrorCode, ToolError};

use crate::engine::{Row, args};
use crate::{StoreError, Unit};

/// What is known of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub body_hash: String,
    pub state: State,
    pub run: RunId,
    /// Whether that run is a process that is known to be alive.
    pub is_alive: bool,
    pub created_at: Timestamp,
}

/// How far the call of a record came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It began. If its run is gone, whether it had an effect is unknown.
    Started,
    /// It ended with this answer (JSON text).
    Done(String),
}

/// The answer to [`begin`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Begun {
    /// The claim is recorded; the call is to run.
    Fresh,
    /// The key was claimed before.
    Exists(Record),
}

/// The answer to [`finish`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Finished {
    /// The answer is recorded.
    Recorded,
    /// Another call with this key came first; the effect of this one must be rolled back.
    Exists(Record),
}

/// The record of a key, if there is one.
pub fn lookup(unit: &mut Unit<'_>, user: UserId, key: &str) -> Result<Option<Record>, StoreError> {
    let sql = format!(
        "SELECT body_hash, state, answer, run_id, created_at,
                EXISTS (SELECT 1 FROM replicas WHERE replicas.id = run_id AND lease_until > {})
         FROM idempotency WHERE user_id = $1 AND key = $2",
        unit.clock()
    );
    unit.query_first(&sql, args![user, key])?.as_mut().map(record).transpose()
}

/// Records that a call starts, unless its key was claimed before. Of many callers at once, one gets `Fresh`.
pub fn begin(unit: &mut Unit<'_>, claim: &Claim) -> Result<Begun, StoreError> {
    let sql = "INSERT INTO idempotency (user_id, key, body_hash, state, run_id, created_at)
               VALUES ($1, $2, $3, 'started', $4, $5) ON CONFLICT (user_id, key) DO NOTHING";
    let args = args![claim.user, &claim.key, &claim.body_hash, claim.run, unit.now];
    loop {
        if unit.execute(sql, args)? == 1 {
            return Ok(Begun::Fresh);
        }
        // The record may be purged between the two statements; then the key is free again.
        if let Some(record) = lookup(unit, claim.user, &claim.key)? {
            return Ok(Begun::Exists(record));
        }
    }
}

/// Records the answer to a call, whether or not it was begun here; in the transaction of its effect, where it
/// has one. `Exists` if the key is done already, or belongs to another body or run.
pub fn finish(unit: &mut Unit<'_>, claim: &Claim, answer: &str) -> Result<Finished, StoreError> {
    let sql = "INSERT INTO idempotency (user_id, key, body_hash, state, answer, run_id, created_at)
               VALUES ($1, $2, $3, 'done', $4, $5, $6)
               ON CONFLICT (user_id, key) DO UPDATE SET state = 'done', answer = excluded.answer
               WHERE idempotency.state = 'started' AND idempotency.body_hash = excluded.body_hash
                     AND idempotency.run_id = excluded.run_id";
    let args = args![claim.user, &claim.key, &claim.body_hash, answer, claim.run, unit.now];
    loop {
        if unit.execute(sql, args)? == 1 {
            return Ok(Finished::Recorded);
        }
        if let Some(record) = lookup(unit, claim.user, &claim.key)? {
            return Ok(Finished::Exists(record));
        }
    }
}

/// The answer that a key's earlier call left behind, for a call that holds the key in this process now: an earlier one
/// that is no more than started was stopped, unless another process is at it.
pub fn earlier_answer(claim: &Claim, record: &Record) -> Result<Answer, ToolError> {
    if record.body_hash != claim.body_hash {
        return Err(ToolError::new(
            ErrorCode::IdempotencyConflict,
            "This idempotency key was used before with another tool or other parameters. Use a new key.",
        ));
    }
    match &record.state {
        State::Done(answer) => Answer::from_record(answer).map_err(ToolError::internal),
        State::Started if record.run != claim.run && record.is_alive => Err(in_progress()),
        State::Started => Err(ToolError::new(
            ErrorCode::ToolExecutionError,
            "The call was interrupted: its server ended before there was an answer. Check whether it took effect before you make it again, with a new idempotency key if you gave one.",
        )
        .with_outcome(Outcome::Unknown)),
    }
}

/// What a repeat is told while the first call with its key runs.
pub fn in_progress() -> ToolError {
    ToolError::new(
        ErrorCode::InProgress,
        "A call with this idempotency key is still running. Try again in a moment.",
    )
    .retry_after_ms(100)
}

/// Frees a key, because its call had no effect; `false` if there was no record.
pub fn forget(unit: &mut Unit<'_>, user: UserId, key: &str) -> Result<bool, StoreError> {
    Ok(unit.execute("DELETE FROM idempotency WHERE user_id = $1 AND key = $2", args![user, key])? == 1)
}

/// Removes the records made before this time and returns how many.
pub fn purge(unit: &mut Unit<'_>, older_than: Timestamp) -> Result<u64, StoreError> {
    unit.execute("DELETE FROM idempotency WHERE created_at < $1", args![older_than])
}

fn record(row: &mut Row) -> Result<Record, StoreError> {
    let state: String = row.take(1)?;
    let answer: Option<String> = row.take(2)?;
    let state = match (state.as_str(), answer) {
        ("done", Some(answer)) => State::Done(answer),
        ("started", None) => State::Started,
        _ => return Err(StoreError::Decode { column: 1, expected: "a state with its answer" }),
    };
    Ok(Record {
        body_hash: row.take(0)?,
        state,
        run: row.take(3)?,
        created_at: row.take(4)?,
        is_alive: row.take(5)?,
    })
}
