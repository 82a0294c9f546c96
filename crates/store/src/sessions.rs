//! Sessions of the console. Each has two secrets, a cookie and a proof, and is found by both or not at all.

use jiff::{SignedDuration, Timestamp};
use subtle::ConstantTimeEq;
use toolroom_contract::ids::{KeyId, SessionId, UserId};

use crate::engine::{Arg, Row, args};
use crate::keys::{self, Key};
use crate::users::{self, User};
use crate::{Secret, StoreError, Unit, secret};

/// A session ends when it was not used for this long.
pub const IDLE: SignedDuration = SignedDuration::from_hours(12);
/// And after this long in any case.
pub const LIFETIME: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The most that one user has; the oldest goes.
pub const MOST: usize = 20;

/// A session, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub user_id: UserId,
    /// The key that it stands for; `None` for one of the home's owner.
    pub key: Option<KeyId>,
    /// Whether it is of the home's owner.
    pub owner: bool,
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub seen_at: Timestamp,
    pub expires_at: Timestamp,
    /// The browser, as it says of itself.
    pub agent: String,
    /// Where the login came from.
    pub address: String,
}

impl Session {
    /// When it ends unless it is used before.
    pub fn idle_expires_at(&self) -> Timestamp {
        self.expires_at.min(self.seen_at + IDLE)
    }
}

/// A session with whom it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedSession {
    pub session: Session,
    pub user: User,
    pub key: Option<Key>,
}

/// A session to be begun.
#[derive(Clone, Debug)]
pub struct NewSession {
    pub user: UserId,
    /// `None` for one of the home's owner.
    pub key: Option<KeyId>,
    pub agent: String,
    pub address: String,
}

/// What the browser gets of a new session: never again, and kept nowhere here.
#[derive(Clone, Debug)]
pub struct Halves {
    pub cookie: Secret,
    pub proof: Secret,
}

const COLUMNS: &str = "id, user_id, key_id, owner, created_at, seen_at, expires_at, agent, address";
/// Not ended, used of late, and of no key that is over; `$1` is now, `$2` the last use that still counts.
const ALIVE: &str = "ended_at IS NULL AND expires_at > $1 AND seen_at > $2 AND NOT EXISTS
                     (SELECT 1 FROM keys WHERE keys.id = sessions.key_id
                      AND (keys.revoked_at IS NOT NULL OR keys.expires_at <= $1))";

/// A session that has begun.
#[derive(Clone, Debug)]
pub struct Begun {
    pub session: Session,
    pub halves: Halves,
    /// The user's oldest, which had to make room.
    pub ended: Vec<SessionId>,
}

/// Begins a session. Of too many the user's oldest ends.
pub fn begin(unit: &mut Unit<'_>, now: Timestamp, new: &NewSession) -> Result<Begun, StoreError> {
    // As it is stored.
    let now = Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now);
    let sql = format!("SELECT id FROM sessions WHERE {ALIVE} AND user_id = $3 ORDER BY created_at, id");
    let mut rows = unit.query(&sql, args![now, now - IDLE, new.user])?;
    let surplus = (rows.len() + 1).saturating_sub(MOST);
    let mut ended = Vec::new();
    for row in rows.iter_mut().take(surplus) {
        let oldest = row.take(0)?;
        end(unit, now, oldest)?;
        ended.push(oldest);
    }
    let halves = Halves { cookie: Secret::bare()?, proof: Secret::bare()? };
    let session = Session {
        id: SessionId::new(),
        user_id: new.user,
        key: new.key,
        owner: new.key.is_none(),
        created_at: now,
        seen_at: now,
        expires_at: now + LIFETIME,
        agent: new.agent.clone(),
        address: new.address.clone(),
    };
    let sql =
        "INSERT INTO sessions (id, user_id, key_id, owner, hash, proof_hash, created_at, seen_at, expires_at,
                                     agent, address)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9, $10)";
    let hash = secret::hash(halves.cookie.reveal());
    let proof_hash = secret::hash(halves.proof.reveal());
    let args = args![
        session.id,
        session.user_id,
        session.key,
        session.owner,
        hash.as_slice(),
        proof_hash.as_slice(),
        now,
        session.expires_at,
        &session.agent,
        &session.address,
    ];
    unit.execute(sql, args)?;
    Ok(Begun { session, halves, ended })
}

/// The session of exactly this cookie and this proof, if it is alive.
pub fn find(
    unit: &mut Unit<'_>,
    now: Timestamp,
    cookie: &str,
    proof: &str,
) -> Result<Option<OwnedSession>, StoreError> {
    let (hash, proof_hash) = (secret::hash(cookie), secret::hash(proof));
    let sql = format!("SELECT {COLUMNS}, hash, proof_hash FROM sessions WHERE {ALIVE} AND hash = $3");
    let Some(mut row) = unit.query_first(&sql, args![now, now - IDLE, hash.as_slice()])? else {
        return Ok(None);
    };
    let (stored, stored_proof): (Vec<u8>, Vec<u8>) = (row.take(9)?, row.take(10)?);
    if !bool::from(stored.as_slice().ct_eq(&hash) & stored_proof.as_slice().ct_eq(&proof_hash)) {
        return Ok(None);
    }
    let session = session(&mut row)?;
    let owned = match session.key {
        Some(key) => keys::find(unit, key)?.map(|owned| (owned.user, Some(owned.key))),
        None => users::by_id(unit, session.user_id)?.map(|user| (user, None)),
    };
    Ok(owned.map(|(user, key)| OwnedSession { session, user, key }))
}

/// Notes that a session was used.
pub fn touch(unit: &mut Unit<'_>, now: Timestamp, id: SessionId) -> Result<(), StoreError> {
    let sql = "UPDATE sessions SET seen_at = $2 WHERE id = $1 AND seen_at < $2";
    unit.execute(sql, args![id, now]).map(drop)
}

/// The sessions that are alive, with their users' names, newest first; those of one user, or all.
pub fn list(
    unit: &mut Unit<'_>,
    now: Timestamp,
    user: Option<UserId>,
) -> Result<Vec<(Session, String)>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS}, (SELECT key FROM users WHERE users.id = sessions.user_id) FROM sessions
         WHERE {ALIVE} AND (user_id = $3 OR $3 = 0) ORDER BY created_at DESC, id DESC"
    );
    let mut rows = unit.query(&sql, args![now, now - IDLE, user.map_or(0, |user| user.0)])?;
    rows.iter_mut().map(|row| Ok((session(row)?, row.take(9)?))).collect()
}

/// Ends a session; `false` if it has ended before, or there is none of this id.
pub fn end(unit: &mut Unit<'_>, now: Timestamp, id: SessionId) -> Result<bool, StoreError> {
    let sql = "UPDATE sessions SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL";
    Ok(unit.execute(sql, args![id, now])? == 1)
}

/// Ends the sessions of a key that is revoked.
pub(crate) fn end_of_key(unit: &mut Unit<'_>, key: KeyId) -> Result<(), StoreError> {
    let sql = "UPDATE sessions SET ended_at = $2 WHERE key_id = $1 AND ended_at IS NULL";
    unit.execute(sql, args![key, unit.now]).map(drop)
}

/// Those of these sessions that are no longer alive.
pub fn ended_among(
    unit: &mut Unit<'_>,
    now: Timestamp,
    ids: &[SessionId],
) -> Result<Vec<SessionId>, StoreError> {
    let mut ended = Vec::new();
    // Engines take a bounded number of arguments.
    for some in ids.chunks(500) {
        let places: Vec<String> = (3..some.len() + 3).map(|at| format!("${at}")).collect();
        let sql = format!("SELECT id FROM sessions WHERE {ALIVE} AND id IN ({})", places.join(", "));
        let mut args: Vec<Arg<'_>> = vec![now.into(), (now - IDLE).into()];
        args.extend(some.iter().map(|id| Arg::from(*id)));
        let mut alive = Vec::new();
        for mut row in unit.query(&sql, &args)? {
            alive.push(row.take::<SessionId>(0)?);
        }
        ended.extend(some.iter().filter(|id| !alive.contains(id)));
    }
    Ok(ended)
}

/// Removes the sessions that were over before this time, and returns how many.
pub fn purge(unit: &mut Unit<'_>, before: Timestamp) -> Result<u64, StoreError> {
    unit.execute("DELETE FROM sessions WHERE expires_at < $1 OR ended_at < $1", args![before])
}

fn session(row: &mut Row) -> Result<Session, StoreError> {
    Ok(Session {
        id: row.take(0)?,
        user_id: row.take(1)?,
        key: row.take(2)?,
        owner: row.take(3)?,
        created_at: row.take(4)?,
        seen_at: row.take(5)?,
        expires_at: row.take(6)?,
        agent: row.take(7)?,
        address: row.take(8)?,
    })
}
