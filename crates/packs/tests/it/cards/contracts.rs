//! The contracts of the card tools: complete by the checklist.

use toolroom_contract::check::{Stage, check, passes};
use toolroom_contract::{Category, CheckOutcome};

use crate::contracts::examples_hold;
use crate::test_tools::on_both;

const ORDER: [&str; 11] = [
    "create-deck",
    "list-decks",
    "search-decks",
    "create-card",
    "get-card",
    "search-cards",
    "update-card",
    "review-next-card",
    "review-card",
    "adjust-difficulty",
    "delete-card",
];

#[tokio::test(flavor = "multi_thread")]
async fn every_card_tool_passes_the_checklist_and_only_delete_is_destructive() {
    on_both(|tools| async move {
        for name in ORDER {
            let tool = &tools.tools[name];
            let definition = &tool.definition;
            let findings = check(definition, Stage::Native);
            let bad: Vec<_> = findings.iter().filter(|f| f.outcome >= CheckOutcome::Derived).collect();
            assert!(passes(&findings) && bad.is_empty(), "{name}: {bad:?}");
            let is_mutation = definition.category == Category::Mutation;
            assert_eq!(definition.destructive, name == "delete-card", "{name}");
            assert_eq!(tool.handler.records_claim(), is_mutation, "{name}");
            assert!(!(is_mutation && definition.cacheable), "{name}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_of_a_card_tool_gives_its_answer_in_a_fresh_home() {
    on_both(|tools| async move { examples_hold(&tools, &ORDER).await }).await;
}
