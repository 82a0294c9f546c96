//! The names of the journal's files, and the days they stand for.

use std::{collections::BTreeMap, io, path::Path, path::PathBuf};

use jiff::{Timestamp, civil::Date, tz::Offset};

const PREFIX: &str = "executions-";
const SUFFIX: &str = ".jsonl";
pub(super) const MICROS_PER_DAY: i64 = 86_400_000_000;

/// The path of one shard of a day; shard 0 has the plain name.
pub(super) fn path(dir: &Path, date: Date, shard: usize) -> PathBuf {
    match shard {
        0 => dir.join(format!("{PREFIX}{date}{SUFFIX}")),
        _ => dir.join(format!("{PREFIX}{date}.{shard}{SUFFIX}")),
    }
}

/// The date and shard that a file name stands for; `None` for files that are not the journal's.
pub(super) fn parse_name(name: &str) -> Option<(Date, usize)> {
    let stem = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let (date, shard) = match stem.split_once('.') {
        Some((date, shard)) => (date, shard.parse().ok().filter(|shard| (1..MAX_SHARDS).contains(shard))?),
        None => (stem, 0),
    };
    let parsed: Date = date.parse().ok()?;
    // Only the spelling that `path` writes: a parser that takes more must not widen what is ours.
    (parsed.to_string() == date).then_some((parsed, shard))
}

/// Files that a day can have.
pub(super) const MAX_SHARDS: usize = 64;

/// Every journal file of the folder, by day, each with its shard. No folder reads as an empty one.
pub(super) fn list(dir: &Path) -> io::Result<BTreeMap<Date, Vec<(usize, PathBuf)>>> {
    let mut days: BTreeMap<Date, Vec<(usize, PathBuf)>> = BTreeMap::new();
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(days),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if let Some((date, shard)) = entry.file_name().to_str().and_then(parse_name) {
            days.entry(date).or_default().push((shard, entry.path()));
        }
    }
    days.values_mut().for_each(|shards| shards.sort());
    Ok(days)
}

/// The number of the UTC day, counted from the epoch.
pub(super) fn day_number(at: Timestamp) -> i64 {
    at.as_microsecond().div_euclid(MICROS_PER_DAY)
}

pub(super) fn date_of(at: Timestamp) -> Date {
    Offset::UTC.to_datetime(at).date()
}
