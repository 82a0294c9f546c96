//! Pending requests: approvals, questions and confirmations that wait for a person, each used at most once.

mod deadlines;
mod list;
mod model;

use jiff::Timestamp;
use serde_json::Value;
use toolroom_contract::ids::{KeyId, PendingId, UserId};

use crate::engine::args;
use crate::{StoreError, Unit, standing};
use model::{COLUMNS, pending};

pub use list::{Cursor, Filter, Page, list, open_ids};
pub use model::{
    Asker, DecideError, Decision, Kind, NewPending, OpenError, Origin, PendingRequest, State, Taken,
};

/// The most that one user has open at once.
pub const MOST_OPEN: i64 = 100;

/// Opens a request, unless its user has too many open. Of the same calls at once the first opens it and the others
/// get the same one, so that a person decides once; a confirmation belongs to its message and is always new.
pub fn open(unit: &mut Unit<'_>, new: &NewPending) -> Result<PendingRequest, OpenError> {
    // The user's row is held until this unit ends: two calls at once cannot both have the last place.
    unit.execute("UPDATE users SET key = key WHERE id = $1", args![new.asker.user])?;
    if new.kind != Kind::Confirmation {
        let current = find_current(unit, new.asker, &new.tool, &new.arguments_hash)?;
        let is_same = |request: &PendingRequest| request.kind == new.kind && request.prompt == new.prompt;
        if let Some(current) = current.filter(is_same) {
            return Ok(current);
        }
    }
    let sql = "SELECT count(*), min(expires_at) FROM pending
               WHERE user_id = $1 AND state = 'open' AND expires_at > $2";
    let mut row = unit.query_one(sql, args![new.asker.user, unit.now])?;
    let (open, first): (i64, Option<Timestamp>) = (row.take(0)?, row.take(1)?);
    if open >= MOST_OPEN {
        return Err(OpenError::TooMany(first.unwrap_or(unit.now)));
    }
    let request = PendingRequest::opened(new, unit.now);
    let sql =
        "INSERT INTO pending (id, kind, user_id, tool, profile, arguments_hash, arguments, prompt, state,
                              created_at, expires_at, key_id, agent_id, edge, execution_id, conversation, definition)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'open', $9, $10, $11, $12, $13, $14, $15, $16)";
    let origin = &new.origin;
    let args = args![
        request.id,
        new.kind,
        new.asker.user,
        &new.tool,
        &new.profile,
        &new.arguments_hash,
        &new.arguments,
        &new.prompt,
        request.created_at,
        request.expires_at,
        new.asker.key,
        origin.agent.as_ref(),
        origin.edge.as_ref(),
        origin.execution.as_ref(),
        origin.conversation.as_ref(),
        origin.definition.as_ref(),
    ];
    unit.execute(sql, args)?;
    deadlines::note(request.id, request.created_at, request.expires_at);
    Ok(request)
}

/// The request with this id.
pub fn get(unit: &mut Unit<'_>, id: PendingId) -> Result<Option<PendingRequest>, StoreError> {
    let row = unit.query_first(&format!("SELECT {COLUMNS} FROM pending WHERE id = $1"), args![id])?;
    row.map(|mut row| pending(&mut row, unit.now)).transpose()
}

/// The request of exactly this call that is open, or decided and not yet used: a call repeated while it waits
/// gets the same one.
pub fn find_current(
    unit: &mut Unit<'_>,
    asker: Asker,
    tool: &str,
    arguments_hash: &str,
) -> Result<Option<PendingRequest>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM pending
         WHERE user_id = $1 AND coalesce(key_id, 0) = $2 AND tool = $3 AND arguments_hash = $4
               AND state NOT IN ('used', 'expired') AND used_at IS NULL AND expires_at > $5
         ORDER BY created_at DESC, id DESC LIMIT 1"
    );
    let row =
        unit.query_first(&sql, args![asker.user, asker.key_number(), tool, arguments_hash, unit.now])?;
    let request = row.map(|mut row| pending(&mut row, unit.now)).transpose()?;
    Ok(request.filter(|request| request.state != State::Expired))
}

/// Decides an open request in time; the first decision counts.
pub fn decide(
    unit: &mut Unit<'_>,
    id: PendingId,
    decision: &Decision,
    by: UserId,
) -> Result<PendingRequest, DecideError> {
    let request = get(unit, id)?.ok_or(DecideError::NotFound)?;
    if request.state == State::Expired {
        return Err(DecideError::Expired);
    }
    if !decision.fits(request.kind) {
        return Err(DecideError::WrongKind);
    }
    let (state, answer, reason) = match decision {
        Decision::Approve => (State::Approved, None, None),
        Decision::Deny(reason) => (State::Denied, None, reason.as_ref()),
        Decision::Answer(answer) => (State::Answered, Some(request.chosen(answer)?), None),
    };
    let sql = format!(
        "UPDATE pending SET state = $2, answer = $3, decided_by = $4, decided_at = $5, reason = $6
         WHERE id = $1 AND state = 'open' AND expires_at > $5 RETURNING {COLUMNS}"
    );
    match unit.query_first(&sql, args![id, state, answer.as_ref(), by, unit.now, reason])? {
        Some(mut row) => Ok(pending(&mut row, unit.now)?),
        None => match get(unit, id)?.map(|request| request.state) {
            None => Err(DecideError::NotFound),
            Some(State::Expired | State::Open) => Err(DecideError::Expired),
            Some(state) => Err(DecideError::AlreadyDecided(state)),
        },
    }
}

/// Uses up the decision on exactly this call of this caller. Only one taker ever gets it, a denial too.
pub fn take(
    unit: &mut Unit<'_>,
    id: PendingId,
    asker: Asker,
    tool: &str,
    arguments_hash: &str,
) -> Result<Taken, StoreError> {
    if get(unit, id)?.is_some_and(|request| request.state == State::Expired) {
        // Settled, so that no later clock revives it.
        settle(unit, id)?;
    }
    // A key that was revoked a moment ago may still be believed by its caller's process, and not here.
    let sql = "UPDATE pending SET state = CASE WHEN state = 'denied' THEN state ELSE 'used' END, used_at = $6
               WHERE id = $1 AND user_id = $2 AND coalesce(key_id, 0) = $3 AND tool = $4 AND arguments_hash = $5
                     AND state IN ('approved', 'answered', 'denied') AND used_at IS NULL AND expires_at > $6
                     AND NOT EXISTS
                         (SELECT 1 FROM keys WHERE keys.id = pending.key_id
                                 AND (keys.revoked_at IS NOT NULL OR keys.expires_at <= $6))
               RETURNING state, answer, reason";
    let args = args![id, asker.user, asker.key_number(), tool, arguments_hash, unit.now];
    if let Some(mut row) = unit.query_first(sql, args)? {
        let (state, answer): (State, Option<Value>) = (row.take(0)?, row.take(1)?);
        return Ok(match (state, answer) {
            (State::Denied, _) => Taken::Denied(row.take(2)?),
            (_, Some(answer)) => Taken::Answered(answer),
            (_, None) => Taken::Approved,
        });
    }
    let request = get(unit, id)?.filter(|request| {
        request.asker() == asker && request.tool == tool && request.arguments_hash == arguments_hash
    });
    let Some(request) = request else { return Ok(Taken::NotFound) };
    if request.used_at.is_some() {
        // A yes is good for one call; a no holds for all that waited for it.
        return Ok(match request.state {
            State::Denied => Taken::DeniedBefore(request.reason),
            _ => Taken::Used,
        });
    }
    Ok(match request.state {
        State::Open => Taken::StillOpen(Box::new(request)),
        State::Used => Taken::Used,
        State::Denied | State::Expired => Taken::Expired,
        // Decided between the two statements, or the key was revoked: the next try tells which.
        State::Approved | State::Answered => Taken::StillOpen(Box::new(request)),
    })
}

/// An open request needs no decision of its own any more: its call is made under a standing approval of that person.
pub fn use_standing(unit: &mut Unit<'_>, id: PendingId, by: UserId) -> Result<(), StoreError> {
    let sql = "UPDATE pending SET state = 'used', decided_by = $2, decided_at = $3, used_at = $3
               WHERE id = $1 AND state = 'open'";
    unit.execute(sql, args![id, by, unit.now]).map(drop)
}

/// Closes what waits for a person on behalf of a key that was revoked, was agreed to and not used yet, or stands.
pub(crate) fn end_of_key(unit: &mut Unit<'_>, key: KeyId) -> Result<u64, StoreError> {
    let sql = "UPDATE pending SET state = 'expired', decided_at = coalesce(decided_at, $2)
               WHERE key_id = $1 AND state IN ('open', 'approved', 'answered')";
    standing::end_of_key(unit, key)?;
    unit.execute(sql, args![key, unit.now])
}

/// Closes the requests whose time is up without a decision, or whose decision nobody used, and returns how many.
pub fn expire_old(unit: &mut Unit<'_>) -> Result<u64, StoreError> {
    let sql = "UPDATE pending SET state = 'expired'
               WHERE expires_at <= $1 AND state IN ('open', 'approved', 'answered')";
    let mut expired = unit.execute(sql, args![unit.now])?;
    for id in deadlines::all_passed() {
        expired += settle(unit, id)?;
    }
    Ok(expired)
}

/// Writes down that a request has expired, if it was not decided and used before.
fn settle(unit: &mut Unit<'_>, id: PendingId) -> Result<u64, StoreError> {
    let sql = "UPDATE pending SET state = 'expired'
               WHERE id = $1 AND state IN ('open', 'approved', 'answered')";
    unit.execute(sql, args![id])
}
