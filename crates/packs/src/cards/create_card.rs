//! `create-card`: puts a card into a deck.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::definition::Argument;
use toolroom_contract::effect::Undo;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::DeckId;
use toolroom_contract::{Effect, EffectKind, Handler, HintsDraft, ToolContext, ToolDefinition, ToolError};
use toolroom_store::cards::{self, NewCard};
use toolroom_store::{Store, Unit};

use super::card::Card;
use super::change::{Author, change};
use super::contract::{Contract, card, cards_at, example, next, of_cards};
use super::{refusal, text};
use crate::deserialize::whole;
use crate::text::tags;

struct CreateCard(Store);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// The deck to put it into.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    deck_id: i64,
    /// The question.
    #[schemars(length(min = 1, max = 4000))]
    front: String,
    /// The answer.
    #[schemars(length(min = 1, max = 4000))]
    back: String,
    /// Labels, each of 1 to 50 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", length(max = 20))]
    tags: Option<Vec<String>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Output {
    /// The card as it was made; it is due at once.
    card: Card,
}

impl NativeTool for CreateCard {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let new = NewCard {
            deck: DeckId(params.deck_id),
            front: text::side("/front", &params.front)?,
            back: text::side("/back", &params.back)?,
            tags: tags("tags", params.tags.as_deref().unwrap_or_default())?,
        };
        change(&self.0, context, move |unit: &mut Unit<'_>, author: &Author| {
            let deck = cards::deck(unit, author.user, new.deck, unit.now)?.ok_or_else(refusal::no_deck)?;
            let card = cards::insert(unit, author.user, &new)?;
            let hints = HintsDraft::default().related("deck", deck.id, deck.name, 1.0);
            Ok(Reply::new(Output { card: Card::at(unit.now, card) }, hints))
        })
        .await
    }

    fn trimmed(&self) -> &'static [&'static str] {
        &["front", "back"]
    }

    fn records_claim(&self) -> bool {
        true
    }
}

pub(super) fn tool(store: &Store) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "create-card",
        description: "Puts a new flash card with a question and an answer into a deck. Use it when the \
                      user wants to learn or memorise something, one fact per card. Returns the card \
                      with its cardId; it is due at once.",
        action: "write",
        effect: Some(Effect {
            undo: Some(Undo {
                tool: "delete-card".into(),
                arguments: [("cardId".to_owned(), Argument::From("/data/card/cardId".into()))].into(),
            }),
            ..Effect::new(EffectKind::Create, cards_at(["/data/card/cardId"]))
        }),
        examples: vec![example(
            "A word and its translation",
            &json!({ "deckId": 1, "front": "the bread", "back": "el pan", "tags": ["food"] }),
            json!({ "card": card(json!({})) }),
            &["/card"],
        )],
        next_actions: vec![next(
            "review-card",
            "Note how well the user knew it, once they were asked.",
            "cardId",
            "/data/card/cardId",
        )],
        ..of_cards()
    }
    .tool(CreateCard(store.clone()))
}
