//! `search-cards`: cards by words, deck, state and whether they are due.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_contract::effect::Shows;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::{CardId, DeckId};
use toolroom_contract::{
    Effect, Handler, HintsDraft, Priority, SuggestedAction, ToolContext, ToolDefinition, ToolError,
};
use toolroom_store::Store;
use toolroom_store::cards::{self, Page, Query};

use super::card::{Card, State};
use super::change::Author;
use super::contract::{Contract, card, cards_at, example, next, of_cards};
use crate::deserialize::{present, some_whole};
use crate::text::no_controls;

struct SearchCards(Store);

const USUAL_LIMIT: i64 = 20;
const MOST: i64 = 100;

#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[schemars(default)]
struct Params {
    /// Text in the question, the answer or a label, ignoring case.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 255))]
    query: Option<String>,
    /// Only cards of this deck.
    #[serde(deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 9_007_199_254_740_991_i64))]
    deck_id: Option<i64>,
    /// Only cards in this state.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "State")]
    state: Option<State>,
    /// Only cards that are due now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    due: bool,
    /// At most this many cards (20 if not given).
    #[serde(deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 100))]
    limit: Option<i64>,
    /// Where to continue: nextCursor of the page before.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 20))]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// The cards of this page, newest first.
    cards: Vec<Card>,
    /// How many cards fit, on this page or not.
    total: u64,
    /// Where the next page begins; null on the last.
    next_cursor: Option<String>,
}

fn read_cursor(text: &str) -> Result<CardId, ToolError> {
    toolroom_work::step(text.len());
    text.parse().map(CardId).map_err(|_| ToolError::invalid("/cursor", "must be a nextCursor of this tool"))
}

impl Params {
    fn query(&self) -> Result<Query, ToolError> {
        let limit = self.limit.unwrap_or(USUAL_LIMIT);
        let limit = u32::try_from(limit).ok().filter(|_| (1..=MOST).contains(&limit));
        let below = self.cursor.as_deref().map(read_cursor).transpose()?;
        no_controls("/query", self.query.as_deref().unwrap_or_default())?;
        Ok(Query {
            deck: self.deck_id.map(DeckId),
            phase: self.state.map(Into::into),
            text: self.query.as_deref().map(str::trim).map(str::to_owned),
            due_by: None,
            below,
            limit: limit.ok_or_else(|| ToolError::invalid("/limit", format!("must be from 1 to {MOST}")))?,
        })
    }

    /// The call for the page behind this one.
    fn next_page(&self, cursor: &str) -> Option<SuggestedAction> {
        let next = Self { cursor: Some(cursor.to_owned()), ..self.clone() };
        let Ok(Value::Object(params)) = serde_json::to_value(next) else { return None };
        let mut action =
            SuggestedAction::new("search-cards", Priority::Medium).described("Read the next page.");
        action.data = Some(params);
        Some(action)
    }
}

impl NativeTool for SearchCards {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let user = Author::of(context).user;
        let (mut query, only_due) = (params.query()?, params.due);
        let read = self.0.read_much(move |unit| -> Result<_, ToolError> {
            query.due_by = only_due.then_some(unit.now);
            Ok((cards::search(unit, user, &query)?, unit.now))
        });
        let (Page { cards, total, next }, now) = read.await?;
        let next_cursor = next.map(|id| id.to_string());
        let whole = usize::try_from(total).unwrap_or(usize::MAX);
        let mut hints = HintsDraft::default().complete(cards.len(), whole);
        hints.next.extend(next_cursor.as_deref().and_then(|cursor| params.next_page(cursor)));
        let cards = cards.into_iter().map(|card| Card::at(now, card)).collect();
        Ok(Reply::new(Output { cards, total, next_cursor }, hints))
    }

    fn trimmed(&self) -> &'static [&'static str] {
        &["query"]
    }
}

pub(super) fn tool(store: &Store) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "search-cards",
        description: "Finds flash cards by words, deck, state or whether they are due, newest first. \
                      Use it to look something up, to find the cardId of a card, or to see what is \
                      left to learn. Returns a page of cards, how many there are in all, and \
                      nextCursor for the next page.",
        action: "read",
        uncached: true,
        effect: Some(Effect::shows(Shows::Matches, cards_at(["/data/cards/*/cardId"]))),
        examples: vec![example(
            "The cards with a word",
            &json!({ "query": "bread" }),
            json!({ "cards": [card(json!({}))], "total": 1, "nextCursor": null }),
            &["/cards/0"],
        )],
        next_actions: vec![next("get-card", "Read the newest of them.", "cardId", "/data/cards/0/cardId")],
        ..of_cards()
    }
    .tool(SearchCards(store.clone()))
}

#[cfg(test)]
mod tests {
    use super::read_cursor;

    #[test]
    fn promise_any_cursor_takes_work_that_grows_with_its_length_alone_or_is_refused() {
        let target = toolroom_work::fuzz::Target {
            name: "cursors of card lists",
            words: &["7", "-", "+", "0", "99999999999999999999", "x", " ", ":"],
            sample: 2_000,
            longest: 5_000,
            fixed: 10,
            per_byte: 2,
        };
        target.run(|text| {
            let is_number = text.parse::<i64>().is_ok();
            assert_eq!(read_cursor(text).is_ok(), is_number, "{text}");
        });
    }
}
