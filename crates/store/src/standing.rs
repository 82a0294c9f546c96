//! Standing approvals: a person lets one caller use one tool for some hours. Each is bound to the credential that
//! asked and to the definition that was shown, says what it let through, and can be ended at any time.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use toolroom_contract::ids::{KeyId, PendingId, UserId};

use crate::engine::{Row, args};
use crate::pending::{Asker, PendingRequest};
use crate::{StoreError, Unit};

/// The longest that one may stand.
pub const LONGEST: SignedDuration = SignedDuration::from_hours(8);

/// How many of the calls that it let through are kept by name.
const USES_KEPT: usize = 50;

/// It cannot come from later than this: the clock has stepped back behind the time at which it was given.
const AHEAD: SignedDuration = SignedDuration::from_mins(5);

/// A standing approval.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// That of the request which it answered.
    pub id: PendingId,
    pub user: UserId,
    pub key: Option<KeyId>,
    pub tool: String,
    pub profile: String,
    /// The definition that it is good for, as a hash.
    pub definition: String,
    /// The program that asked, by its own account.
    pub agent: Option<String>,
    pub decided_by: UserId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// How many calls it let through.
    pub used: i64,
    pub last_used_at: Option<Timestamp>,
    /// The last of these calls, newest first, as they were noted.
    pub uses: Value,
}

const COLUMNS: &str = "id, user_id, key_id, tool, profile, definition, agent_id, decided_by, created_at, expires_at, \
                       used, last_used_at, uses";

/// Lets the caller of this request use its tool until then.
pub fn give(
    unit: &mut Unit<'_>,
    request: &PendingRequest,
    definition: &str,
    by: UserId,
    until: Timestamp,
) -> Result<Standing, StoreError> {
    let sql = format!(
        "INSERT INTO standing_approvals
             (id, user_id, key_id, tool, profile, definition, agent_id, decided_by, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING {COLUMNS}"
    );
    let args = args![
        request.id,
        request.user,
        request.key,
        &request.tool,
        &request.profile,
        definition,
        request.origin.agent.as_ref(),
        by,
        unit.now,
        until,
    ];
    standing(&mut unit.query_one(&sql, args)?)
}

/// The approval under which this caller may use this tool, as it is defined now.
pub fn find(
    unit: &mut Unit<'_>,
    asker: Asker,
    agent: Option<&str>,
    tool: &str,
    definition: &str,
) -> Result<Option<Standing>, StoreError> {
    // Without a key, many programs are one caller: then the one that asked is meant. A key that was revoked a moment ago may still be believed by its caller's process, and not here.
    let sql = format!(
        "SELECT {COLUMNS} FROM standing_approvals AS given
         WHERE user_id = $1 AND coalesce(key_id, 0) = $2 AND tool = $3 AND definition = $4
               AND ended_at IS NULL AND expires_at > $5 AND created_at <= $6
               AND (key_id IS NOT NULL OR coalesce(agent_id, '') = $7)
               AND NOT EXISTS (SELECT 1 FROM keys WHERE keys.id = given.key_id AND (keys.revoked_at IS NOT NULL OR keys.expires_at <= $5))
         ORDER BY expires_at DESC LIMIT 1"
    );
    let args = args![
        asker.user,
        asker.key_number(),
        tool,
        definition,
        unit.now,
        unit.now + AHEAD,
        agent.unwrap_or_default()
    ];
    unit.query_first(&sql, args)?.as_mut().map(standing).transpose()
}

/// Notes a call that it lets through; `false` if it was ended in between.
pub fn note_use(unit: &mut Unit<'_>, found: &Standing, call: &Value) -> Result<bool, StoreError> {
    // Held until this unit ends, so that of calls at once none is left out.
    let sql = "UPDATE standing_approvals SET used = used + 1, last_used_at = $2
               WHERE id = $1 AND ended_at IS NULL RETURNING uses";
    let Some(mut row) = unit.query_first(sql, args![found.id, unit.now])? else { return Ok(false) };
    let mut uses = vec![call.clone()];
    if let Value::Array(earlier) = row.take(0)? {
        uses.extend(earlier.into_iter().take(USES_KEPT - 1));
    }
    let uses = json!(uses);
    unit.execute("UPDATE standing_approvals SET uses = $2 WHERE id = $1", args![found.id, &uses])?;
    Ok(true)
}

/// A call that was noted was refused after all.
pub fn take_back(unit: &mut Unit<'_>, id: PendingId, execution: &str) -> Result<(), StoreError> {
    // Held until this unit ends, like a use that is noted.
    let sql = "UPDATE standing_approvals SET used = used - 1 WHERE id = $1 AND used > 0 RETURNING uses";
    let Some(mut row) = unit.query_first(sql, args![id])? else { return Ok(()) };
    let Value::Array(mut uses) = row.take(0)? else { return Ok(()) };
    uses.retain(|call| call["executionId"] != execution);
    let last = uses.first().and_then(|call| call["at"].as_str()?.parse::<Timestamp>().ok());
    let sql = "UPDATE standing_approvals SET uses = $2, last_used_at = $3 WHERE id = $1";
    unit.execute(sql, args![id, &json!(uses), last])?;
    Ok(())
}

/// Those that stand, of one user or of all, newest first.
pub fn list(unit: &mut Unit<'_>, user: Option<UserId>) -> Result<Vec<Standing>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM standing_approvals
         WHERE ended_at IS NULL AND expires_at > $1 AND created_at <= $2 AND (CAST($3 AS BIGINT) = 0 OR user_id = $3)
         ORDER BY created_at DESC, id DESC LIMIT 1000"
    );
    let user = user.map_or(0, |user| user.0);
    unit.query(&sql, args![unit.now, unit.now + AHEAD, user])?.iter_mut().map(standing).collect()
}

/// Ends one; `false` if it does not stand.
pub fn end(unit: &mut Unit<'_>, id: PendingId) -> Result<bool, StoreError> {
    let sql = "UPDATE standing_approvals SET ended_at = $2
               WHERE id = $1 AND ended_at IS NULL AND expires_at > $2";
    Ok(unit.execute(sql, args![id, unit.now])? == 1)
}

/// Ends those of a key that was revoked.
pub(crate) fn end_of_key(unit: &mut Unit<'_>, key: KeyId) -> Result<u64, StoreError> {
    let sql = "UPDATE standing_approvals SET ended_at = $2 WHERE key_id = $1 AND ended_at IS NULL";
    unit.execute(sql, args![key, unit.now])
}

fn standing(row: &mut Row) -> Result<Standing, StoreError> {
    Ok(Standing {
        id: row.take(0)?,
        user: row.take(1)?,
        key: row.take(2)?,
        tool: row.take(3)?,
        profile: row.take(4)?,
        definition: row.take(5)?,
        agent: row.take(6)?,
        decided_by: row.take(7)?,
        created_at: row.take(8)?,
        expires_at: row.take(9)?,
        used: row.take(10)?,
        last_used_at: row.take(11)?,
        uses: row.take(12)?,
    })
}
