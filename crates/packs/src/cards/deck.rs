//! A deck as the tools show it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_store::cards as stored;

/// A deck, with its cards counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Deck {
    /// The number that names the deck.
    pub deck_id: i64,
    /// What it is called.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// The chance of remembering a card that the schedule aims at.
    pub desired_retention: f64,
    /// How many cards it has.
    pub cards: i64,
    /// How many of them are due now.
    pub due: i64,
    /// How many were never reviewed.
    pub new: i64,
    /// When it was made.
    pub created_at: Timestamp,
}

impl From<stored::Deck> for Deck {
    fn from(deck: stored::Deck) -> Self {
        Self {
            deck_id: deck.id.0,
            name: deck.name,
            description: deck.description,
            desired_retention: deck.retention,
            cards: deck.cards,
            due: deck.due,
            new: deck.new,
            created_at: deck.created_at,
        }
    }
}
