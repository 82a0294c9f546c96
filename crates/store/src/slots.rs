//! The one slot of a tool whose calls run one at a time, over all processes that share a PostgreSQL database.

use std::time::Duration;

use toolroom_contract::ids::RunId;

use crate::engine::args;
use crate::{StoreError, Unit};

/// How often those who wait are expected to ask again.
pub const TICK: Duration = Duration::from_millis(50);

/// Takes the slot if it is free, by one statement, and says whether it did. It is free if nobody has it, if its holder is
/// gone, or if its time is over; but who has waited longest comes first, so that a process with many calls lets others
/// have a turn. A process lets one call at a time ask: one that asks has no other that runs.
pub fn take(
    unit: &mut Unit<'_>,
    tool: &str,
    holder: RunId,
    token: &str,
    most: Duration,
) -> Result<bool, StoreError> {
    take_named(unit, &name(tool), holder, token, most)
}

/// The same for anything that one process at a time may do.
pub(crate) fn take_named(
    unit: &mut Unit<'_>,
    name: &str,
    holder: RunId,
    token: &str,
    most: Duration,
) -> Result<bool, StoreError> {
    // One time for all of the statement.
    let now = "(excluded.until - $4)";
    let is_next = format!("(kept.wanted_by IN ('', excluded.holder) OR kept.wanted_until <= {now})");
    let is_free = format!(
        "({is_next} AND (kept.holder = excluded.holder OR kept.until <= {now}
          OR NOT EXISTS (SELECT 1 FROM replicas WHERE id = kept.holder AND lease_until > {now})))"
    );
    let sql = format!(
        "INSERT INTO leases AS kept (name, holder, token, until) VALUES ($1, $2, $3, {} + $4)
         ON CONFLICT (name) DO UPDATE SET
             holder = CASE WHEN {is_free} THEN excluded.holder
                           WHEN kept.holder = excluded.holder THEN '' ELSE kept.holder END,
             token = CASE WHEN {is_free} THEN excluded.token ELSE kept.token END,
             until = CASE WHEN {is_free} THEN excluded.until ELSE kept.until END,
             wanted_by = CASE WHEN {is_free} THEN '' WHEN {is_next} THEN excluded.holder ELSE kept.wanted_by END,
             wanted_until = CASE WHEN {is_next} THEN {now} + $5 ELSE kept.wanted_until END
         RETURNING token = $3",
        unit.clock()
    );
    unit.query_one(&sql, args![name, holder, token, most, 4 * TICK])?.take(0)
}

/// Gives the slot back, if this call still has it. By one statement.
pub fn give_back(unit: &mut Unit<'_>, tool: &str, token: &str) -> Result<(), StoreError> {
    give_back_named(unit, &name(tool), token)
}

pub(crate) fn give_back_named(unit: &mut Unit<'_>, name: &str, token: &str) -> Result<(), StoreError> {
    let sql = "UPDATE leases SET holder = '' WHERE name = $1 AND token = $2";
    unit.execute(sql, args![name, token]).map(drop)
}

fn name(tool: &str) -> String {
    format!("slot:{tool}")
}
