//! The revisions of the protocol that are in use, and what each of them has.

use std::fmt;

/// A revision of MCP, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Revision {
    /// Newest first, as they are told to clients.
    pub(crate) const ALL: &[Revision] =
        &[Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18, Self::V2025_03_26, Self::V2024_11_05];

    /// What a client is offered that asks for something else in its handshake.
    pub(crate) const NEWEST_WITH_HANDSHAKE: Revision = Self::V2025_11_25;

    /// Those without a handshake, newest first.
    pub(crate) const STATELESS: &[Revision] = &[Self::V2026_07_28];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|revision| revision.as_str() == text)
    }

    /// Every request stands alone: no handshake, no session, results say what they are.
    pub(crate) fn is_stateless(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Several messages may come in one frame.
    pub(crate) fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Clients know what an event without data is for: it says where to resume a stream.
    pub(crate) fn has_priming_events(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Tools have annotations.
    pub(crate) fn has_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Tools have a title and an output schema, results structured content.
    pub(crate) fn has_structure(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Structured content may be any JSON; before, it is an object.
    pub(crate) fn has_any_structure(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Whether results may carry that type of block.
    pub(crate) fn knows_block(self, kind: &str) -> bool {
        match kind {
            "audio" => self >= Self::V2025_03_26,
            "resource_link" => self >= Self::V2025_06_18,
            _ => true,
        }
    }

    /// A server says that it completes arguments.
    pub(crate) fn has_completions(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Lists say how long they hold, and for whom.
    pub(crate) fn has_cache_hints(self) -> bool {
        self >= Self::V2026_07_28
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
