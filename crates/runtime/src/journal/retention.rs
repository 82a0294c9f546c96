//! Old days go: which files of the journal are kept, by the date in their names.

use std::{io, path::Path};

use jiff::{ToSpan, civil::Date};

use super::files;

/// Removes the journal's files dated before `today - keep_days`, and returns how many went.
/// Files of other names are left alone.
pub fn sweep(dir: &Path, today: Date, keep_days: u16) -> io::Result<usize> {
    let first_kept = today.saturating_sub(i64::from(keep_days).days());
    let mut removed = 0;
    for (date, shards) in files::list(dir)? {
        if date >= first_kept {
            break;
        }
        for (_, path) in shards {
            std::fs::remove_file(path)?;
            removed += 1;
        }
    }
    Ok(removed)
}
