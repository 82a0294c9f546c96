//! Things that are kept for a while, for processes that share a PostgreSQL database: what one of them left, all of them
//! find. They expire by the database's clock.

use std::time::Duration;

use crate::engine::{Row, args};
use crate::named::named;
use crate::{StoreError, Unit};

named! {
    /// What a parcel is.
    Kind {
        /// What was said of an MCP session after it began, and that it has ended.
        Session = "session",
        /// A result that was too long to be shown whole.
        Result = "result",
        /// A number that can be used once, and was.
        Question = "question",
        /// That somebody wants a run of the chat to end, by its id.
        Cancelled = "cancelled",
        /// A login at another server whose person has not come back yet, sealed; then what became of it.
        Login = "login",
        /// A link into the console that was not used yet, by the hash of its secret.
        Link = "link",
    }
}

/// Something to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parcel {
    pub id: String,
    /// Whose it is, in words of whoever keeps it.
    pub owner: String,
    /// What lists show of it.
    pub about: String,
    pub body: Vec<u8>,
}

/// Keeps a parcel for so long, in place of one with its id. By one statement.
pub fn put(unit: &mut Unit<'_>, kind: Kind, parcel: &Parcel, life: Duration) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO parcels (kind, id, owner, about, body, expires_at) VALUES ($1, $2, $3, $4, $5, {} + $6)
         ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body, about = excluded.about",
        unit.clock()
    );
    let Parcel { id, owner, about, body } = parcel;
    unit.execute(&sql, args![kind, id, owner, about, &body[..], life]).map(drop)
}

/// The parcel of that id, by one statement.
pub fn get(unit: &mut Unit<'_>, kind: Kind, id: &str) -> Result<Option<Parcel>, StoreError> {
    let sql = format!(
        "SELECT id, owner, about, body FROM parcels WHERE kind = $1 AND id = $2 AND expires_at > {}",
        unit.clock()
    );
    unit.query_first(&sql, args![kind, id])?.as_mut().map(parcel).transpose()
}

/// The parcel of that id, for whoever comes first: it is not there any more. One with nothing in it is a note, which stays.
/// By one statement.
pub fn take(unit: &mut Unit<'_>, kind: Kind, id: &str) -> Result<Option<Parcel>, StoreError> {
    let sql = format!(
        "DELETE FROM parcels WHERE kind = $1 AND id = $2 AND octet_length(body) > 0 AND expires_at > {}
         RETURNING id, owner, about, body",
        unit.clock()
    );
    unit.query_first(&sql, args![kind, id])?.as_mut().map(parcel).transpose()
}

/// Leaves notes in place of all that an owner has with something in it. By one statement.
pub fn empty(unit: &mut Unit<'_>, kind: Kind, owner: &str, about: &str) -> Result<(), StoreError> {
    let sql = "UPDATE parcels SET body = '', about = $3
               WHERE kind = $1 AND owner = $2 AND octet_length(body) > 0";
    unit.execute(sql, args![kind, owner, about]).map(drop)
}

/// The body of a parcel, which nobody else changes until this unit is over; it is made, with nothing in it, if there is
/// none.
pub fn lock(
    unit: &mut Unit<'_>,
    kind: Kind,
    id: &str,
    owner: &str,
    life: Duration,
) -> Result<Vec<u8>, StoreError> {
    use_up(unit, kind, id, owner, life)?;
    let sql = "SELECT body FROM parcels WHERE kind = $1 AND id = $2 FOR UPDATE";
    unit.query_one(sql, args![kind, id])?.take(0)
}

/// What an owner has, newest first, and how long each is.
pub fn list(unit: &mut Unit<'_>, kind: Kind, owner: &str) -> Result<Vec<Listed>, StoreError> {
    let sql = format!(
        "SELECT id, about, octet_length(body)::bigint FROM parcels
         WHERE owner = $1 AND kind = $2 AND expires_at > {} ORDER BY expires_at DESC",
        unit.clock()
    );
    let rows = unit.query(&sql, args![owner, kind])?;
    let listed = |mut row: Row| {
        Ok(Listed { id: row.take(0)?, about: row.take(1)?, length: row.take::<i64>(2)?.unsigned_abs() })
    };
    rows.into_iter().map(listed).collect()
}

/// A parcel, without what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub id: String,
    pub about: String,
    pub length: u64,
}

/// Removes the oldest that an owner has, as far as all of them together are longer than this.
pub fn trim(unit: &mut Unit<'_>, kind: Kind, owner: &str, most_bytes: u64) -> Result<(), StoreError> {
    let sql = "DELETE FROM parcels WHERE kind = $2 AND id IN (
                   SELECT id FROM (
                       SELECT id, sum(octet_length(body)) OVER (ORDER BY expires_at DESC, id) AS upto
                       FROM parcels WHERE owner = $1 AND kind = $2) AS theirs
                   WHERE upto > $3)";
    unit.execute(sql, args![owner, kind, i64::try_from(most_bytes).unwrap_or(i64::MAX)]).map(drop)
}

/// Notes that something was used; false if it was before, by whomever.
pub fn use_up(
    unit: &mut Unit<'_>,
    kind: Kind,
    id: &str,
    owner: &str,
    life: Duration,
) -> Result<bool, StoreError> {
    let sql = format!(
        "INSERT INTO parcels (kind, id, owner, about, body, expires_at) VALUES ($1, $2, $3, '', '', {} + $4)
         ON CONFLICT (kind, id) DO NOTHING",
        unit.clock()
    );
    Ok(unit.execute(&sql, args![kind, id, owner, life])? == 1)
}

/// Removes what has expired, and returns how many.
pub fn purge(unit: &mut Unit<'_>) -> Result<u64, StoreError> {
    unit.execute(&format!("DELETE FROM parcels WHERE expires_at <= {}", unit.clock()), &[])
}

fn parcel(row: &mut Row) -> Result<Parcel, StoreError> {
    Ok(Parcel { id: row.take(0)?, owner: row.take(1)?, about: row.take(2)?, body: row.take(3)? })
}
