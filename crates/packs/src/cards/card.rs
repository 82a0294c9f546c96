//! A card as the tools show it, and as the scheduler sees it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_store::cards as stored;

use super::fsrs::{Memory, Phase};

/// A card, with its place in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Card {
    /// The number that names the card.
    pub card_id: i64,
    /// Its deck.
    pub deck_id: i64,
    /// The question.
    pub front: String,
    /// The answer.
    pub back: String,
    /// Labels.
    pub tags: Vec<String>,
    /// Its phase between new and known.
    pub state: State,
    /// When it is to be asked again.
    pub due: Timestamp,
    /// Days after which it is still known with a chance of 90 %; null while it is new.
    pub stability: Option<f64>,
    /// From 1 (easy) to 10 (hard); null while it is new.
    pub difficulty: Option<f64>,
    /// The chance that it is known now; null while it is new.
    pub retrievability: Option<f64>,
    /// How often it was reviewed.
    pub reviews: i64,
    /// How often it was forgotten after it had been known.
    pub lapses: i64,
    /// When it was last reviewed.
    pub last_review: Option<Timestamp>,
    /// 1 at first, one more with every change.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// The phase of a card between new and known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum State {
    New,
    Learning,
    Review,
    Relearning,
}

impl From<stored::Phase> for State {
    fn from(phase: stored::Phase) -> Self {
        match phase {
            stored::Phase::New => Self::New,
            stored::Phase::Learning => Self::Learning,
            stored::Phase::Review => Self::Review,
            stored::Phase::Relearning => Self::Relearning,
        }
    }
}

impl From<State> for stored::Phase {
    fn from(state: State) -> Self {
        match state {
            State::New => Self::New,
            State::Learning => Self::Learning,
            State::Review => Self::Review,
            State::Relearning => Self::Relearning,
        }
    }
}

impl Card {
    /// The card as it is at that time.
    pub(super) fn at(now: Timestamp, card: stored::Card) -> Self {
        let memory = memory(&card);
        Self {
            card_id: card.id.0,
            deck_id: card.deck.0,
            front: card.front,
            back: card.back,
            tags: card.tags,
            state: card.memory.map_or(stored::Phase::New, |memory| memory.phase).into(),
            due: card.due_at,
            stability: memory.map(|memory| thousandths(memory.stability)),
            difficulty: memory.map(|memory| thousandths(memory.difficulty)),
            retrievability: memory.map(|memory| thousandths(memory.retrievability(now))),
            reviews: card.reviews,
            lapses: card.lapses,
            last_review: card.memory.map(|memory| memory.reviewed_at),
            version: card.version,
            created_at: card.created_at,
            updated_at: card.updated_at,
        }
    }
}

/// What the scheduler knows of a stored card; none while it is new.
pub(super) fn memory(card: &stored::Card) -> Option<Memory> {
    let memory = card.memory?;
    let step = u8::try_from(memory.step).unwrap_or(u8::MAX);
    let phase = match memory.phase {
        stored::Phase::New => return None,
        stored::Phase::Learning => Phase::Learning(step),
        stored::Phase::Review => Phase::Review,
        stored::Phase::Relearning => Phase::Relearning(step),
    };
    let stored::Memory { stability, difficulty, reviewed_at, .. } = memory;
    Some(Memory { stability, difficulty, phase, reviewed_at })
}

/// What is stored of it.
pub(super) fn stored_memory(memory: Memory) -> stored::Memory {
    let (phase, step) = match memory.phase {
        Phase::Learning(step) => (stored::Phase::Learning, step),
        Phase::Review => (stored::Phase::Review, 0),
        Phase::Relearning(step) => (stored::Phase::Relearning, step),
    };
    let Memory { stability, difficulty, reviewed_at, .. } = memory;
    stored::Memory { phase, step: i64::from(step), stability, difficulty, reviewed_at }
}

/// Enough digits to read, few enough to be cheap.
pub(super) fn thousandths(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
