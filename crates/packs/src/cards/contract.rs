//! What the contracts of all card tools have in common.

use serde_json::{Value, json};
use toolroom_contract::definition::{Example, Varies};
use toolroom_contract::effect::Target;

use crate::contract;
pub(super) use crate::contract::{Contract, next};

/// The contract of a card tool, to be filled in.
pub(super) fn of_cards() -> Contract {
    Contract { resource: "cards", tags: &["cards", "learning", "scheduling"], ..Contract::default() }
}

/// Cards as the target of a call, with their ids at these places.
pub(super) fn cards_at<const N: usize>(places: [&str; N]) -> Target {
    Target::new(&["card", "flashcard"], "cardId", "front").at(places)
}

/// The one card of a call and its answer.
pub(super) fn the_card() -> Target {
    cards_at(["/params/cardId", "/data/card/cardId"])
}

/// Decks as the target of a call, with their ids at these places.
pub(super) fn decks_at<const N: usize>(places: [&str; N]) -> Target {
    Target::new(&["deck"], "deckId", "name").at(places)
}

/// A call and its answer, in which the decks and cards at these pointers have ids and times of their own.
pub(super) fn example(description: &str, params: &Value, expected_result: Value, things: &[&str]) -> Example {
    // Of a deck, `due` is a number of cards.
    let times = ["due", "lastReview", "createdAt", "updatedAt"].map(|field| (field, Varies::Time));
    let ids = [("deckId", Varies::Id), ("cardId", Varies::Id), ("version", Varies::Number)];
    contract::example(description, params, expected_result, things, &[&times[..], &ids].concat())
}

/// The deck of the examples, with these fields instead.
pub(super) fn deck(fields: Value) -> Value {
    let deck = json!({
        "deckId": 1, "name": "Spanish", "description": null, "desiredRetention": 0.9, "cards": 0, "due": 0, "new": 0,
        "createdAt": "2030-01-07T09:00:00Z"
    });
    contract::with(deck, fields)
}

/// The card of the examples, with these fields instead.
pub(super) fn card(fields: Value) -> Value {
    let card = json!({
        "cardId": 1, "deckId": 1, "front": "the bread", "back": "el pan", "tags": ["food"], "state": "new",
        "due": "2030-01-07T09:00:00Z", "stability": null, "difficulty": null, "retrievability": null, "reviews": 0,
        "lapses": 0, "lastReview": null, "version": 1, "createdAt": "2030-01-07T09:00:00Z",
        "updatedAt": "2030-01-07T09:00:00Z"
    });
    contract::with(card, fields)
}
