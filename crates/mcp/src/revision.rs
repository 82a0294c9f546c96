//! The revisions of MCP that are in use, how one is chosen, and what each of them has.

use std::fmt;

use serde::{Serialize, Serializer};

/// A revision of MCP, oldest first.
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
    /// Newest first, as they are told to clients.
    pub const ALL: &[Revision] =
        &[Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18, Self::V2025_03_26, Self::V2024_11_05];

    /// The newest.
    pub const LATEST: Revision = Self::V2026_07_28;

    /// The newest with `initialize`: what we ask for, and what we offer a client that asks for something else.
    pub const LATEST_WITH_INITIALIZE: Revision = Self::V2025_11_25;

    /// Those without a handshake, newest first.
    pub const STATELESS: &[Revision] = &[Self::V2026_07_28];

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
        Self::ALL.iter().copied().find(|revision| revision.as_str() == text)
    }

    /// The one that a request without a session is served in: what it asks for, if that needs no session.
    pub fn of_request(asked: &str) -> Option<Self> {
        Self::parse(asked).filter(|revision| revision.is_stateless())
    }

    /// The one that a session is held in: what the client asks for, else the newest with `initialize`, which the
    /// client may then refuse.
    pub fn of_session(asked: &str) -> Self {
        Self::parse(asked).filter(|revision| !revision.is_stateless()).unwrap_or(Self::LATEST_WITH_INITIALIZE)
    }

    /// Every request stands alone: no handshake, no session, results say what they are.
    pub fn is_stateless(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Several messages may come in one frame.
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Clients know what an event without data is for: it tells where to take up a stream.
    pub fn has_priming_events(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Tools have annotations.
    pub fn has_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Tools have a title and an output schema, results structured content.
    pub fn has_structure(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Structured content may be any JSON; before, it is an object.
    pub fn has_any_structure(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Whether results may carry that type of block.
    pub fn knows_block(self, kind: &str) -> bool {
        match kind {
            "audio" => self >= Self::V2025_03_26,
            "resource_link" => self >= Self::V2025_06_18,
            _ => true,
        }
    }

    /// A server says that it completes arguments.
    pub fn has_completions(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Lists say how long they hold, and for whom.
    pub fn has_cache_hints(self) -> bool {
        self >= Self::V2026_07_28
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
