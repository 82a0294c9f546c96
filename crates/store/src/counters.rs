//! Calls per tool and user, counted over all processes that share a PostgreSQL database, by its clock.

use toolroom_contract::definition::RateLimit;
use toolroom_contract::ids::UserId;

use crate::engine::args;
use crate::{StoreError, Unit};

/// A sliding window: the calls in it and in the one before, and the time when that was read. In milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub start: u64,
    pub length: u64,
    pub now: u32,
    pub before: u32,
    pub at: u64,
}

/// Counts a call if there is room for it, by one statement, and says whether it did. The rules are those of the window
/// in one process (`runtime/src/limits.rs`).
pub fn count(unit: &mut Unit<'_>, scope: u64, user: UserId, limit: RateLimit) -> Result<bool, StoreError> {
    let now = format!("({} / 1000)", unit.clock());
    // How many windows have passed since the row was written; two or more are all the same.
    let passed = "CASE WHEN kept.length <> excluded.length THEN 2
                       ELSE least(2, greatest(0, (excluded.start - kept.start) / kept.length)) END";
    let start = format!(
        "CASE {passed} WHEN 2 THEN excluded.start
                       ELSE least(excluded.start, kept.start + kept.length * ({passed})) END"
    );
    let counted = format!("CASE {passed} WHEN 0 THEN kept.now ELSE 0 END");
    let before = format!("CASE {passed} WHEN 0 THEN kept.before WHEN 1 THEN kept.now ELSE 0 END");
    let sql = format!(
        "INSERT INTO counters AS kept (scope, user_id, start, length, now, before)
         VALUES ($1, $2, {now}, $3, 1, 0)
         ON CONFLICT (scope, user_id) DO UPDATE
         SET start = {start}, length = excluded.length, now = ({counted}) + 1, before = {before}
         WHERE ({before}) * (1 - (excluded.start - ({start}))::float8 / excluded.length) + ({counted})
               < $4::float8 - 1e-9"
    );
    let (length, most) = (limit.window_ms.max(1) as i64, f64::from(limit.max_calls));
    Ok(unit.execute(&sql, args![scope as i64, user, length, most])? == 1)
}

/// The window of a tool and a user, if there is one.
pub fn window(unit: &mut Unit<'_>, scope: u64, user: UserId) -> Result<Option<Window>, StoreError> {
    let sql = format!(
        "SELECT start, length, now, before, {} / 1000 FROM counters WHERE scope = $1 AND user_id = $2",
        unit.clock()
    );
    let Some(mut row) = unit.query_first(&sql, args![scope as i64, user])? else { return Ok(None) };
    let mut number = |column| Ok::<u64, StoreError>(row.take::<i64>(column)?.unsigned_abs());
    Ok(Some(Window {
        start: number(0)?,
        length: number(1)?,
        now: u32::try_from(number(2)?).unwrap_or(u32::MAX),
        before: u32::try_from(number(3)?).unwrap_or(u32::MAX),
        at: number(4)?,
    }))
}

/// Removes windows that were at rest for longer than the longest can be.
pub fn purge(unit: &mut Unit<'_>) -> Result<u64, StoreError> {
    let sql = format!("DELETE FROM counters WHERE start < {} / 1000 - $1", unit.clock());
    unit.execute(&sql, args![2 * RateLimit::LONGEST_MS as i64])
}
