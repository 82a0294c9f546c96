//! Old days go: which files of the journal are kept, by the date in their names.
//!
//! A clock can be wrong. What it says counts only as far as the log itself confirms it: a day is plausible if the
//! journal was written in the days just before it. After a gap, such as a step of the clock or a long rest, the files
//! count from the last day that was written, until the clock has shown another day.

use std::{io, os::unix::fs::MetadataExt, path::Path};

use jiff::{Timestamp, ToSpan, civil::Date};

use super::files;

/// How far the clock may be ahead of the last sign of the journal.
const GAP_DAYS: i64 = 2;

/// Days whose files go at one time.
const MOST_DAYS: usize = 31;

/// Removes the journal's files dated before `today - keep_days`, and returns how many went. If `today` is not
/// plausible, the last plausible day counts instead. Files of other names are left alone.
pub fn sweep(dir: &Path, today: Date, keep_days: u16) -> io::Result<usize> {
    let days = files::list(dir)?;
    let mut last_sign = None;
    for (date, shards) in days.range(..today) {
        last_sign = last_sign.max(Some(*date));
        // A file that was written later than its name says is a sign of that day too.
        for (_, path) in shards {
            let written = Timestamp::from_second(std::fs::metadata(path)?.mtime()).map(files::date_of);
            last_sign = last_sign.max(written.ok().map(|written| written.min(today)));
        }
    }
    let Some(last_sign) = last_sign else { return Ok(0) };
    let counted = today.min(last_sign.saturating_add(GAP_DAYS.days()));
    if counted < today {
        tracing::warn!(
            %today, last = %last_sign,
            "the clock is days ahead of the log; old files are kept until the date has changed"
        );
    }
    let first_kept = counted.saturating_sub(i64::from(keep_days).days());
    let mut removed = 0;
    for (_, shards) in days.range(..first_kept).take(MOST_DAYS) {
        for (_, path) in shards {
            std::fs::remove_file(path)?;
            removed += 1;
        }
    }
    Ok(removed)
}
