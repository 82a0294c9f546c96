//! `review-card`: notes how well a card was remembered, and plans when to ask it again.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::definition::Varies;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::CardId;
use toolroom_contract::{Effect, EffectKind, Handler, ToolContext, ToolDefinition, ToolError};
use toolroom_store::cards::{self, Changed, Review};
use toolroom_store::{Store, Unit};

use super::card::{Card, memory, stored_memory, thousandths};
use super::change::{Author, change};
use super::contract::{Contract, card, example, of_cards, the_card};
use super::evidence::Evidence;
use super::{fsrs, refusal};
use crate::deserialize::{some_whole, whole};

struct ReviewCard(Store);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Which card.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    card_id: i64,
    /// How well it was remembered: again is forgotten, hard with effort, good as it should be, easy at once.
    rating: Rating,
    /// How long the user took to answer, in milliseconds.
    #[serde(default, deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 0, max = 86_400_000))]
    duration_ms: Option<i64>,
    /// Note it only if the card still has this version.
    #[serde(default, deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 9_007_199_254_740_991_i64))]
    expected_version: Option<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Rating {
    Again,
    Hard,
    Good,
    Easy,
}

impl Rating {
    fn parts(self) -> (fsrs::Rating, cards::Rating) {
        match self {
            Self::Again => (fsrs::Rating::Again, cards::Rating::Again),
            Self::Hard => (fsrs::Rating::Hard, cards::Rating::Hard),
            Self::Good => (fsrs::Rating::Good, cards::Rating::Good),
            Self::Easy => (fsrs::Rating::Easy, cards::Rating::Easy),
        }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// The card as it is now.
    card: Card,
    /// The review that was noted.
    review: Noted,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Noted {
    /// How well it was remembered.
    rating: Rating,
    /// When.
    at: Timestamp,
    /// The chance of remembering that was predicted; null for the first review.
    predicted: Option<f64>,
    /// Seconds until it is due again.
    interval: i64,
}

impl NativeTool for ReviewCard {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let (id, expected) = (CardId(params.card_id), params.expected_version);
        let (rating, stored_rating) = params.rating.parts();
        change(&self.0, context, move |unit: &mut Unit<'_>, author: &Author| {
            let user = author.user;
            let current = cards::get(unit, user, id)?.ok_or_else(refusal::no_card)?;
            let deck = cards::deck(unit, user, current.deck, unit.now)?.ok_or_else(refusal::no_deck)?;
            let evidence = Evidence::read(unit, user)?;
            let at = unit.now;
            let noted = cards::change(unit, user, id, expected, |card| {
                let before = memory(card);
                let outcome = fsrs::review(before.as_ref(), rating, at, deck.retention);
                let is_lapse = rating == fsrs::Rating::Again
                    && before.is_some_and(|memory| memory.phase == fsrs::Phase::Review);
                card.memory = Some(stored_memory(outcome.memory));
                card.due_at = outcome.due;
                card.reviews += 1;
                card.lapses += i64::from(is_lapse);
                Some(Review {
                    rating: stored_rating,
                    predicted: before.map(|memory| memory.retrievability(at)),
                    elapsed_days: before.map(|memory| memory.days_until(at)),
                    duration_ms: params.duration_ms,
                    at,
                })
            })?;
            let (card, review) = match noted {
                Changed::Applied { card, done } => (card, done),
                Changed::Conflict { current } => return Err(refusal::version_conflict(&current, expected)),
                Changed::NotFound | Changed::NoChange(_) => return Err(refusal::no_card()),
            };
            cards::add_review(unit, user, (card.id, card.deck), card.reviews, &review)?;
            let reviews = cards::of_card(unit, user, card.id)?;
            let deck = cards::deck(unit, user, card.deck, unit.now)?.unwrap_or(deck);
            let next = cards::next(unit, user, Some(card.deck))?;
            let hints = evidence.of_review(&card, &deck, &reviews, next.as_ref());
            let review = Noted {
                rating: params.rating,
                at,
                predicted: review.predicted.map(thousandths),
                interval: card.due_at.duration_since(at).as_secs(),
            };
            Ok(Reply::new(Output { card: Card::at(at, card), review }, hints))
        })
        .await
    }

    fn records_claim(&self) -> bool {
        true
    }
}

pub(super) fn tool(store: &Store) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "review-card",
        description: "Notes a review of a flash card: how well the user remembered it. Use it after \
                      the user was asked a card and has answered; ask them for the rating if it is not \
                      plain. Returns the card with the time at which it is due again, worked out by \
                      FSRS-6.",
        action: "write",
        effect: Some(Effect {
                question: vec!["note a review of {target}: {/params/rating}".into()],
                ..Effect::new(EffectKind::Update, the_card()).receipts([
                    "Noted a review of {target}: {/data/review/rating}, due again {/data/card/due}.",
                ])
            }),
        examples: vec![
            example(
                "A card that was known",
                &json!({ "cardId": 1, "rating": "good" }),
                json!({
                    "card": card(json!({
                        "back": "el pan (bread)", "state": "learning", "stability": 2.307, "difficulty": 2.118, "retrievability": 1.0,
                        "reviews": 1, "lastReview": "2030-01-07T09:00:00Z", "due": "2030-01-07T09:10:00Z", "version": 3
                    })),
                    "review": { "rating": "good", "at": "2030-01-07T09:00:00Z", "predicted": null, "interval": 600 }
                }),
                &["/card"],
            )
            .varying([("/review/at", Varies::Time)]),
        ],
        ..of_cards()
    }
    .tool(ReviewCard(store.clone()))
}
