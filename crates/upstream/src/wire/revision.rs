//! The revisions of MCP.

use std::fmt;

use serde::{Serialize, Serializer};

/// A revision that we speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// HTTP+SSE.
    V2024_11_05,
    /// Streamable HTTP; batches.
    V2025_03_26,
    /// Structured output, elicitation.
    V2025_06_18,
    /// The last one with `initialize`.
    V2025_11_25,
    /// Without sessions: every request carries what it needs.
    V2026_07_28,
}

impl Revision {
    /// All, the oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The newest.
    pub const LATEST: Self = Self::V2026_07_28;
    /// The newest with `initialize`.
    pub const LATEST_WITH_INITIALIZE: Self = Self::V2025_11_25;

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// Whether it is without `initialize` and sessions.
    pub const fn is_stateless(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Revision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
