//! What the contracts of all card tools have in common.

use std::sync::Arc;

use serde_json::{Value, json};
use toolroom_contract::definition::{Example, NextAction, Varies};
use toolroom_contract::handler::{NativeTool, Shapes, Typed};
use toolroom_contract::{Category, Handler, Permission, Priority, ResponseTime, ToolDefinition};

/// Seconds for which a read may be answered again; every change of the user's cards ends it at once.
const CACHE_SECONDS: u64 = 30;

/// What sets one card tool apart.
pub(super) struct Contract {
    pub name: &'static str,
    pub description: &'static str,
    /// The action half of its permission on cards.
    pub action: &'static str,
    /// For a mutation: repeating has no further effect.
    pub idempotent: bool,
    pub destructive: bool,
    /// For a query: not if its answer changes with the clock.
    pub cacheable: bool,
    pub examples: Vec<Example>,
    pub next_actions: Vec<NextAction>,
}

impl Contract {
    /// The tool with this contract and this code.
    pub(super) fn tool<T: NativeTool>(self, code: T) -> (ToolDefinition, Arc<dyn Handler>) {
        let is_read = self.action == "read";
        let definition = ToolDefinition {
            permissions: Permission::new("cards", self.action).into_iter().collect(),
            parameters: Shapes::<T>::parameters(),
            output: Some(Shapes::<T>::output()),
            category: if is_read { Category::Query } else { Category::Mutation },
            response_time: ResponseTime::Fast,
            cacheable: self.cacheable,
            cache_ttl: self.cacheable.then_some(CACHE_SECONDS),
            idempotent: is_read || self.idempotent,
            examples: self.examples,
            tags: vec!["cards".into(), "learning".into(), "scheduling".into()],
            destructive: self.destructive,
            next_actions: self.next_actions,
            ..ToolDefinition::query(self.name, self.description)
        };
        (definition, Arc::new(Typed(code)))
    }

    /// A step that may follow, with one argument out of the call or its answer.
    pub(super) fn next(action: &str, description: &str, argument: &str, pointer: &str) -> NextAction {
        NextAction::new(action, Priority::Low, description).with_from(argument, pointer)
    }
}

/// A call and its answer, in which the decks and cards at these pointers have ids and times of their own.
pub(super) fn example(description: &str, params: &Value, expected_result: Value, things: &[&str]) -> Example {
    let mut example = Example::new(description, params, expected_result);
    let fields = [
        ("deckId", Varies::Id),
        ("cardId", Varies::Id),
        ("version", Varies::Number),
        ("due", Varies::Time),
        ("lastReview", Varies::Time),
        ("createdAt", Varies::Time),
        ("updatedAt", Varies::Time),
    ];
    for (thing, (field, varies)) in things.iter().flat_map(|thing| fields.map(|field| (thing, field))) {
        let place = format!("{thing}/{field}");
        let found = example.expected_result.pointer(&place);
        // Of a deck, `due` is a number of cards.
        if found.is_some_and(|value| !value.is_null() && (varies != Varies::Time || value.is_string())) {
            example.varies.insert(place, varies);
        }
    }
    example
}

/// The deck of the examples, with these fields instead.
pub(super) fn deck(fields: Value) -> Value {
    let deck = json!({
        "deckId": 1, "name": "Spanish", "description": null, "desiredRetention": 0.9, "cards": 0, "due": 0, "new": 0,
        "createdAt": "2030-01-07T09:00:00Z"
    });
    with(deck, fields)
}

/// The card of the examples, with these fields instead.
pub(super) fn card(fields: Value) -> Value {
    let card = json!({
        "cardId": 1, "deckId": 1, "front": "the bread", "back": "el pan", "tags": ["food"], "state": "new",
        "due": "2030-01-07T09:00:00Z", "stability": null, "difficulty": null, "retrievability": null, "reviews": 0,
        "lapses": 0, "lastReview": null, "version": 1, "createdAt": "2030-01-07T09:00:00Z",
        "updatedAt": "2030-01-07T09:00:00Z"
    });
    with(card, fields)
}

fn with(mut thing: Value, fields: Value) -> Value {
    if let (Value::Object(thing), Value::Object(fields)) = (&mut thing, fields) {
        thing.extend(fields);
    }
    thing
}
