//! Reviews: each with what was predicted before it, so that the schedule can be compared with what happened.

use jiff::Timestamp;
use toolroom_contract::ids::{CardId, DeckId, UserId};

use crate::engine::args;
use crate::named::named;
use crate::{StoreError, Unit};

named!(
    /// How well a card was remembered.
    Rating {
        Again = "again",
        Hard = "hard",
        Good = "good",
        Easy = "easy",
    }
);

/// One review of a card.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    pub rating: Rating,
    /// The chance of remembering that was predicted; none for the first review.
    pub predicted: Option<f64>,
    /// Whole days since the review before.
    pub elapsed_days: Option<i64>,
    pub duration_ms: Option<i64>,
    pub at: Timestamp,
}

/// A summary of a user's reviews since some time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recent {
    pub reviews: i64,
    /// On how many different days, UTC.
    pub days: i64,
    /// Those that came a day or more after the one before: only they say something about the prediction.
    pub tested: i64,
    pub recalled: i64,
    /// The mean chance that was predicted for those.
    pub predicted: f64,
}

/// How long recent reviews took.
pub type Spent = Vec<i64>;

/// Notes a review, as the next of its card.
pub fn add(
    unit: &mut Unit<'_>,
    user: UserId,
    card: (CardId, DeckId),
    number: i64,
    review: &Review,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO card_reviews (card_id, number, user_id, deck_id, rating, predicted, elapsed_days,
                                         duration_ms, at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let args = args![
        card.0,
        number,
        user,
        card.1,
        review.rating,
        review.predicted,
        review.elapsed_days,
        review.duration_ms,
        review.at,
    ];
    unit.execute(sql, args).map(drop)
}

/// The reviews of a card, oldest first.
pub fn of_card(unit: &mut Unit<'_>, user: UserId, card: CardId) -> Result<Vec<Review>, StoreError> {
    let sql = "SELECT rating, predicted, elapsed_days, duration_ms, at FROM card_reviews
               WHERE card_id = $1 AND user_id = $2 ORDER BY number";
    let mut rows = unit.query(sql, args![card, user])?;
    rows.iter_mut()
        .map(|row| {
            Ok(Review {
                rating: row.take(0)?,
                predicted: row.take(1)?,
                elapsed_days: row.take(2)?,
                duration_ms: row.take(3)?,
                at: row.take(4)?,
            })
        })
        .collect()
}

/// A summary of a user's reviews since that time.
pub fn recent(unit: &mut Unit<'_>, user: UserId, since: Timestamp) -> Result<Recent, StoreError> {
    let sql = "SELECT count(*), count(DISTINCT at / 86400000000),
                      count(CASE WHEN elapsed_days >= 1 THEN 1 END),
                      count(CASE WHEN elapsed_days >= 1 AND rating <> 'again' THEN 1 END),
                      avg(CASE WHEN elapsed_days >= 1 THEN predicted END)
               FROM card_reviews WHERE user_id = $1 AND at >= $2";
    let mut row = unit.query_one(sql, args![user, since])?;
    let predicted: Option<f64> = row.take(4)?;
    Ok(Recent {
        reviews: row.take(0)?,
        days: row.take(1)?,
        tested: row.take(2)?,
        recalled: row.take(3)?,
        predicted: predicted.unwrap_or_default(),
    })
}

/// How long the last timed reviews of a user took, newest first.
pub fn durations(unit: &mut Unit<'_>, user: UserId, most: u32) -> Result<Spent, StoreError> {
    let sql = "SELECT duration_ms FROM card_reviews WHERE user_id = $1 AND duration_ms IS NOT NULL
               ORDER BY at DESC LIMIT $2";
    let mut rows = unit.query(sql, args![user, i64::from(most)])?;
    rows.iter_mut().map(|row| row.take(0)).collect()
}
