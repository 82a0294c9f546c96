//! Messages on their way to a server, and whether they have left.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A message to be written.
pub(crate) struct Job {
    pub(crate) text: Vec<u8>,
    /// For a request: whether it has left, or was taken back.
    pub(crate) sent: Option<Arc<Sent>>,
}

/// Messages that may wait for a server to take them.
pub(crate) const LENGTH: usize = 64;

/// Whether a request has left. It decides whether the request can have been carried out.
#[derive(Default)]
pub(crate) struct Sent(AtomicU8);

const WAITING: u8 = 0;
const STARTED: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Sent {
    /// From now on it may reach the server; false if it was taken back.
    pub(crate) fn start(&self) -> bool {
        self.0.compare_exchange(WAITING, STARTED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Takes it back; false if it may have reached the server.
    pub(crate) fn withdraw(&self) -> bool {
        self.0.compare_exchange(WAITING, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire).is_ok()
            || self.0.load(Ordering::Acquire) == WITHDRAWN
    }

    /// It did not get out whole, so the server can do nothing with it.
    pub(crate) fn failed(&self) {
        self.0.store(WITHDRAWN, Ordering::Release);
    }
}
