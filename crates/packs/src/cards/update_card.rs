//! `update-card`: changes what is named of a card; its place in memory stays.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::{CardId, DeckId};
use toolroom_contract::{Effect, EffectKind, Handler, HintsDraft, ToolContext, ToolDefinition, ToolError};
use toolroom_store::cards::{self, Changed, Patch};
use toolroom_store::{Store, Unit};

use super::card::Card;
use super::change::{Author, change};
use super::contract::{Contract, card, example, next, of_cards, the_card};
use super::{refusal, text};
use crate::deserialize::{some_whole, whole};
use crate::text::tags;

struct UpdateCard(Store);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Which card.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    card_id: i64,
    /// A new question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 4000))]
    front: Option<String>,
    /// A new answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 4000))]
    back: Option<String>,
    /// The labels instead of all that the card has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", length(max = 20))]
    tags: Option<Vec<String>>,
    /// Another deck to put it into.
    #[serde(default, deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 9_007_199_254_740_991_i64))]
    deck_id: Option<i64>,
    /// Change it only if it still has this version.
    #[serde(default, deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 9_007_199_254_740_991_i64))]
    expected_version: Option<i64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// The card as it is now.
    card: Card,
    /// The fields that differ from before; empty if everything was so already.
    changed: Vec<String>,
}

impl NativeTool for UpdateCard {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let side = |pointer, text: &Option<String>| {
            text.as_deref().map(|text| text::side(pointer, text)).transpose()
        };
        let patch = Patch {
            deck: params.deck_id.map(DeckId),
            front: side("/front", &params.front)?,
            back: side("/back", &params.back)?,
            tags: params.tags.as_deref().map(|given| tags("tags", given)).transpose()?,
        };
        let (id, expected) = (CardId(params.card_id), params.expected_version);
        change(&self.0, context, move |unit: &mut Unit<'_>, author: &Author| {
            if let Some(deck) = patch.deck {
                cards::deck(unit, author.user, deck, unit.now)?.ok_or_else(refusal::no_deck)?;
            }
            let (card, changed) = match cards::change(unit, author.user, id, expected, |card| {
                patch.apply(card)
            })? {
                Changed::Applied { card, done } => (card, done),
                Changed::NoChange(card) => (card, Vec::new()),
                Changed::NotFound => return Err(refusal::no_card()),
                Changed::Conflict { current } => return Err(refusal::version_conflict(&current, expected)),
            };
            let changed = changed.into_iter().map(str::to_owned).collect();
            Ok(Reply::new(Output { card: Card::at(unit.now, card), changed }, HintsDraft::default()))
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
        name: "update-card",
        description: "Changes the question, the answer, the labels or the deck of a flash card, and \
                      nothing else of it. Use it to correct or complete a card; how well it is known \
                      stays as it is. Returns the card and the names of the fields that differ.",
        action: "write",
        idempotent: true,
        effect: Some(
            Effect::new(EffectKind::Update, the_card())
                .receipts([
                    "Changed {target}: {/data/changed}.",
                    "{target} is so already; nothing was changed.",
                ])
                .wording([
                    ("front", &["new question"][..]),
                    ("back", &["new answer"]),
                    ("tags", &["tags {/data/card/tags}", "no tags"]),
                    ("deckId", &["deck {/data/card/deckId}"]),
                ]),
        ),
        examples: vec![example(
            "A better answer",
            &json!({ "cardId": 1, "back": "el pan (bread)" }),
            json!({ "card": card(json!({ "back": "el pan (bread)", "version": 2 })), "changed": ["back"] }),
            &["/card"],
        )],
        next_actions: vec![next("get-card", "Read the card as it is now.", "cardId", "/data/card/cardId")],
        ..of_cards()
    }
    .tool(UpdateCard(store.clone()))
}
