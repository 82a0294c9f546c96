//! How a server is doing, for those who look after it.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use crate::session::{Era, Hello};

/// How a server is doing.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// In a word.
    pub state: State,
    /// Since when.
    pub since: Timestamp,
    /// What last went wrong, for the administrator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// How it is spoken to, once that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<Era>,
    /// What it says about itself, once it was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hello: Option<Arc<Hello>>,
    /// How often a connection was made.
    pub connections: u64,
}

/// How a server is doing, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nobody has needed it yet.
    Idle,
    /// It is being reached.
    Connecting,
    /// It can be called.
    Ready,
    /// It was lost, and is about to be tried again.
    Waiting,
    /// Connecting failed; calls fail.
    Down,
    /// It was shut down here.
    Stopped,
}

impl Status {
    pub(crate) fn idle() -> Self {
        Self {
            state: State::Idle,
            since: Timestamp::now(),
            last_error: None,
            era: None,
            hello: None,
            connections: 0,
        }
    }

    pub(crate) fn turn(&mut self, state: State) {
        if self.state != state {
            self.state = state;
            self.since = Timestamp::now();
        }
    }
}
