//! The execution logs of processes that share a PostgreSQL database: each ships the lines of its own files, and reads
//! those of all. A shard of a day has the same bytes for everybody, so that a place in it means the same everywhere.

use jiff::civil::Date;

use crate::engine::args;
use crate::{StoreError, Unit};

/// A file of a home's own log, and what of it is shipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which of the day's files it is.
    pub number: usize,
    pub from: u64,
    pub to: u64,
}

/// A shard of a day, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    pub day: Date,
    pub number: usize,
    pub length: u64,
}

/// Bytes of a shard from a place on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub at: u64,
    pub body: Vec<u8>,
}

/// Pieces that are read at one time.
const MOST_PIECES: i64 = 8;

/// The shard of a home, and whether the database did not know it before; there are `shards` of them.
pub fn shard_of(unit: &mut Unit<'_>, home: &str, shards: usize) -> Result<(usize, bool), StoreError> {
    let added = unit.execute(
        "INSERT INTO log_homes (home, shard) SELECT $1, count(*) % $2 FROM log_homes ON CONFLICT (home) DO NOTHING",
        args![home, number(shards as u64)],
    )?;
    let mut row = unit.query_one("SELECT shard FROM log_homes WHERE home = $1", args![home])?;
    Ok((size(&mut row, 0)? as usize, added == 1))
}

/// How far the files of a home were shipped: day, number and length of each.
pub fn shipped(unit: &mut Unit<'_>, home: &str) -> Result<Vec<(Date, usize, u64)>, StoreError> {
    let sql = "SELECT day, part, length FROM log_files WHERE home = $1";
    let mut rows = unit.query(sql, args![home])?;
    rows.iter_mut().map(|row| Ok((row.take(0)?, size(row, 1)? as usize, size(row, 2)?))).collect()
}

/// Why nothing was shipped.
#[derive(Debug, thiserror::Error)]
pub enum ShipError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The files were not shipped up to where these lines begin: ask again how far they were.
    #[error("the log was shipped up to another place than was thought")]
    OtherPlace,
}

/// Appends lines of a home's files to its shard.
pub fn ship(
    unit: &mut Unit<'_>,
    home: &str,
    shard: usize,
    day: Date,
    parts: &[Part],
    body: &[u8],
) -> Result<(), ShipError> {
    for part in parts {
        let (file, to) = (number(part.number as u64), number(part.to));
        let moved = match part.from {
            0 => unit.execute(
                "INSERT INTO log_files (home, day, part, length) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
                args![home, day, file, to],
            )?,
            from => unit.execute(
                "UPDATE log_files SET length = $5 WHERE home = $1 AND day = $2 AND part = $3 AND length = $4",
                args![home, day, file, number(from), to],
            )?,
        };
        if moved == 0 {
            return Err(ShipError::OtherPlace);
        }
    }
    let length = number(body.len() as u64);
    let grown = "INSERT INTO log_shards AS kept (day, shard, length) VALUES ($1, $2, $3)
                 ON CONFLICT (day, shard) DO UPDATE SET length = kept.length + excluded.length
                 RETURNING length - $3";
    let at: i64 = unit.query_one(grown, args![day, number(shard as u64), length])?.take(0)?;
    unit.execute(
        "INSERT INTO log_pieces (day, shard, at, body) VALUES ($1, $2, $3, $4)",
        args![day, number(shard as u64), at, body],
    )?;
    Ok(())
}

/// All shards.
pub fn shards(unit: &mut Unit<'_>) -> Result<Vec<Shard>, StoreError> {
    let mut rows = unit.query("SELECT day, shard, length FROM log_shards", &[])?;
    rows.iter_mut()
        .map(|row| Ok(Shard { day: row.take(0)?, number: size(row, 1)? as usize, length: size(row, 2)? }))
        .collect()
}

/// Some pieces of a shard from a place on, in order.
pub fn pieces(unit: &mut Unit<'_>, day: Date, shard: usize, from: u64) -> Result<Vec<Piece>, StoreError> {
    let sql =
        "SELECT at, body FROM log_pieces WHERE day = $1 AND shard = $2 AND at >= $3 ORDER BY at LIMIT $4";
    let mut rows = unit.query(sql, args![day, number(shard as u64), number(from), MOST_PIECES])?;
    rows.iter_mut().map(|row| Ok(Piece { at: size(row, 0)?, body: row.take(1)? })).collect()
}

/// Where the piece begins that holds the byte before this place; 0 if there is none.
pub fn piece_before(unit: &mut Unit<'_>, day: Date, shard: usize, place: u64) -> Result<u64, StoreError> {
    let sql = "SELECT coalesce(max(at), 0) FROM log_pieces WHERE day = $1 AND shard = $2 AND at < $3";
    size(&mut unit.query_one(sql, args![day, number(shard as u64), number(place)])?, 0)
}

/// Removes the days before this one.
pub fn purge(unit: &mut Unit<'_>, first_kept: Date) -> Result<(), StoreError> {
    for table in ["log_pieces", "log_shards", "log_files"] {
        unit.execute(&format!("DELETE FROM {table} WHERE day < $1"), args![first_kept])?;
    }
    Ok(())
}

fn number(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

fn size(row: &mut crate::engine::Row, column: usize) -> Result<u64, StoreError> {
    Ok(row.take::<i64>(column)?.unsigned_abs())
}
