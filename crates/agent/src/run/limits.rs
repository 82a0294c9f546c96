//! What a run may take.

use serde::{Deserialize, Serialize};

/// What a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Turns of the model.
    pub turns: u32,
    /// Calls of tools.
    pub calls: u32,
    /// Tokens, read and written.
    pub tokens: u64,
    /// Seconds.
    pub seconds: u64,
    /// Calls side by side.
    pub parallel: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { turns: 10, calls: 30, tokens: 400_000, seconds: 300, parallel: 4 }
    }
}

/// The limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// Turns of the model.
    Turns,
    /// Tokens.
    Tokens,
    /// Time.
    Time,
}
