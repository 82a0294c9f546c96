//! Decks of cards, and how many cards are due.

use jiff::Timestamp;
use toolroom_contract::ids::{DeckId, UserId};

use crate::engine::{Row, args};
use crate::{StoreError, Unit};

/// A deck with its cards counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Deck {
    pub id: DeckId,
    pub name: String,
    pub description: Option<String>,
    /// The chance of remembering that the schedule aims at.
    pub retention: f64,
    pub created_at: Timestamp,
    pub cards: i64,
    /// How many of them are due now.
    pub due: i64,
    /// How many were never reviewed.
    pub new: i64,
}

/// A deck to create. Texts are already trimmed and checked for their length.
#[derive(Clone, Debug)]
pub struct NewDeck {
    pub name: String,
    pub description: Option<String>,
    pub retention: f64,
}

const SELECT: &str = "SELECT d.id, d.name, d.description, d.retention, d.created_at, count(c.id),
                             count(CASE WHEN c.due_at <= $2 THEN 1 END), count(CASE WHEN c.phase = 'new' THEN 1 END)
                      FROM decks d LEFT JOIN cards c ON c.deck_id = d.id WHERE d.user_id = $1";

/// Makes a deck; none if the user has one of that name, ignoring case.
pub fn insert(unit: &mut Unit<'_>, user: UserId, new: &NewDeck) -> Result<Option<Deck>, StoreError> {
    let key = new.name.to_lowercase();
    let taken = "SELECT 1 FROM decks WHERE user_id = $1 AND name_key = $2";
    if unit.query_first(taken, args![user, &key])?.is_some() {
        return Ok(None);
    }
    let sql = "INSERT INTO decks (user_id, name, name_key, description, retention, created_at)
               VALUES ($1, $2, $3, $4, $5, $6)";
    let args = args![user, &new.name, key, new.description.as_ref(), new.retention, unit.now];
    let id = DeckId(unit.insert(sql, args)?);
    Ok(Some(Deck {
        id,
        name: new.name.clone(),
        description: new.description.clone(),
        retention: new.retention,
        created_at: unit.now,
        cards: 0,
        due: 0,
        new: 0,
    }))
}

/// The deck of this user with this id, counted at that time.
pub fn get(unit: &mut Unit<'_>, user: UserId, id: DeckId, at: Timestamp) -> Result<Option<Deck>, StoreError> {
    let sql = format!("{SELECT} AND d.id = $3 GROUP BY d.id");
    unit.query_first(&sql, args![user, at, id])?.as_mut().map(deck).transpose()
}

/// All decks of a user, by name, counted at that time.
pub fn all(unit: &mut Unit<'_>, user: UserId, at: Timestamp) -> Result<Vec<Deck>, StoreError> {
    let sql = format!("{SELECT} GROUP BY d.id ORDER BY d.name_key");
    unit.query(&sql, args![user, at])?.iter_mut().map(deck).collect()
}

fn deck(row: &mut Row) -> Result<Deck, StoreError> {
    Ok(Deck {
        id: row.take(0)?,
        name: row.take(1)?,
        description: row.take(2)?,
        retention: row.take(3)?,
        created_at: row.take(4)?,
        cards: row.take(5)?,
        due: row.take(6)?,
        new: row.take(7)?,
    })
}
