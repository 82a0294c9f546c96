//! `review-next-card`: the card that should be asked now.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::DeckId;
use toolroom_contract::{
    Effect, EffectKind, Handler, HintsDraft, Priority, SuggestedAction, ToolContext, ToolDefinition,
    ToolError,
};
use toolroom_store::{Store, cards};

use super::card::Card;
use super::change::Author;
use super::contract::{Contract, card, cards_at, example, of_cards};
use super::{evidence, refusal};
use crate::deserialize::some_whole;

struct ReviewNextCard(Store);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Only from this deck (from all if not given).
    #[serde(default, deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 9_007_199_254_740_991_i64))]
    deck_id: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// The card that has been due the longest; null if none is due.
    card: Option<Card>,
    /// How many cards are due now, this one included.
    due: i64,
    /// When the next card is due, if none is now.
    next_due: Option<Timestamp>,
}

impl NativeTool for ReviewNextCard {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let user = Author::of(context).user;
        let wanted = params.deck_id.map(DeckId);
        let read = self.0.read(move |unit| -> Result<_, ToolError> {
            let due = match wanted {
                Some(id) => cards::deck(unit, user, id, unit.now)?.ok_or_else(refusal::no_deck)?.due,
                None => cards::decks(unit, user, unit.now)?.iter().map(|deck| deck.due).sum(),
            };
            Ok((due, cards::next(unit, user, wanted)?, unit.now))
        });
        let (due, first, now) = read.await?;
        let next_due = first.as_ref().map(|card| card.due_at).filter(|at| *at > now);
        let Some(card) = first.filter(|card| card.due_at <= now) else {
            let hints = HintsDraft::default().because("No card is due.");
            return Ok(Reply::new(Output { card: None, due: 0, next_due }, hints));
        };
        let rate = SuggestedAction::new("review-card", Priority::High)
            .with("cardId", card.id.0)
            .described("Ask the user the front, show the back, then note how well it was remembered.");
        let hints = evidence::about_memory(HintsDraft::default().next(rate), &card, now);
        Ok(Reply::new(Output { card: Some(Card::at(now, card)), due, next_due: None }, hints))
    }
}

pub(super) fn tool(store: &Store) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "review-next-card",
        description: "Gives the flash card that should be asked now: the one that has been due the \
                      longest. Use it to start or go on with learning; ask the user the front before \
                      you show the back, then call review-card. Returns the card, or null and the time \
                      at which the next one is due.",
        action: "read",
        uncached: true,
        effect: Some(Effect::new(EffectKind::None, cards_at(["/data/card/cardId"]))),
        examples: vec![
            example(
                "The next card of a deck",
                &json!({ "deckId": 1 }),
                json!({ "card": card(json!({ "back": "el pan (bread)", "version": 2 })), "due": 1, "nextDue": null }),
                &["/card"],
            ),
        ],
        ..of_cards()
    }
    .tool(ReviewNextCard(store.clone()))
}
