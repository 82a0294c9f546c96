//! What clients of the older revisions may cost.

use std::time::Duration;

/// Limits of sessions.
#[derive(Clone, Copy, Debug)]
pub struct McpSettings {
    /// How long a session stays though nothing is asked in it and no stream of it is open.
    pub session_idle: Duration,
    /// Sessions in all.
    pub sessions: usize,
    /// Sessions of one user.
    pub sessions_per_user: usize,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self { session_idle: Duration::from_secs(1800), sessions: 10_000, sessions_per_user: 1_000 }
    }
}
