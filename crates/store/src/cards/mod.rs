//! Decks and cards for spaced repetition, and their reviews, each visible only to its owner.

mod decks;
mod model;
mod reviews;
mod search;

use toolroom_contract::ids::{CardId, DeckId, UserId};

use crate::engine::args;
use crate::{StoreError, Unit};
pub use decks::{Deck, NewDeck, all as decks, get as deck, insert as insert_deck};
use model::{COLUMNS, card, search_text};
pub use model::{Card, Changed, Memory, NewCard, Patch, Phase};
pub use reviews::{Rating, Recent, Review, Spent, add as add_review, durations, of_card, recent};
pub use search::{Page, Query, search};

/// Makes a card that is due at once. The deck is the same user's.
pub fn insert(unit: &mut Unit<'_>, user: UserId, new: &NewCard) -> Result<Card, StoreError> {
    let sql =
        "INSERT INTO cards (user_id, deck_id, front, back, tags, search_text, phase, step, due_at, reviews,
                                  lapses, version, created_at, updated_at)
               VALUES ($1, $2, $3, $4, $5, $6, 'new', 0, $7, 0, 0, 1, $7, $7)";
    let tags = serde_json::Value::from(new.tags.as_slice());
    let text = search_text(&new.front, &new.back, &new.tags);
    let args = args![user, new.deck, &new.front, &new.back, tags, text, unit.now];
    let id = CardId(unit.insert(sql, args)?);
    Ok(Card {
        id,
        deck: new.deck,
        front: new.front.clone(),
        back: new.back.clone(),
        tags: new.tags.clone(),
        memory: None,
        due_at: unit.now,
        reviews: 0,
        lapses: 0,
        version: 1,
        created_at: unit.now,
        updated_at: unit.now,
    })
}

/// The card of this user with this id.
pub fn get(unit: &mut Unit<'_>, user: UserId, id: CardId) -> Result<Option<Card>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM cards WHERE id = $1 AND user_id = $2");
    unit.query_first(&sql, args![id, user])?.as_mut().map(card).transpose()
}

/// Changes a card by what the closure makes of it. With an expected version, only that version is changed.
pub fn change<T>(
    unit: &mut Unit<'_>,
    user: UserId,
    id: CardId,
    expected_version: Option<i64>,
    mut edit: impl FnMut(&mut Card) -> Option<T>,
) -> Result<Changed<T>, StoreError> {
    loop {
        let Some(current) = get(unit, user, id)? else { return Ok(Changed::NotFound) };
        if expected_version.is_some_and(|expected| expected != current.version) {
            return Ok(Changed::Conflict { current });
        }
        let mut next = current.clone();
        let Some(done) = edit(&mut next) else { return Ok(Changed::NoChange(current)) };
        next.version += 1;
        next.updated_at = unit.now;
        // Another transaction may have changed the card since it was read; then look again.
        if write(unit, &next, current.version)? {
            return Ok(Changed::Applied { card: next, done });
        }
    }
}

/// Removes a card with its reviews, for good.
pub fn delete(
    unit: &mut Unit<'_>,
    user: UserId,
    id: CardId,
    expected_version: Option<i64>,
) -> Result<Changed<()>, StoreError> {
    let Some(current) = get(unit, user, id)? else { return Ok(Changed::NotFound) };
    if expected_version.is_some_and(|expected| expected != current.version) {
        return Ok(Changed::Conflict { current });
    }
    match unit.execute("DELETE FROM cards WHERE id = $1 AND version = $2", args![id, current.version])? {
        1 => Ok(Changed::Applied { card: current, done: () }),
        _ => Ok(Changed::Conflict { current }),
    }
}

/// The card that has been due the longest, of one deck or of all.
pub fn next(unit: &mut Unit<'_>, user: UserId, deck: Option<DeckId>) -> Result<Option<Card>, StoreError> {
    let row = match deck {
        Some(deck) => {
            let sql = format!(
                "SELECT {COLUMNS} FROM cards WHERE user_id = $1 AND deck_id = $2 ORDER BY due_at, id LIMIT 1"
            );
            unit.query_first(&sql, args![user, deck])?
        }
        None => {
            let sql = format!("SELECT {COLUMNS} FROM cards WHERE user_id = $1 ORDER BY due_at, id LIMIT 1");
            unit.query_first(&sql, args![user])?
        }
    };
    row.map(|mut row| card(&mut row)).transpose()
}

fn write(unit: &mut Unit<'_>, card: &Card, read_version: i64) -> Result<bool, StoreError> {
    let sql = "UPDATE cards SET deck_id = $3, front = $4, back = $5, tags = $6, search_text = $7, phase = $8, step = $9,
                                stability = $10, difficulty = $11, reviewed_at = $12, due_at = $13, reviews = $14,
                                lapses = $15, version = $16, updated_at = $17
               WHERE id = $1 AND version = $2";
    let memory = card.memory;
    let changed = unit.execute(
        sql,
        args![
            card.id,
            read_version,
            card.deck,
            &card.front,
            &card.back,
            serde_json::Value::from(card.tags.as_slice()),
            search_text(&card.front, &card.back, &card.tags),
            memory.map_or(Phase::New, |memory| memory.phase),
            memory.map_or(0, |memory| memory.step),
            memory.map(|memory| memory.stability),
            memory.map(|memory| memory.difficulty),
            memory.map(|memory| memory.reviewed_at),
            card.due_at,
            card.reviews,
            card.lapses,
            card.version,
            card.updated_at,
        ],
    )?;
    Ok(changed == 1)
}
