//! The card tools: decks of cards to learn, asked again when they are about to be forgotten.
//!
//! One file per tool. `fsrs` says when a card is due again, `evidence` what a user's reviews say about the schedule.

mod adjust_difficulty;
mod card;
mod change;
mod contract;
mod create_card;
mod create_deck;
mod deck;
mod delete_card;
mod evidence;
pub mod fsrs;
mod get_card;
mod list_decks;
mod refusal;
mod review_card;
mod review_next_card;
mod search_cards;
mod search_decks;
mod text;
mod update_card;

use std::sync::Arc;

use toolroom_contract::{Handler, ToolDefinition};
use toolroom_store::Store;

/// Every card tool with its contract, in the order in which their examples can be run.
pub fn tools(store: &Store) -> Vec<(ToolDefinition, Arc<dyn Handler>)> {
    vec![
        create_deck::tool(store),
        list_decks::tool(store),
        search_decks::tool(store),
        create_card::tool(store),
        get_card::tool(store),
        search_cards::tool(store),
        update_card::tool(store),
        review_next_card::tool(store),
        review_card::tool(store),
        adjust_difficulty::tool(store),
        delete_card::tool(store),
    ]
}
