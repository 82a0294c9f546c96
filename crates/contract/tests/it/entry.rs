//! Entries of tools.json: the short form, the full form, and what is filled in.

use serde_json::{Value, json};
use toolroom_contract::check::{self, Outcome, Stage};
use toolroom_contract::entry::ToolEntry;
use toolroom_contract::{Category, ToolDefinition};

fn entry(value: Value) -> ToolEntry {
    serde_json::from_value(value).unwrap()
}

#[test]
fn what_a_short_entry_leaves_out_is_filled_in_on_the_safe_side_and_named() {
    let tool = entry(json!({
        "name": "hello_world", "description": "Says hello.", "type": "local",
        "input_schema": { "type": "object" }, "config": { "script_path": "hello.py" },
    }))
    .definition();
    assert_eq!(tool.category, Category::Mutation);
    assert!(!tool.cacheable && !tool.idempotent && !tool.destructive);
    assert_eq!(tool.permissions[0].as_str(), "hello_world:call");
    assert_eq!(tool.version.to_string(), "0.1.0");
    assert_eq!(tool.derived, ["permissions", "category", "responseTime", "cacheable", "idempotent", "tags"]);
    let findings = check::check(&tool, Stage::Loaded);
    assert!(check::passes(&findings), "{findings:?}");
    assert_eq!(findings.iter().filter(|finding| finding.outcome == Outcome::Derived).count(), 6);
}

#[test]
fn permissions_are_empty_only_if_the_entry_says_so() {
    let tool = entry(json!({ "name": "x", "description": "d", "permissions": [] })).definition();
    assert_eq!(tool.permissions, []);
}

#[test]
fn a_full_definition_is_an_entry_too_and_stays_what_it_is() {
    let full = ToolDefinition {
        parameters: json!({ "type": "object" }),
        output: Some(json!({ "type": "object" })),
        tags: vec!["t".into()],
        timeout: Some(2.5),
        parallel: Some(true),
        ..ToolDefinition::query("get-thing", "Reads a thing.")
    };
    let read = entry(serde_json::to_value(&full).unwrap());
    assert_eq!(read.definition(), full);
}

#[test]
fn a_misspelt_field_is_refused_instead_of_ignored() {
    let typo = json!({ "name": "x", "description": "d", "paralel_capable": true });
    let error = serde_json::from_value::<ToolEntry>(typo).unwrap_err().to_string();
    assert!(error.contains("paralel_capable"), "{error}");
    let typo = json!({ "name": "x", "description": "d", "config": { "script": "x.py" } });
    assert!(serde_json::from_value::<ToolEntry>(typo).is_err());
}
