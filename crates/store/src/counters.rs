//! Calls per tool and user, counted over all processes that share a PostgreSQL database, by its clock.

use toolroom_contract::definition::RateLimit;
use toolroom_contract::ids::UserId;

use crate::engine::args;
use crate::{StoreError, Unit};

/// Calls in the same piece of a window count until the last of them is over, so that no window holds more than its limit
/// and none needs more room than this many times and counts. Calls in pieces of their own are counted to the millisecond.
const PIECES: u64 = 31;

/// The length of a piece of a limit's window, in milliseconds.
pub fn piece(limit: RateLimit) -> u64 {
    limit.window_ms.div_ceil(PIECES).max(1)
}

/// Whether a call was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Counted {
    Yes,
    /// The window is full; there is room after this many milliseconds.
    No {
        wait: u64,
    },
}

/// Counts a call if there is room for it, by one statement. The rules are those of the window in one process
/// (`runtime/src/limits.rs`). Who is refused is told by the row as it is now, which `FOR UPDATE` gives: another call may
/// have changed it after this statement began, and that is why there is no room.
pub fn count(unit: &mut Unit<'_>, scope: u64, user: UserId, limit: RateLimit) -> Result<Counted, StoreError> {
    // Read anew wherever it stands, so after the row is locked: times in a row only go back if the clock does. Then what is
    // ahead of it by more than a window no longer counts, so that nobody waits until the clock has caught up.
    let now = format!("({} / 1000)", unit.clock());
    let kept = format!(
        "SELECT least(last, {now}) AS last, n FROM unnest(kept.lasts, kept.counts) AS piece(last, n)
         WHERE least(last, {now}) > {now} - $3 AND last <= {now} + $3"
    );
    let sql = format!(
        "WITH counted AS (
             INSERT INTO counters AS kept (scope, user_id, lasts, counts)
             VALUES ($1, $2, ARRAY[{now}], ARRAY[1])
             ON CONFLICT (scope, user_id) DO UPDATE
             SET (lasts, counts) = (
                 SELECT array_agg(last ORDER BY last), array_agg(n ORDER BY last) FROM (
                     SELECT max(last) AS last, sum(n)::bigint AS n
                     FROM ({kept} UNION ALL SELECT {now}, 1) AS calls GROUP BY last / $4
                 ) AS pieces)
             WHERE (SELECT coalesce(sum(n), 0) FROM ({kept}) AS calls) < $5::bigint
             RETURNING scope)
         SELECT CASE WHEN NOT EXISTS (SELECT FROM counted) THEN coalesce(
             (SELECT min(last) + $3 - {now} FROM (
                 SELECT least(last, {now}) AS last, sum(n) OVER (ORDER BY piece.last DESC) - n AS later
                 FROM (SELECT lasts, counts FROM counters WHERE scope = $1 AND user_id = $2 FOR UPDATE) AS kept,
                     unnest(lasts, counts) AS piece(last, n)
                 WHERE last <= {now} + $3
             ) AS pieces WHERE later < $5::bigint), $3) END"
    );
    let (length, piece) = (limit.window_ms.max(1) as i64, piece(limit) as i64);
    let most = i64::from(limit.max_calls);
    let wait: Option<i64> = unit.query_one(&sql, args![scope as i64, user, length, piece, most])?.take(0)?;
    Ok(wait.map_or(Counted::Yes, |wait| Counted::No { wait: wait.max(1).unsigned_abs() }))
}

/// Removes windows that were at rest for longer than the longest can be.
pub fn purge(unit: &mut Unit<'_>) -> Result<u64, StoreError> {
    let sql = format!("DELETE FROM counters WHERE lasts[cardinality(lasts)] < {} / 1000 - $1", unit.clock());
    unit.execute(&sql, args![RateLimit::LONGEST_MS as i64])
}
