//! Calls that outlive their request, as rows that every process on a PostgreSQL database can read: how a call stands, what
//! its client is asked, how it ended. The process that makes the call writes its row; others write what the client says.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value};
use toolroom_contract::ids::RunId;

use crate::engine::{Row, args};
use crate::named::named;
use crate::workers::MOST_ATTEMPTS;
use crate::{StoreError, Unit};

named! {
    /// How a call stands.
    Status {
        Working = "working",
        InputRequired = "input_required",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl Status {
    /// Whether the call is over.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// A call that begins to outlive its request.
#[derive(Clone, Debug)]
pub struct NewCall {
    pub id: String,
    pub owner: String,
    pub tool: String,
    /// What the tool has said so far.
    pub message: Option<String>,
    pub replica: RunId,
    pub created_at: Timestamp,
}

/// How a call stands, as the process that makes it says.
#[derive(Clone, Debug)]
pub struct Progress {
    pub status: Status,
    pub message: Option<String>,
    /// What the client is asked, by key.
    pub requests: Map<String, Value>,
    /// How it ended, as JSON.
    pub outcome: Option<String>,
    pub updated_at: Timestamp,
}

/// A call, as every process sees it.
#[derive(Clone, Debug)]
pub struct Call {
    pub id: String,
    pub progress: Progress,
    /// What the client has answered since it was asked last, by key.
    pub responses: Map<String, Value>,
    pub created_at: Timestamp,
    /// Whether somebody makes it, or will.
    pub is_alive: bool,
}

pub(crate) const OPEN: &str = "status IN ('working', 'input_required')";

/// Keeps a call for so long. By one statement.
pub fn put(unit: &mut Unit<'_>, call: &NewCall, life: Duration) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO deferred
             (id, owner, tool, status, message, requests, responses, replica, created_at, updated_at, expires_at)
         VALUES ($1, $2, $3, 'working', $7, '{{}}', '{{}}', $4, $5, $5, {} + $6) ON CONFLICT (id) DO NOTHING",
        unit.clock()
    );
    let NewCall { id, owner, tool, message, replica, created_at } = call;
    unit.execute(&sql, args![id, owner, tool, *replica, *created_at, life, message.as_deref()]).map(drop)
}

/// The call was answered at once after all. By one statement.
pub fn forget(unit: &mut Unit<'_>, id: &str) -> Result<(), StoreError> {
    unit.execute("DELETE FROM deferred WHERE id = $1", args![id]).map(drop)
}

/// The call that this process makes has come so far; what has ended stays as it is, and so does what another process makes
/// by now. By one statement. Answers to earlier questions are dropped, and what was
/// asked for is not kept longer than it is needed.
pub fn advance(unit: &mut Unit<'_>, id: &str, me: RunId, now: &Progress) -> Result<bool, StoreError> {
    let sql = format!(
        "UPDATE deferred SET status = $2, message = $3, requests = $4, responses = '{{}}', outcome = $5, updated_at = $6,
             request = CASE WHEN $8 THEN NULL ELSE request END
         WHERE id = $1 AND replica = $7 AND {OPEN}"
    );
    let Progress { status, message, requests, outcome, updated_at } = now;
    let requests = Value::Object(requests.clone());
    let args = args![
        id,
        *status,
        message.as_deref(),
        requests,
        outcome.as_deref(),
        *updated_at,
        me,
        status.is_final()
    ];
    Ok(unit.execute(&sql, args)? == 1)
}

/// The tool says how far it is. By one statement.
pub fn note(unit: &mut Unit<'_>, id: &str, message: &str) -> Result<(), StoreError> {
    let sql = format!("UPDATE deferred SET message = $2 WHERE id = $1 AND {OPEN}");
    unit.execute(&sql, args![id, message]).map(drop)
}

/// An owner's call of that id, by one statement.
pub fn get(unit: &mut Unit<'_>, id: &str, owner: &str) -> Result<Option<Call>, StoreError> {
    find(unit, id, owner, "")
}

/// Takes answers to what is asked; others are left alone. Returns the call as it stands then, and whether anything
/// changed.
pub fn answer(
    unit: &mut Unit<'_>,
    id: &str,
    owner: &str,
    responses: &Map<String, Value>,
    now: Timestamp,
) -> Result<Option<(Call, bool)>, StoreError> {
    let Some(mut call) = find(unit, id, owner, "FOR UPDATE OF deferred")? else { return Ok(None) };
    let progress = &mut call.progress;
    if progress.status != Status::InputRequired {
        return Ok(Some((call, false)));
    }
    let mut is_changed = false;
    for (key, response) in responses {
        if progress.requests.remove(key).is_some() {
            call.responses.insert(key.clone(), response.clone());
            is_changed = true;
        }
    }
    if !is_changed {
        return Ok(Some((call, false)));
    }
    progress.updated_at = now;
    if progress.requests.is_empty() {
        progress.status = Status::Working;
    }
    let sql = "UPDATE deferred SET status = $2, requests = $3, responses = $4, updated_at = $5 WHERE id = $1";
    let (requests, responses) =
        (Value::Object(progress.requests.clone()), Value::Object(call.responses.clone()));
    unit.execute(sql, args![id, progress.status, requests, responses, now])?;
    Ok(Some((call, true)))
}

/// Nobody wants the outcome any more. `None` if there is no such call; false if it had ended before. One statement each.
pub fn cancel(
    unit: &mut Unit<'_>,
    id: &str,
    owner: &str,
    now: Timestamp,
) -> Result<Option<bool>, StoreError> {
    let sql = format!(
        "UPDATE deferred SET status = 'cancelled', requests = '{{}}', request = NULL, updated_at = $3
         WHERE id = $1 AND owner = $2 AND {OPEN} AND expires_at > {}",
        unit.clock()
    );
    if unit.execute(&sql, args![id, owner, now])? == 1 {
        return Ok(Some(true));
    }
    Ok(get(unit, id, owner)?.map(|_| false))
}

/// Removes what nobody can ask for any more, and returns how many.
pub fn purge(unit: &mut Unit<'_>) -> Result<u64, StoreError> {
    unit.execute(&format!("DELETE FROM deferred WHERE expires_at <= {}", unit.clock()), &[])
}

fn find(unit: &mut Unit<'_>, id: &str, owner: &str, lock: &str) -> Result<Option<Call>, StoreError> {
    let now = unit.clock();
    let sql = format!(
        "SELECT id, status, message, requests, responses, outcome, created_at, updated_at,
                EXISTS (SELECT 1 FROM replicas WHERE replicas.id = replica AND lease_until > {now})
                OR (request IS NOT NULL AND (replica = '' OR (repeatable AND attempts < {MOST_ATTEMPTS})))
         FROM deferred WHERE id = $1 AND owner = $2 AND expires_at > {now} {lock}"
    );
    unit.query_first(&sql, args![id, owner])?.as_mut().map(call).transpose()
}

fn call(row: &mut Row) -> Result<Call, StoreError> {
    let object = |value: Value| match value {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    Ok(Call {
        id: row.take(0)?,
        progress: Progress {
            status: row.take(1)?,
            message: row.take(2)?,
            requests: object(row.take(3)?),
            outcome: row.take(5)?,
            updated_at: row.take(7)?,
        },
        responses: object(row.take(4)?),
        created_at: row.take(6)?,
        is_alive: row.take(8)?,
    })
}
