//! Tells those who show the resources and prompts of servers that something has changed.

use std::sync::Arc;

use tokio::sync::broadcast;

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Resources or prompts may have come or gone.
    Lists,
    /// What is behind this address of the server's own.
    Resource(Arc<str>),
}

/// News that wait for a listener; one who falls behind looks at everything.
const QUEUE: usize = 256;

/// The news of all servers, each with the server's name.
pub(super) struct News(broadcast::Sender<(Arc<str>, Told)>);

impl Default for News {
    fn default() -> Self {
        Self(broadcast::channel(QUEUE).0)
    }
}

impl News {
    pub(super) fn tell(&self, server: &str, told: Told) {
        // Nobody may be listening.
        let _ = self.0.send((server.into(), told));
    }

    pub(super) fn listen(&self) -> broadcast::Receiver<(Arc<str>, Told)> {
        self.0.subscribe()
    }
}
