//! Deferred calls that wait for a worker, for processes that share a PostgreSQL database: who takes which tools, and the
//! queue, which is the rows of [`deferred`](crate::deferred) that have a request.

use std::time::Duration;

use jiff::Timestamp;
use toolroom_contract::ids::{RunId, UserId};

use crate::deferred::{NewCall, OPEN};
use crate::engine::{Row, args};
use crate::{StoreError, Unit, bell};

/// What is rung when there is something to take.
pub const BELL: &str = "deferred";

/// How often a call is made at most: one that ends its workers must not end all of them.
pub(crate) const MOST_ATTEMPTS: i64 = 3;

/// A call that is to be made.
#[derive(Clone, Debug)]
pub struct Waiting {
    pub id: String,
    /// What is needed to make it, in words of whoever left it.
    pub request: String,
    /// Whether it may be made again.
    pub is_repeatable: bool,
    pub created_at: Timestamp,
}

/// A call of these is taken by this process from now on. By one statement.
pub fn take_on(unit: &mut Unit<'_>, me: RunId, tools: &[String]) -> Result<(), StoreError> {
    let tools = match tools {
        [] => String::new(),
        tools => format!("\n{}\n", tools.join("\n")),
    };
    unit.execute("UPDATE replicas SET takes = $2 WHERE id = $1 AND takes <> $2", args![me, tools]).map(drop)
}

/// Whether somebody who is alive takes calls of that tool. By one statement.
pub fn is_taken(unit: &mut Unit<'_>, tool: &str) -> Result<bool, StoreError> {
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM replicas
                        WHERE lease_until > {} AND position(chr(10) || $1::text || chr(10) IN takes) > 0)",
        unit.clock()
    );
    unit.query_one(&sql, args![tool])?.take(0)
}

/// Leaves a call for whoever takes its tool, for so long; false if its owner has that many open already, or ten times as
/// many whose outcome is kept. Those of one user wait for one another, so that none is missed in the count.
pub fn leave(
    unit: &mut Unit<'_>,
    user: UserId,
    call: &NewCall,
    request: &str,
    is_repeatable: bool,
    life: Duration,
    most_of_one: usize,
) -> Result<bool, StoreError> {
    // What refers to the user goes on meanwhile.
    unit.query("SELECT 1 FROM users WHERE id = $1 FOR NO KEY UPDATE", args![user])?;
    let now = unit.clock();
    let sql = format!(
        "INSERT INTO deferred (id, owner, tool, status, message, requests, responses, replica, created_at, updated_at,
                               expires_at, request, repeatable)
         SELECT $1::text, $2::text, $3::text, 'working', $8::text, '{{}}', '{{}}', '', $4::bigint, $4::bigint, {now} + $5,
                $6::text, $7::boolean
         FROM (SELECT count(*) AS kept, count(*) FILTER (WHERE {OPEN}) AS open FROM deferred
               WHERE owner = $2 AND expires_at > {now}) AS theirs
         WHERE open < $9 AND kept < $9 * 10"
    );
    let NewCall { id, owner, tool, message, created_at, .. } = call;
    let most = i64::try_from(most_of_one).unwrap_or(i64::MAX);
    let args = args![id, owner, tool, *created_at, life, request, is_repeatable, message.as_deref(), most];
    if unit.execute(&sql, args)? != 1 {
        return Ok(false);
    }
    bell::ring(unit, BELL, "")?;
    Ok(true)
}

/// Takes the call that has waited longest, of those that this process takes; also one whose worker is gone, if it may be
/// made again. By one statement; what it took and was not heard is found by [`held`].
pub fn take(unit: &mut Unit<'_>, me: RunId) -> Result<Option<Waiting>, StoreError> {
    take_of(
        unit,
        me,
        "position(chr(10) || tool || chr(10) IN (SELECT takes FROM replicas WHERE replicas.id = $1)) > 0",
    )
}

/// The same, of those that were left for workers of whom none is there any more.
pub fn take_abandoned(unit: &mut Unit<'_>, me: RunId) -> Result<Option<Waiting>, StoreError> {
    let nobody = format!(
        "NOT EXISTS (SELECT 1 FROM replicas
                     WHERE lease_until > {} AND position(chr(10) || waiting.tool || chr(10) IN takes) > 0)",
        unit.clock()
    );
    take_of(unit, me, &nobody)
}

fn take_of(unit: &mut Unit<'_>, me: RunId, which: &str) -> Result<Option<Waiting>, StoreError> {
    let now = unit.clock();
    let sql = format!(
        "UPDATE deferred SET replica = $1, status = 'working', requests = '{{}}', responses = '{{}}',
                             attempts = attempts + 1
         WHERE id = (
             SELECT id FROM deferred AS waiting
             WHERE request IS NOT NULL AND {OPEN} AND expires_at > {now}
               AND {which}
               AND (replica = '' OR (repeatable AND attempts < {MOST_ATTEMPTS} AND NOT EXISTS (
                       SELECT 1 FROM replicas WHERE replicas.id = waiting.replica AND lease_until > {now})))
             ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING id, request, repeatable, created_at"
    );
    unit.query_first(&sql, args![me])?.as_mut().map(waiting).transpose()
}

/// The calls that this process has taken and not ended. By one statement.
pub fn held(unit: &mut Unit<'_>, me: RunId) -> Result<Vec<Waiting>, StoreError> {
    let sql = format!(
        "SELECT id, request, repeatable, created_at FROM deferred WHERE request IS NOT NULL AND {OPEN} AND replica = $1"
    );
    unit.query(&sql, args![me])?.iter_mut().map(waiting).collect()
}

/// Gives back a call that may be made again: this process ends.
pub fn give_back(unit: &mut Unit<'_>, me: RunId, id: &str) -> Result<(), StoreError> {
    let sql = format!(
        "UPDATE deferred SET replica = '', status = 'working', requests = '{{}}', attempts = attempts - 1
         WHERE id = $1 AND replica = $2 AND repeatable AND {OPEN}"
    );
    unit.execute(&sql, args![id, me])?;
    bell::ring(unit, BELL, "")
}

/// How many calls of each tool nobody has taken yet. By one statement.
pub fn depths(unit: &mut Unit<'_>) -> Result<Vec<(String, i64)>, StoreError> {
    let sql = format!(
        "SELECT tool, count(*) FROM deferred
         WHERE request IS NOT NULL AND {OPEN} AND replica = '' AND expires_at > {} GROUP BY tool",
        unit.clock()
    );
    unit.query(&sql, &[])?.iter_mut().map(|row| Ok((row.take(0)?, row.take(1)?))).collect()
}

fn waiting(row: &mut Row) -> Result<Waiting, StoreError> {
    Ok(Waiting {
        id: row.take(0)?,
        request: row.take(1)?,
        is_repeatable: row.take(2)?,
        created_at: row.take(3)?,
    })
}
