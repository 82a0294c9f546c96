//! What a server reports about itself: that its lists have changed, and resources.

use std::sync::Arc;

use tokio::sync::{broadcast, watch};

/// How often each list of a server has changed since we look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Tools.
    pub tools: u64,
    /// Resources and their templates.
    pub resources: u64,
    /// Prompts.
    pub prompts: u64,
}

/// Where what a server reports about itself goes.
pub(crate) struct Notices {
    changes: watch::Sender<Changes>,
    /// Addresses of resources that have changed.
    pub(crate) updates: broadcast::Sender<Arc<str>>,
}

/// Updates that wait for a listener; one who falls behind loses the oldest.
const UPDATES: usize = 256;

impl Default for Notices {
    fn default() -> Self {
        Self { changes: watch::Sender::default(), updates: broadcast::channel(UPDATES).0 }
    }
}

impl Notices {
    pub(crate) fn send_modify(&self, change: impl FnOnce(&mut Changes)) {
        self.changes.send_modify(change);
    }

    /// Something happened after which every list may be another.
    pub(crate) fn all_may_differ(&self) {
        self.changes.send_modify(|changes| {
            changes.tools += 1;
            changes.resources += 1;
            changes.prompts += 1;
        });
    }

    /// How often the list of tools has changed, or may have.
    pub(crate) fn tools(&self) -> u64 {
        self.changes.borrow().tools
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Changes> {
        self.changes.subscribe()
    }

    pub(crate) fn updates(&self) -> broadcast::Receiver<Arc<str>> {
        self.updates.subscribe()
    }
}
