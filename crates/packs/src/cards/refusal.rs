//! The refusals that several card tools share.

use serde_json::json;
use toolroom_contract::{ErrorCode, Priority, SuggestedAction, ToolError};
use toolroom_store::cards::Card;

/// No such card, or somebody else's: the same to the caller.
pub(super) fn no_card() -> ToolError {
    let look = SuggestedAction::new("search-cards", Priority::Medium).described("See which cards there are.");
    ToolError::new(ErrorCode::NotFound, "You have no card with that id.").with_next(look)
}

/// No such deck, or somebody else's: the same to the caller.
pub(super) fn no_deck() -> ToolError {
    let look = SuggestedAction::new("list-decks", Priority::Medium).described("See which decks there are.");
    ToolError::new(ErrorCode::NotFound, "You have no deck with that id.").with_next(look)
}

/// The card has moved on since the caller read it.
pub(super) fn version_conflict(current: &Card, expected: Option<i64>) -> ToolError {
    let expected = expected.unwrap_or_default();
    let message = format!(
        "The card has version {} now, not {expected}. Read it again before you repeat the change.",
        current.version
    );
    let read = SuggestedAction::new("get-card", Priority::High)
        .with("cardId", current.id.0)
        .described("Read the card as it is now.");
    ToolError::new(ErrorCode::VersionConflict, message)
        .with_data(json!({ "currentVersion": current.version }))
        .with_next(read)
}
