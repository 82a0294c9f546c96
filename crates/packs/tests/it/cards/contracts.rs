//! The contracts of the card tools: complete by the checklist.

use toolroom_contract::check::{Stage, check, passes};
use toolroom_contract::{Category, CheckOutcome};

use crate::support::on_both;

#[tokio::test(flavor = "multi_thread")]
async fn every_card_tool_passes_the_checklist_and_only_delete_is_destructive() {
    on_both(|room| async move {
        let mut seen = 0;
        for (name, tool) in
            room.tools.iter().filter(|(name, _)| name.contains("card") || name.contains("deck"))
        {
            let definition = &tool.definition;
            let findings = check(definition, Stage::Native);
            let bad: Vec<_> = findings.iter().filter(|f| f.outcome >= CheckOutcome::Derived).collect();
            assert!(passes(&findings) && bad.is_empty(), "{name}: {bad:?}");
            let is_mutation = definition.category == Category::Mutation;
            assert_eq!(definition.destructive, name == "delete-card", "{name}");
            assert_eq!(tool.handler.records_claim(), is_mutation, "{name}");
            assert!(!(is_mutation && definition.cacheable), "{name}");
            seen += 1;
        }
        assert_eq!(seen, 10, "adjust-difficulty names neither");
    })
    .await;
}
