//! What a card is, and what can be asked of it.

use jiff::Timestamp;
use toolroom_contract::ids::{CardId, DeckId};

use crate::StoreError;
use crate::engine::Row;
use crate::named::named;

pub(super) const COLUMNS: &str = "id, deck_id, front, back, tags, phase, step, stability, difficulty, reviewed_at, \
                                  due_at, reviews, lapses, version, created_at, updated_at";

/// A card of one user.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub id: CardId,
    pub deck: DeckId,
    pub front: String,
    pub back: String,
    pub tags: Vec<String>,
    /// None while the card was never reviewed.
    pub memory: Option<Memory>,
    pub due_at: Timestamp,
    pub reviews: i64,
    /// How often it was forgotten after it had been known.
    pub lapses: i64,
    /// 1 at first, one more with every change.
    pub version: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A card's place in memory after its last review; the scheduler knows what the numbers mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    pub phase: Phase,
    pub step: i64,
    pub stability: f64,
    pub difficulty: f64,
    pub reviewed_at: Timestamp,
}

named!(
    /// The phase of a card between new and known.
    Phase {
        New = "new",
        Learning = "learning",
        Review = "review",
        Relearning = "relearning",
    }
);

/// A card to create. Texts are already trimmed and checked for their length.
#[derive(Clone, Debug)]
pub struct NewCard {
    pub deck: DeckId,
    pub front: String,
    pub back: String,
    pub tags: Vec<String>,
}

/// What to change; `None` leaves a field.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    pub deck: Option<DeckId>,
    pub front: Option<String>,
    pub back: Option<String>,
    pub tags: Option<Vec<String>>,
}

impl Patch {
    /// Puts the new values in place and returns the names of the fields that differ.
    pub fn apply(&self, card: &mut Card) -> Option<Vec<&'static str>> {
        let mut fields = Vec::new();
        assign(&mut card.deck, self.deck.as_ref(), "deckId", &mut fields);
        assign(&mut card.front, self.front.as_ref(), "front", &mut fields);
        assign(&mut card.back, self.back.as_ref(), "back", &mut fields);
        assign(&mut card.tags, self.tags.as_ref(), "tags", &mut fields);
        (!fields.is_empty()).then_some(fields)
    }
}

fn assign<T: PartialEq + Clone>(
    slot: &mut T,
    new: Option<&T>,
    name: &'static str,
    fields: &mut Vec<&'static str>,
) {
    if let Some(new) = new.filter(|new| *new != slot) {
        *slot = new.clone();
        fields.push(name);
    }
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Changed<T> {
    /// The card as it is now (or was when it was deleted).
    Applied { card: Card, done: T },
    /// Everything was so already; the version stays.
    NoChange(Card),
    /// No card of this id, or somebody else's.
    NotFound,
    /// The card has another version than was expected; nothing was changed.
    Conflict { current: Card },
}

pub(super) fn card(row: &mut Row) -> Result<Card, StoreError> {
    let tags: String = row.take(4)?;
    let tags = serde_json::from_str(&tags)
        .map_err(|_| StoreError::Decode { column: 4, expected: "a list of texts" })?;
    let phase: Phase = row.take(5)?;
    let memory = match phase {
        Phase::New => None,
        phase => Some(Memory {
            phase,
            step: row.take(6)?,
            stability: row.take(7)?,
            difficulty: row.take(8)?,
            reviewed_at: row.take(9)?,
        }),
    };
    Ok(Card {
        id: row.take(0)?,
        deck: row.take(1)?,
        front: row.take(2)?,
        back: row.take(3)?,
        tags,
        memory,
        due_at: row.take(10)?,
        reviews: row.take(11)?,
        lapses: row.take(12)?,
        version: row.take(13)?,
        created_at: row.take(14)?,
        updated_at: row.take(15)?,
    })
}

pub(super) fn search_text(front: &str, back: &str, tags: &[String]) -> String {
    let mut text = format!("{front}\n{back}").to_lowercase();
    for tag in tags {
        text.push('\n');
        text.push_str(&tag.to_lowercase());
    }
    text
}
