//! The contracts: complete by the checklist, and true, because their examples run.

use serde_json::{Value, json};
use toolroom_contract::check::{Stage, check, passes};
use toolroom_contract::{Category, CheckOutcome};

use crate::test_tools::{TestTools, on_both};

const ORDER: [&str; 9] = [
    "create-task",
    "list-tasks",
    "get-task",
    "update-task",
    "complete-task",
    "find-tasks",
    "batch-tasks",
    "delete-task",
    "restore-task",
];

#[tokio::test(flavor = "multi_thread")]
async fn every_definition_passes_the_checklist_of_native_tools() {
    on_both(|tools| async move {
        for name in ORDER {
            let findings = check(&tools.tools[name].definition, Stage::Native);
            let bad: Vec<_> = findings.iter().filter(|f| f.outcome >= CheckOutcome::Derived).collect();
            assert!(passes(&findings) && bad.is_empty(), "{name}: {bad:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_are_cacheable_queries_and_only_delete_is_destructive() {
    on_both(|tools| async move {
        for name in ORDER {
            let definition = &tools.tools[name].definition;
            let (category, permission) = match name {
                "list-tasks" | "get-task" | "find-tasks" => (Category::Query, "tasks:read"),
                "delete-task" => (Category::Mutation, "tasks:delete"),
                _ => (Category::Mutation, "tasks:write"),
            };
            assert_eq!(definition.category, category, "{name}");
            assert_eq!(definition.permissions.iter().map(|p| p.as_str()).collect::<Vec<_>>(), [permission]);
            assert_eq!(definition.cacheable, category == Category::Query, "{name}");
            assert_eq!(definition.destructive, name == "delete-task", "{name}");
            assert_eq!(tools.tools[name].handler.records_claim(), category == Category::Mutation, "{name}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_gives_its_expected_result_in_a_fresh_home() {
    on_both(|tools| async move {
        examples_hold(&tools, &ORDER).await;
    })
    .await;
}

/// Calls every example in this order, and compares its answer with what it is said to be.
pub async fn examples_hold(tools: &TestTools, order: &[&str]) {
    for name in order {
        let tool = &tools.tools[*name];
        for example in &tool.definition.examples {
            let mut data = tools.call(name, Value::Object(example.params.clone())).await;
            for (pointer, varies) in &example.varies {
                let found = data.pointer_mut(pointer).unwrap_or_else(|| panic!("{name}: no {pointer}"));
                assert!(varies.accepts(found), "{name}: {pointer} is {found}");
                *found = example.expected_result.pointer(pointer).unwrap().clone();
            }
            assert_eq!(data, example.expected_result, "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn schemas_show_what_null_clears_and_refuse_it_elsewhere() {
    on_both(|tools| async move {
        let schema = &tools.tools["update-task"].definition.parameters;
        for (field, shown) in [
            ("description", json!(["string", "null"])),
            ("due", json!(["string", "null"])),
            ("tags", json!(["array", "null"])),
            ("title", json!("string")),
            ("expectedVersion", json!("integer")),
        ] {
            assert_eq!(schema["properties"][field]["type"], shown, "{field}");
        }
        assert_eq!(schema["required"], json!(["taskId"]));
        assert!(!schema.to_string().contains("$ref"), "{schema}");
        let id = tools.create("x").await;
        for field in ["title", "priority", "status", "addTags", "expectedVersion"] {
            let error = tools.refused("update-task", json!({ "taskId": id, field: null })).await;
            assert_eq!(error.details[0].pointer, format!("/{field}"));
        }
    })
    .await;
}
