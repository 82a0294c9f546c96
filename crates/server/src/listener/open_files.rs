//! How many files the process may open, which bounds how many connections it can hold.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit on open files to the hard one, and returns what then holds. Call it once, at start-up.
pub fn raise_open_file_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "cannot raise the limit on open files");
    }
    open_file_limit()
}

/// `wanted`, but at most half of the open files: the store and the tools need some too.
pub(super) fn affordable_connections(wanted: usize) -> usize {
    let half = usize::try_from(open_file_limit() / 2).unwrap_or(usize::MAX);
    if wanted > half {
        tracing::warn!(wanted, allowed = half, "allowing fewer connections: the limit on open files is low");
    }
    wanted.min(half.max(1))
}

fn open_file_limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
