//! `list-decks`: all decks of a user, with what is due in each.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::effect::Shows;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::{
    Effect, Handler, HintsDraft, Priority, SuggestedAction, ToolContext, ToolDefinition, ToolError,
};
use toolroom_store::{Store, cards};

use super::change::Author;
use super::contract::{Contract, deck, decks_at, example, of_cards};
use super::deck::Deck;

struct ListDecks(Store);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The decks, by name.
    decks: Vec<Deck>,
    /// How many cards are due now, over all decks.
    due: i64,
}

impl NativeTool for ListDecks {
    type Params = Params;
    type Output = Output;

    async fn run(&self, _params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let user = Author::of(context).user;
        let decks =
            self.0.read(move |unit| cards::decks(unit, user, unit.now).map_err(ToolError::from)).await?;
        let decks: Vec<Deck> = decks.into_iter().map(Deck::from).collect();
        let due = decks.iter().map(|deck| deck.due).sum();
        let hints = match decks.iter().max_by_key(|deck| deck.due).filter(|deck| deck.due > 0) {
            Some(deck) => HintsDraft::default().next(
                SuggestedAction::new("review-next-card", Priority::Medium)
                    .with("deckId", deck.deck_id)
                    .described(format!("{} cards of '{}' are due.", deck.due, deck.name)),
            ),
            None => HintsDraft::default(),
        };
        Ok(Reply::new(Output { decks, due }, hints))
    }
}

pub(super) fn tool(store: &Store) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "list-decks",
        description: "Lists the user's decks of flash cards, with how many cards each holds and how \
                      many are due. Use it to see what there is to learn, or to find the deckId of a \
                      deck. Returns all decks by name.",
        action: "read",
        uncached: true,
        effect: Some(Effect::shows(Shows::List, decks_at(["/data/decks/*/deckId"]))),
        examples: vec![example(
            "The decks of a beginner",
            &json!({}),
            json!({ "decks": [deck(json!({}))], "due": 0 }),
            &["/decks/0"],
        )],
        ..of_cards()
    }
    .tool(ListDecks(store.clone()))
}
