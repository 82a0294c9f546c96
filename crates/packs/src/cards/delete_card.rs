//! `delete-card`: removes a card for good, once a person has agreed.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::effect::Named;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::CardId;
use toolroom_contract::{Effect, EffectKind, Handler, HintsDraft, ToolContext, ToolDefinition, ToolError};
use toolroom_store::cards::{self, Changed};
use toolroom_store::{Store, Unit};

use super::change::{Author, change};
use super::contract::{Contract, cards_at, example, of_cards};
use super::refusal;
use crate::deserialize::{some_whole, whole};

struct DeleteCard(Store);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Which card.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    card_id: i64,
    /// Delete it only if it still has this version.
    #[serde(default, deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 9_007_199_254_740_991_i64))]
    expected_version: Option<i64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// Always true.
    deleted: bool,
    /// The card that is gone.
    card_id: i64,
    /// Its question.
    front: String,
}

impl NativeTool for DeleteCard {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let (id, expected) = (CardId(params.card_id), params.expected_version);
        change(&self.0, context, move |unit: &mut Unit<'_>, author: &Author| {
            match cards::delete(unit, author.user, id, expected)? {
                Changed::Applied { card, .. } => {
                    let gone = Output { deleted: true, card_id: card.id.0, front: card.front };
                    let hints = HintsDraft::default().because("The card and its reviews are gone for good.");
                    Ok(Reply::new(gone, hints))
                }
                Changed::Conflict { current } => Err(refusal::version_conflict(&current, expected)),
                Changed::NotFound | Changed::NoChange(_) => Err(refusal::no_card()),
            }
        })
        .await
    }

    async fn names(&self, params: Params, context: &ToolContext) -> Vec<Named> {
        let (user, id) = (Author::of(context).user, params.card_id);
        let found = self.0.read(move |unit| cards::get(unit, user, CardId(id))).await;
        let card = found.ok().flatten();
        card.map(|card| Named { noun: "card".to_owned(), id: id.into(), title: Some(card.front) })
            .into_iter()
            .collect()
    }

    fn records_claim(&self) -> bool {
        true
    }
}

pub(super) fn tool(store: &Store) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "delete-card",
        description: "Deletes a flash card with all its reviews, for good; a person is asked first. \
                      Use it when the user wants a card gone, because it is wrong or not worth \
                      learning. Returns the cardId and the question of what was deleted.",
        action: "delete",
        idempotent: true,
        destructive: true,
        effect: Some(Effect::new(EffectKind::Delete, cards_at(["/params/cardId", "/data/cardId"]))),
        examples: vec![example(
            "Delete a card",
            &json!({ "cardId": 1 }),
            json!({ "deleted": true, "cardId": 1, "front": "the bread" }),
            &[],
        )],
        ..of_cards()
    }
    .tool(DeleteCard(store.clone()))
}
