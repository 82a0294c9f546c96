//! The execution journal: what was called, by whom and how it ended, one JSON object per line.
//!
//! The writer appends on the calling path, before and after the tool runs; the reader merges the two.
//! Nothing here knows of the pipeline, and nothing but [`Journal`] writes these files.
//!
//! On disk: `executions-YYYY-MM-DD.jsonl`, then `.1.jsonl`, `.2.jsonl` … of the same UTC day. The records
//! of one execution share a shard, in the order in which they were written.

mod day;
pub mod figures;
mod files;
mod follow;
mod json;
pub mod mask;
mod pager;
pub mod reader;
pub mod record;
pub mod retention;
mod row;
mod scan;
mod shared;
#[cfg(test)]
mod tests;
mod writer;

use std::{io, path::PathBuf};

pub use mask::{Mask, Masked, Secrets};
pub use reader::{Page, Query, Reader};
pub use record::{Edge, EndRecord, EndStatus, LineRecord, Outcome, StartRecord, Steps, Stream};
pub use row::{Execution, LogLine, PERMISSION_DENIED, Status, Step};
pub use shared::SharedLog;
pub use writer::{Journal, JournalSettings};

/// Why the journal could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The folder or a day's file could not be made or opened: permissions, a full disk, a broken path.
    #[error("cannot open the journal at {}: {source}", path.display())]
    Open { path: PathBuf, source: io::Error },
    /// A record could not be appended: the disk is full, or failed.
    #[error("cannot write to the journal: {0}")]
    Write(io::Error),
    /// Only a part of a record fitted on the disk; the reader skips that part.
    #[error("only {written} of the {length} bytes of a journal record were written")]
    Short { written: usize, length: usize },
    /// A day's file could not be read.
    #[error("cannot read the journal: {0}")]
    Read(#[from] io::Error),
    /// Nobody waits for the answer any more.
    #[error("the one who asked has gone")]
    Cancelled,
    /// The cursor of a query is not one that the reader gave out.
    #[error("not a journal cursor: {0:?}")]
    Cursor(String),
}
