//! `create-deck`: makes a deck.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::{
    Effect, EffectKind, ErrorCode, Handler, HintsDraft, Priority, SuggestedAction, ToolContext,
    ToolDefinition, ToolError,
};
use toolroom_store::cards::{self, NewDeck};
use toolroom_store::{Store, Unit};

use super::change::{Author, change};
use super::contract::{Contract, deck, decks_at, example, next, of_cards};
use super::deck::Deck;
use super::text;

struct CreateDeck(Store);

/// More decks than this are not useful, and every list has them all.
const MOST_DECKS: usize = 1000;
const USUAL_RETENTION: f64 = 0.9;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// What it is called, on one line; unlike the names of your other decks.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// What it is about; null is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 1000))]
    description: Option<String>,
    /// The chance of remembering a card that the schedule aims at (0.9 if not given). More means more reviews.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0.7, max = 0.97))]
    desired_retention: Option<f64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Output {
    /// The deck as it was made.
    deck: Deck,
}

impl NativeTool for CreateDeck {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let retention = params.desired_retention.unwrap_or(USUAL_RETENTION);
        if !(0.7..=0.97).contains(&retention) {
            return Err(ToolError::invalid("/desiredRetention", "must be from 0.7 to 0.97"));
        }
        let description = params.description.as_deref().map(text::description).transpose()?.flatten();
        let new = NewDeck { name: text::name(&params.name)?, description, retention };
        change(&self.0, context, move |unit: &mut Unit<'_>, author: &Author| {
            if cards::decks(unit, author.user, unit.now)?.len() >= MOST_DECKS {
                let message = format!("You have {MOST_DECKS} decks, which is the most. Use one of them.");
                return Err(ToolError::new(ErrorCode::InvalidInput, message));
            }
            let Some(deck) = cards::insert_deck(unit, author.user, &new)? else {
                return Err(taken(&new.name));
            };
            Ok(Reply::new(Output { deck: deck.into() }, HintsDraft::default()))
        })
        .await
    }

    fn trimmed(&self) -> &'static [&'static str] {
        &["name", "description"]
    }

    fn records_claim(&self) -> bool {
        true
    }
}

fn taken(name: &str) -> ToolError {
    let message = format!("You have a deck named '{name}'. Use that one, or choose another name.");
    let find = SuggestedAction::new("search-decks", Priority::High)
        .with("query", name)
        .described("Find the deck of that name.");
    ToolError::new(ErrorCode::AlreadyExists, message).with_next(find)
}

pub(super) fn tool(store: &Store) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "create-deck",
        description: "Makes a new deck for flash cards to learn with spaced repetition. Use it when \
                      the user wants to start learning a subject, such as words of a language, and no \
                      deck for it exists. Returns the deck with its deckId, which create-card needs.",
        action: "write",
        effect: Some(Effect::new(EffectKind::Create, decks_at(["/data/deck/deckId"]))),
        examples: vec![example(
            "A deck for a language",
            &json!({ "name": "Spanish" }),
            json!({ "deck": deck(json!({})) }),
            &["/deck"],
        )],
        next_actions: vec![next(
            "create-card",
            "Put a first card into the deck.",
            "deckId",
            "/data/deck/deckId",
        )],
        ..of_cards()
    }
    .tool(CreateDeck(store.clone()))
}
