//! `get-card`: reads one card with its place in memory.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::effect::Shows;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::CardId;
use toolroom_contract::{Effect, Handler, HintsDraft, ToolContext, ToolDefinition, ToolError};
use toolroom_store::{Store, cards};

use super::card::Card;
use super::change::Author;
use super::contract::{Contract, card, example, next, of_cards, the_card};
use super::{evidence, refusal};
use crate::deserialize::whole;

struct GetCard(Store);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Which card.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    card_id: i64,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The card.
    card: Card,
}

impl NativeTool for GetCard {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let user = Author::of(context).user;
        let id = CardId(params.card_id);
        let found = self.0.read(move |unit| -> Result<_, ToolError> {
            let Some(card) = cards::get(unit, user, id)? else { return Ok(None) };
            let deck = cards::deck(unit, user, card.deck, unit.now)?;
            Ok(Some((card, deck, unit.now)))
        });
        let (card, deck, now) = found.await?.ok_or_else(refusal::no_card)?;
        let hints = evidence::about_memory(HintsDraft::default(), &card, now);
        let hints = deck.iter().fold(hints, |hints, deck| hints.related("deck", deck.id, &deck.name, 1.0));
        Ok(Reply::new(Output { card: Card::at(now, card) }, hints))
    }
}

pub(super) fn tool(store: &Store) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "get-card",
        description: "Reads one flash card by its cardId. Use it when you need the content of a card, \
                      how well it is known, or its current version before you change it. Returns the \
                      card with when it is due, its stability, difficulty and the chance that it is \
                      known now.",
        action: "read",
        effect: Some(Effect::shows(Shows::One, the_card())),
        examples: vec![example(
            "A card that was never reviewed",
            &json!({ "cardId": 1 }),
            json!({ "card": card(json!({})) }),
            &["/card"],
        )],
        next_actions: vec![next("update-card", "Change the card.", "cardId", "/data/card/cardId")],
        ..of_cards()
    }
    .tool(GetCard(store.clone()))
}
