//! What clients may cost.

use std::time::Duration;

/// Limits of sessions and results.
#[derive(Clone, Copy, Debug)]
pub struct McpSettings {
    /// How long a session stays though nothing is asked in it and no stream of it is open.
    pub session_idle: Duration,
    /// Sessions in total.
    pub sessions: usize,
    /// Sessions of one user.
    pub sessions_per_user: usize,
    /// Characters of text in a result; a longer one becomes a preview, and the whole a resource.
    pub text_budget: usize,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            session_idle: Duration::from_secs(1800),
            sessions: 10_000,
            sessions_per_user: 1_000,
            text_budget: 20_000,
        }
    }
}
