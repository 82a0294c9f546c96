//! API keys: created once, stored as a hash, found by it, revoked at once.

use jiff::{SignedDuration, Timestamp};
use subtle::ConstantTimeEq;
use toolroom_contract::ids::{KeyId, UserId};

use crate::engine::{Arg, Row, args};
use crate::users::{User, user_at};
use crate::{Secret, StoreError, Unit, pending, secret, sessions};

/// A key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub id: KeyId,
    pub user_id: UserId,
    /// The first characters of the secret, for lists.
    pub prefix: String,
    /// What the key may do, as `resource:action`.
    pub grants: Vec<String>,
    /// The profiles that the key is confined to; `None` is all.
    pub profiles: Option<Vec<String>>,
    /// Whether the key belongs to a person, who may decide approvals.
    pub person: bool,
    /// What its owner wrote about it.
    pub note: Option<String>,
    pub created_at: Timestamp,
    /// When it stops being valid by itself.
    pub expires_at: Option<Timestamp>,
    /// To within a minute.
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// A key with the user whom it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedKey {
    pub key: Key,
    pub user: User,
}

/// What a new key is to be.
#[derive(Clone, Debug)]
pub struct NewKey {
    pub user: UserId,
    pub grants: Vec<String>,
    pub profiles: Option<Vec<String>>,
    pub person: bool,
    pub note: Option<String>,
    pub expires_at: Option<Timestamp>,
}

/// A use is written down if the last one is longer ago than this.
const USE_NOTED: SignedDuration = SignedDuration::from_secs(60);

const OWNED: &str =
    "SELECT k.id, k.user_id, k.prefix, k.grants, k.profiles, k.person, k.created_at, k.revoked_at,
                            u.id, u.key, u.time_zone, u.created_at, k.hash, k.note, k.expires_at, k.last_used_at
                     FROM keys k JOIN users u ON u.id = k.user_id";

/// Makes a key. Its secret is here and nowhere else.
pub fn create(unit: &mut Unit<'_>, new: &NewKey) -> Result<(Key, Secret), StoreError> {
    let secret = Secret::random()?;
    let hash = secret::hash(secret.reveal());
    let sql =
        "INSERT INTO keys (user_id, hash, prefix, grants, profiles, person, created_at, note, expires_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id";
    let args = args![
        new.user,
        hash.as_slice(),
        secret.prefix(),
        to_json(&new.grants),
        new.profiles.as_deref().map(to_json),
        new.person,
        unit.now,
        new.note.as_ref(),
        new.expires_at,
    ];
    let id = unit.query_one(sql, args)?.take(0)?;
    let key = Key {
        id,
        user_id: new.user,
        prefix: secret.prefix().to_owned(),
        grants: new.grants.clone(),
        profiles: new.profiles.clone(),
        person: new.person,
        note: new.note.clone(),
        created_at: unit.now,
        expires_at: new.expires_at,
        last_used_at: None,
        revoked_at: None,
    };
    Ok((key, secret))
}

/// The key with this secret and its user, unless it was revoked or has expired.
pub fn find_by_secret(unit: &mut Unit<'_>, presented: &str) -> Result<Option<OwnedKey>, StoreError> {
    let hash = secret::hash(presented);
    let sql = format!(
        "{OWNED} WHERE k.hash = $1 AND k.revoked_at IS NULL
                               AND (k.expires_at IS NULL OR k.expires_at > $2)"
    );
    let Some(mut row) = unit.query_first(&sql, args![hash.as_slice(), unit.now])? else { return Ok(None) };
    let stored: Vec<u8> = row.take(12)?;
    if bool::from(stored.as_slice().ct_eq(&hash)) { owned(&mut row).map(Some) } else { Ok(None) }
}

/// The key with this id and its user, unless it was revoked or has expired.
pub fn find(unit: &mut Unit<'_>, id: KeyId) -> Result<Option<OwnedKey>, StoreError> {
    let sql = format!(
        "{OWNED} WHERE k.id = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)"
    );
    unit.query_first(&sql, args![id, unit.now])?.as_mut().map(owned).transpose()
}

/// Every key, revoked ones too, in the order in which they were made.
pub fn list(unit: &mut Unit<'_>) -> Result<Vec<OwnedKey>, StoreError> {
    unit.query(&format!("{OWNED} ORDER BY k.id"), &[])?.iter_mut().map(owned).collect()
}

/// Revokes a key, and ends its sessions and what waits for a person on its behalf; `false` if there is none of this id, or it was
/// revoked before.
pub fn revoke(unit: &mut Unit<'_>, id: KeyId) -> Result<bool, StoreError> {
    let sql = "UPDATE keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
    let revoked = unit.execute(sql, args![id, unit.now])? == 1;
    if revoked {
        pending::end_of_key(unit, id)?;
        sessions::end_of_key(unit, id)?;
    }
    Ok(revoked)
}

/// Notes that a key was used, once a minute.
pub fn note_use(unit: &mut Unit<'_>, id: KeyId) -> Result<bool, StoreError> {
    let sql =
        "UPDATE keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $3)";
    Ok(unit.execute(sql, args![id, unit.now, unit.now - USE_NOTED])? == 1)
}

impl Key {
    /// Whether a use of it now is to be noted.
    pub fn use_is_news(&self, now: Timestamp) -> bool {
        self.last_used_at.is_none_or(|last| now.duration_since(last) > USE_NOTED)
    }
}

/// Those of these keys that are revoked or have expired.
pub fn revoked_among(unit: &mut Unit<'_>, ids: &[KeyId]) -> Result<Vec<KeyId>, StoreError> {
    let mut revoked = Vec::new();
    // Engines take a bounded number of arguments.
    for some in ids.chunks(500) {
        let places: Vec<String> = (2..=some.len() + 1).map(|at| format!("${at}")).collect();
        let sql = format!(
            "SELECT id FROM keys WHERE (revoked_at IS NOT NULL OR expires_at <= $1) AND id IN ({})",
            places.join(", ")
        );
        let args: Vec<Arg<'_>> =
            std::iter::once(Arg::from(unit.now)).chain(some.iter().map(|id| Arg::from(*id))).collect();
        for mut row in unit.query(&sql, &args)? {
            revoked.push(row.take(0)?);
        }
    }
    Ok(revoked)
}

/// Whether a key was ever created, even if it was revoked since: keyless access never comes back.
pub fn any_ever_made(unit: &mut Unit<'_>) -> Result<bool, StoreError> {
    Ok(unit.query_first("SELECT 1 FROM keys LIMIT 1", &[])?.is_some())
}

fn owned(row: &mut Row) -> Result<OwnedKey, StoreError> {
    let key = Key {
        id: row.take(0)?,
        user_id: row.take(1)?,
        prefix: row.take(2)?,
        grants: from_json(row, 3)?.unwrap_or_default(),
        profiles: from_json(row, 4)?,
        person: row.take(5)?,
        created_at: row.take(6)?,
        revoked_at: row.take(7)?,
        note: row.take(13)?,
        expires_at: row.take(14)?,
        last_used_at: row.take(15)?,
    };
    Ok(OwnedKey { key, user: user_at(row, 8)? })
}

fn to_json(list: &[String]) -> serde_json::Value {
    list.into()
}

fn from_json(row: &mut Row, column: usize) -> Result<Option<Vec<String>>, StoreError> {
    let text: Option<String> = row.take(column)?;
    let list = text.map(|text| serde_json::from_str(&text)).transpose();
    list.map_err(|_| StoreError::Decode { column, expected: "a list of texts" })
}
