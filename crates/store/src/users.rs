//! Users: an integer id that clients see, and a string key that names the same user.

use std::collections::HashMap;

use jiff::Timestamp;
use toolroom_contract::ids::UserId;

use crate::engine::{Row, args};
use crate::{StoreError, Unit};

/// Someone, or some service, that owns things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    /// The name by which the user is known from outside.
    pub key: String,
    /// An IANA time zone, if the user has set one.
    pub time_zone: Option<String>,
    pub created_at: Timestamp,
}

/// The user of this name, if there is one. A name that no user can have is nobody's.
pub fn find(unit: &mut Unit<'_>, key: &str) -> Result<Option<User>, StoreError> {
    if check_key(key).is_err() {
        return Ok(None);
    }
    let sql = "SELECT id, key, time_zone, created_at FROM users WHERE key = $1";
    unit.query_first(sql, args![key])?.as_mut().map(user).transpose()
}

/// The user of this name, created if needed. Any number of callers at once get the same one.
pub fn ensure(unit: &mut Unit<'_>, key: &str) -> Result<User, StoreError> {
    check_key(key)?;
    if let Some(user) = find(unit, key)? {
        return Ok(user);
    }
    let sql = "INSERT INTO users (key, created_at) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING
               RETURNING id, key, time_zone, created_at";
    match unit.query_first(sql, args![key, unit.now])? {
        Some(mut row) => user(&mut row),
        // Another transaction made the user between the two statements; by now it is there to see.
        None => {
            find(unit, key)?.ok_or_else(|| StoreError::Engine { cause: "a user came and went".to_owned() })
        }
    }
}

/// The user with this id.
pub fn by_id(unit: &mut Unit<'_>, id: UserId) -> Result<Option<User>, StoreError> {
    let sql = "SELECT id, key, time_zone, created_at FROM users WHERE id = $1";
    unit.query_first(sql, args![id])?.as_mut().map(user).transpose()
}

/// The names of these users.
pub fn names(
    unit: &mut Unit<'_>,
    ids: impl IntoIterator<Item = UserId>,
) -> Result<HashMap<UserId, String>, StoreError> {
    let mut names = HashMap::new();
    for id in ids {
        if !names.contains_key(&id)
            && let Some(user) = by_id(unit, id)?
        {
            names.insert(id, user.key);
        }
    }
    Ok(names)
}

/// All users, oldest first.
pub fn list(unit: &mut Unit<'_>) -> Result<Vec<User>, StoreError> {
    let mut rows = unit.query("SELECT id, key, time_zone, created_at FROM users ORDER BY id", &[])?;
    rows.iter_mut().map(user).collect()
}

/// Sets or clears the time zone of a user; `false` if there is no such user.
pub fn set_time_zone(unit: &mut Unit<'_>, id: UserId, zone: Option<&str>) -> Result<bool, StoreError> {
    if zone.is_some_and(|zone| jiff::tz::TimeZone::get(zone).is_err()) {
        return Err(StoreError::InvalidTimeZone);
    }
    let changed = unit.execute("UPDATE users SET time_zone = $2 WHERE id = $1", args![id, zone])?;
    Ok(changed == 1)
}

/// Whether a user may have this name: 1 to 128 characters, no control characters.
pub fn check_key(key: &str) -> Result<(), StoreError> {
    let fits = !key.is_empty() && key.chars().nth(128).is_none();
    if fits && !key.chars().any(char::is_control) { Ok(()) } else { Err(StoreError::InvalidUserKey) }
}

fn user(row: &mut Row) -> Result<User, StoreError> {
    user_at(row, 0)
}

/// Reads `id, key, time_zone, created_at` from this column on.
pub(crate) fn user_at(row: &mut Row, first: usize) -> Result<User, StoreError> {
    Ok(User {
        id: row.take(first)?,
        key: row.take(first + 1)?,
        time_zone: row.take(first + 2)?,
        created_at: row.take(first + 3)?,
    })
}
