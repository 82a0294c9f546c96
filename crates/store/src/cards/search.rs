//! Cards by deck, tag, phase and words, newest first, in pages.

use jiff::Timestamp;
use toolroom_contract::ids::{CardId, DeckId, UserId};

use super::model::{COLUMNS, Card, Phase, card};
use crate::engine::Arg;
use crate::like;
use crate::{StoreError, Unit};

/// Which cards to find.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub deck: Option<DeckId>,
    pub phase: Option<Phase>,
    /// In the front, the back or a tag, ignoring case.
    pub text: Option<String>,
    /// Due at this time or before.
    pub due_by: Option<Timestamp>,
    /// Only cards with a smaller id: where the page before ended.
    pub below: Option<CardId>,
    pub limit: u32,
}

/// A part of what was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub cards: Vec<Card>,
    /// Of all cards that fit, on this page or not.
    pub total: u64,
    /// Where the next page begins, if there is one.
    pub next: Option<CardId>,
}

/// The cards of a user that a query asks for, newest first.
pub fn search(unit: &mut Unit<'_>, user: UserId, query: &Query) -> Result<Page, StoreError> {
    let mut args: Vec<Arg<'_>> = vec![user.into()];
    let mut sql = " FROM cards WHERE user_id = $1".to_owned();
    let mut and = |condition: &str, value: Arg<'static>| {
        args.push(value);
        sql += &format!(" AND {condition}").replace('?', &format!("${}", args.len()));
    };
    if let Some(deck) = query.deck {
        and("deck_id = ?", deck.into());
    }
    if let Some(phase) = query.phase {
        and("phase = ?", phase.into());
    }
    if let Some(due_by) = query.due_by {
        and("due_at <= ?", due_by.into());
    }
    if let Some(text) = &query.text {
        and("search_text LIKE ? ESCAPE '!'", like::contains(text).into());
    }
    let total: i64 = unit.query_one(&format!("SELECT count(*){sql}"), &args)?.take(0)?;
    if let Some(below) = query.below {
        args.push(below.into());
        sql += &format!(" AND id < ${}", args.len());
    }
    // One more than asked for shows whether there is a next page.
    args.push((i64::from(query.limit) + 1).into());
    let sql = format!("SELECT {COLUMNS}{sql} ORDER BY id DESC LIMIT ${}", args.len());
    let mut rows = unit.query(&sql, &args)?;
    let limit = query.limit as usize;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let cards: Vec<Card> = rows.iter_mut().map(card).collect::<Result<_, _>>()?;
    let next = if more { cards.last().map(|card| card.id) } else { None };
    Ok(Page { cards, total: total.unsigned_abs(), next })
}
