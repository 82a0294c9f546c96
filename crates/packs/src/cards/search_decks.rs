//! `search-decks`: decks by their name, small slips allowed.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::definition::Varies;
use toolroom_contract::effect::Shows;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::{Effect, Handler, HintsDraft, ToolContext, ToolDefinition, ToolError};
use toolroom_store::{Store, cards};

use super::change::Author;
use super::contract::{Contract, deck, decks_at, example, next, of_cards};
use super::deck::Deck;
use super::text;
use crate::fuzzy::{self, Prepared, Query};

struct SearchDecks(Store);

/// Below this, two names have nothing to do with each other.
const LEAST_SCORE: f64 = 0.6;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// Words of the deck's name.
    #[schemars(length(min = 1, max = 100))]
    query: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The decks that fit, best first.
    decks: Vec<Found>,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    /// How well the name fits, 0 to 1.
    score: f64,
    /// The deck.
    deck: Deck,
}

impl NativeTool for SearchDecks {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let query = text::name(&params.query).map_err(|_| {
            ToolError::invalid("/query", "must have 1 to 100 characters, none of them control characters")
        })?;
        let query = Query::new(&query);
        let user = Author::of(context).user;
        let decks =
            self.0.read(move |unit| cards::decks(unit, user, unit.now).map_err(ToolError::from)).await?;
        let scored = decks
            .into_iter()
            .map(|deck| Found { score: fuzzy::score(&query, &Prepared::new(&deck.name)), deck: deck.into() });
        let mut decks: Vec<Found> = scored.filter(|found| found.score >= LEAST_SCORE).collect();
        decks.sort_by(|one, other| other.score.total_cmp(&one.score));
        let hints = HintsDraft::default().matched(decks.first().map_or(0.0, |best| best.score));
        Ok(Reply::new(Output { decks }, hints))
    }

    fn trimmed(&self) -> &'static [&'static str] {
        &["query"]
    }
}

pub(super) fn tool(store: &Store) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "search-decks",
        description: "Finds decks of flash cards by words of their name; small typing errors do no \
                      harm. Use it when the user names a deck and you need its deckId. Returns the \
                      decks that fit, best first, each with a score.",
        action: "read",
        effect: Some(Effect::shows(Shows::Matches, decks_at(["/data/decks/*/deck/deckId"]))),
        examples: vec![
            example(
                "A name with a slip",
                &json!({ "query": "spansh" }),
                json!({ "decks": [{ "score": 0.86, "deck": deck(json!({})) }] }),
                &["/decks/0/deck"],
            )
            .varying([("/decks/0/score", Varies::Number)]),
        ],
        next_actions: vec![next(
            "review-next-card",
            "Review what is due in the best one.",
            "deckId",
            "/data/decks/0/deck/deckId",
        )],
        ..of_cards()
    }
    .tool(SearchDecks(store.clone()))
}
