//! `adjust-difficulty`: sets how hard a card is, or fits that to how it was remembered.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::CardId;
use toolroom_contract::{
    Effect, EffectKind, ErrorCode, Handler, HintsDraft, Priority, SuggestedAction, ToolContext,
    ToolDefinition, ToolError,
};
use toolroom_store::cards::{self, Changed, Review};
use toolroom_store::{Store, Unit};

use super::card::{Card, thousandths};
use super::change::{Author, change};
use super::contract::{Contract, card, example, next, of_cards, the_card};
use super::evidence::{ENOUGH_REVIEWS, tested};
use super::fsrs::{EASIEST, HARDEST};
use super::refusal;
use crate::deserialize::{present, some_whole, whole};

struct AdjustDifficulty(Store);

/// How far one fit may move the difficulty.
const LARGEST_STEP: f64 = 2.0;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Which card.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    card_id: i64,
    /// From 1 (easy) to 10 (hard). If not given, it is worked out from the reviews of the card.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 1.0, max = 10.0))]
    difficulty: Option<f64>,
    /// Change it only if the card still has this version.
    #[serde(default, deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 9_007_199_254_740_991_i64))]
    expected_version: Option<i64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// The card as it is now; when it is due has not changed.
    card: Card,
    /// What the difficulty was before.
    previous_difficulty: f64,
}

impl NativeTool for AdjustDifficulty {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let (id, expected) = (CardId(params.card_id), params.expected_version);
        let wanted = params.difficulty;
        if wanted.is_some_and(|wanted| !(EASIEST..=HARDEST).contains(&wanted)) {
            return Err(ToolError::invalid("/difficulty", "must be from 1 to 10"));
        }
        change(&self.0, context, move |unit: &mut Unit<'_>, author: &Author| {
            let card = cards::get(unit, author.user, id)?.ok_or_else(refusal::no_card)?;
            let Some(memory) = card.memory else { return Err(too_early(id, 0)) };
            let reviews = cards::of_card(unit, author.user, id)?;
            let target = match wanted {
                Some(wanted) => wanted,
                None => fitted(memory.difficulty, &reviews)
                    .ok_or_else(|| too_early(id, tested(&reviews).count()))?,
            };
            let changed = cards::change(unit, author.user, id, expected, |card| {
                let memory = card.memory.as_mut()?;
                let before = memory.difficulty;
                memory.difficulty = target;
                (target != before).then_some(before)
            })?;
            let (card, before) = match changed {
                Changed::Applied { card, done } => (card, done),
                Changed::NoChange(card) => (card, target),
                Changed::NotFound => return Err(refusal::no_card()),
                Changed::Conflict { current } => return Err(refusal::version_conflict(&current, expected)),
            };
            let hints = HintsDraft::default().because(reason(wanted, &reviews));
            let data = Output { card: Card::at(unit.now, card), previous_difficulty: thousandths(before) };
            Ok(Reply::new(data, hints))
        })
        .await
    }

    fn records_claim(&self) -> bool {
        true
    }
}

/// Harder if the card was remembered less often than predicted, easier if more often; none without enough reviews.
fn fitted(difficulty: f64, reviews: &[Review]) -> Option<f64> {
    let tests: Vec<(f64, bool)> = tested(reviews).collect();
    if tests.len() < ENOUGH_REVIEWS {
        return None;
    }
    let surplus: f64 = tests.iter().map(|(predicted, known)| predicted - f64::from(u8::from(*known))).sum();
    let step = (surplus / tests.len() as f64 * HARDEST).clamp(-LARGEST_STEP, LARGEST_STEP);
    Some((difficulty + step).clamp(EASIEST, HARDEST))
}

fn reason(wanted: Option<f64>, reviews: &[Review]) -> String {
    match wanted {
        Some(_) => "Set as asked; the next review works with it.".into(),
        None => format!("Fitted to {} reviews a day or more apart.", tested(reviews).count()),
    }
}

fn too_early(id: CardId, tested: usize) -> ToolError {
    let message = format!(
        "The card has {tested} reviews a day or more apart, and {ENOUGH_REVIEWS} are needed to fit its difficulty. Review \
         it first."
    );
    let review = SuggestedAction::new("get-card", Priority::Medium)
        .with("cardId", id.0)
        .described("See when it is due.");
    ToolError::new(ErrorCode::NoChanges, message).with_next(review)
}

pub(super) fn tool(store: &Store) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "adjust-difficulty",
        description: "Sets how hard a flash card is, from 1 to 10, or fits it to how the card was \
                      remembered so far. Use it when a card comes too often or too seldom for how well \
                      the user knows it. Returns the card and the difficulty that it had before; when \
                      it is due does not change.",
        action: "write",
        idempotent: true,
        effect: Some(Effect {
            question: vec![
                "set the difficulty of {target} to {/params/difficulty}".into(),
                "fit the difficulty of {target} to its reviews".into(),
            ],
            ..Effect::new(EffectKind::Update, the_card())
                .receipts(["Changed {target}: difficulty {/data/card/difficulty}."])
        }),
        examples: vec![
            example(
                "A card that is harder than it seemed",
                &json!({ "cardId": 1, "difficulty": 7.5 }),
                json!({
                    "card": card(json!({
                        "back": "el pan (bread)", "state": "learning", "stability": 2.307, "difficulty": 7.5, "retrievability": 1.0,
                        "reviews": 1, "lastReview": "2030-01-07T09:00:00Z", "due": "2030-01-07T09:10:00Z", "version": 4
                    })),
                    "previousDifficulty": 2.118
                }),
                &["/card"],
            ),
        ],
        next_actions: vec![next("get-card", "Read the card as it is now.", "cardId", "/data/card/cardId")],
        ..of_cards()
    }
    .tool(AdjustDifficulty(store.clone()))
}
