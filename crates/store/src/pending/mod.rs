//! Pending matters: approvals, questions and confirmations that wait for a person, each used at most once.

mod deadlines;
mod model;

use serde_json::Value;
use toolroom_contract::ids::{PendingId, UserId};

use crate::engine::{Arg, args};
use crate::{StoreError, Unit};
use model::{COLUMNS, pending};
pub use model::{DecideError, Decision, Filter, Kind, NewPending, Pending, State, Taken};

/// A list is never longer than this; the newest come first.
const MOST_LISTED: i64 = 1000;

/// Opens a matter.
pub fn open(unit: &mut Unit<'_>, new: &NewPending) -> Result<Pending, StoreError> {
    let matter = Pending::opened(new, unit.now);
    let sql =
        "INSERT INTO pending (id, kind, user_id, tool, profile, arguments_hash, arguments, prompt, state,
                                    created_at, expires_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'open', $9, $10)";
    let args = args![
        matter.id,
        new.kind,
        new.user,
        &new.tool,
        &new.profile,
        &new.arguments_hash,
        &new.arguments,
        &new.prompt,
        matter.created_at,
        matter.expires_at,
    ];
    unit.execute(sql, args)?;
    deadlines::note(matter.id, matter.created_at, matter.expires_at);
    Ok(matter)
}

/// The matter with this id.
pub fn get(unit: &mut Unit<'_>, id: PendingId) -> Result<Option<Pending>, StoreError> {
    let row = unit.query_first(&format!("SELECT {COLUMNS} FROM pending WHERE id = $1"), args![id])?;
    row.map(|mut row| pending(&mut row, unit.now)).transpose()
}

/// The newest matters that the filter lets through.
pub fn list(unit: &mut Unit<'_>, filter: &Filter) -> Result<Vec<Pending>, StoreError> {
    let mut sql = format!("SELECT {COLUMNS} FROM pending WHERE 1 = 1");
    let mut args: Vec<Arg<'_>> = Vec::new();
    if let Some(user) = filter.user {
        args.push(user.into());
        sql += &format!(" AND user_id = ${}", args.len());
    }
    if filter.open_only {
        args.push(unit.now.into());
        sql += &format!(" AND state = 'open' AND expires_at > ${}", args.len());
    }
    sql += &format!(" ORDER BY created_at DESC, id DESC LIMIT {MOST_LISTED}");
    let mut matters: Vec<Pending> =
        unit.query(&sql, &args)?.iter_mut().map(|row| pending(row, unit.now)).collect::<Result<_, _>>()?;
    matters.retain(|matter| !filter.open_only || matter.state == State::Open);
    Ok(matters)
}

/// The matter of exactly this call that is open, or decided and not yet used: a call repeated while it is held
/// gets the same one.
pub fn find_current(
    unit: &mut Unit<'_>,
    user: UserId,
    tool: &str,
    arguments_hash: &str,
) -> Result<Option<Pending>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM pending
         WHERE user_id = $1 AND tool = $2 AND arguments_hash = $3 AND state NOT IN ('used', 'expired')
               AND expires_at > $4
         ORDER BY created_at DESC, id DESC LIMIT 1"
    );
    let row = unit.query_first(&sql, args![user, tool, arguments_hash, unit.now])?;
    let matter = row.map(|mut row| pending(&mut row, unit.now)).transpose()?;
    Ok(matter.filter(|matter| matter.state != State::Expired))
}

/// Decides an open matter in time; the first decision stands.
pub fn decide(
    unit: &mut Unit<'_>,
    id: PendingId,
    decision: &Decision,
    by: UserId,
) -> Result<Pending, DecideError> {
    let matter = get(unit, id)?.ok_or(DecideError::NotFound)?;
    if matter.state == State::Expired {
        return Err(DecideError::Expired);
    }
    if !decision.fits(matter.kind) {
        return Err(DecideError::WrongKind);
    }
    let (state, answer) = match decision {
        Decision::Approve => (State::Approved, None),
        Decision::Deny => (State::Denied, None),
        Decision::Answer(answer) => (State::Answered, Some(matter.chosen(answer)?)),
    };
    let sql = format!(
        "UPDATE pending SET state = $2, answer = $3, decided_by = $4, decided_at = $5
         WHERE id = $1 AND state = 'open' AND expires_at > $5 RETURNING {COLUMNS}"
    );
    match unit.query_first(&sql, args![id, state, answer.as_ref(), by, unit.now])? {
        Some(mut row) => Ok(pending(&mut row, unit.now)?),
        None => match get(unit, id)?.map(|matter| matter.state) {
            None => Err(DecideError::NotFound),
            Some(State::Expired | State::Open) => Err(DecideError::Expired),
            Some(_) => Err(DecideError::AlreadyDecided),
        },
    }
}

/// Uses up the decision on exactly this call of this user. Only one taker ever gets `Approved` or `Answered`.
pub fn take(
    unit: &mut Unit<'_>,
    id: PendingId,
    user: UserId,
    tool: &str,
    arguments_hash: &str,
) -> Result<Taken, StoreError> {
    if get(unit, id)?.is_some_and(|matter| matter.state == State::Expired) {
        // Settled, so that no later clock revives it.
        settle(unit, id)?;
    }
    let sql = "UPDATE pending SET state = 'used', used_at = $5
               WHERE id = $1 AND user_id = $2 AND tool = $3 AND arguments_hash = $4
                     AND state IN ('approved', 'answered') AND expires_at > $5
               RETURNING answer";
    if let Some(mut row) = unit.query_first(sql, args![id, user, tool, arguments_hash, unit.now])? {
        let answer: Option<Value> = row.take(0)?;
        return Ok(answer.map_or(Taken::Approved, Taken::Answered));
    }
    let matter = get(unit, id)?.filter(|matter| {
        matter.user == user && matter.tool == tool && matter.arguments_hash == arguments_hash
    });
    let Some(matter) = matter else { return Ok(Taken::NotFound) };
    Ok(match matter.state {
        State::Open => Taken::StillOpen(Box::new(matter)),
        State::Denied => Taken::Denied,
        State::Used => Taken::NotFound,
        State::Expired => Taken::Expired,
        // Decided between the two statements: to this caller it was still open, and the next try takes it.
        State::Approved | State::Answered => Taken::StillOpen(Box::new(matter)),
    })
}

/// Closes the matters whose time is up without a decision, or whose decision nobody used, and says how many.
pub fn expire_old(unit: &mut Unit<'_>) -> Result<u64, StoreError> {
    let sql = "UPDATE pending SET state = 'expired'
               WHERE expires_at <= $1 AND state IN ('open', 'approved', 'answered')";
    let mut expired = unit.execute(sql, args![unit.now])?;
    for id in deadlines::all_passed() {
        expired += settle(unit, id)?;
    }
    Ok(expired)
}

/// Writes down that a matter has expired, if it was not decided and used before.
fn settle(unit: &mut Unit<'_>, id: PendingId) -> Result<u64, StoreError> {
    let sql = "UPDATE pending SET state = 'expired'
               WHERE id = $1 AND state IN ('open', 'approved', 'answered')";
    unit.execute(sql, args![id])
}
