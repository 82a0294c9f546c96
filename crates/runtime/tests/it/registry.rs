//! The registry's methods, and contracts that are refused.

use serde_json::json;
use toolroom_contract::{Category, CheckOutcome};
use toolroom_runtime::catalogue::RegistryError;

use crate::test_runtime::{TestRuntime, data};
use crate::tools::{Tool, mutation, query};

fn today() -> jiff::civil::Date {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date()
}

#[tokio::test]
async fn a_registered_tool_is_found_by_name_category_and_tag() {
    let runtime = TestRuntime::new(vec![query("get-note").build(), mutation("set-note").build()]);
    let registry = &runtime.runtime.registry;
    let changes = registry.changes();
    registry
        .register(query("get-late").is(|tool| tool.tags = vec!["late".into()]).build(), today())
        .await
        .unwrap();
    assert!(changes.has_changed().unwrap());
    assert_eq!(registry.get("get-late").unwrap().name(), "get-late");
    assert!(registry.get("no-such").is_none());
    let names = |tools: Vec<std::sync::Arc<toolroom_runtime::catalogue::Tool>>| -> Vec<String> {
        tools.iter().map(|tool| tool.name().to_owned()).collect()
    };
    assert_eq!(
        names(registry.get_all()),
        ["call-tool", "describe-tool", "get-late", "get-note", "get-status", "search-tools", "set-note"]
    );
    assert_eq!(names(registry.get_by_category(Category::Mutation)), ["call-tool", "set-note"]);
    assert_eq!(names(registry.get_by_tag("late")), ["get-late"]);
    assert!(registry.get_by_tag("nothing").is_empty());
    let who = runtime.owner().await;
    data(&runtime.call(&who, "get-late", json!({})).await);
}

#[tokio::test]
async fn a_name_is_unique_and_never_replaced() {
    let twice = TestRuntime::on(
        tempfile::tempdir().unwrap(),
        |_| vec![query("get-note").build(), query("get-note").build()],
        Vec::new(),
    );
    assert!(matches!(twice.err(), Some(RegistryError::Exists(name)) if name == "get-note"));
    let runtime = TestRuntime::new(vec![query("get-note").build()]);
    for name in ["get-note", "call-tool"] {
        let again = runtime.runtime.registry.register(mutation(name).build(), today()).await;
        assert!(matches!(again.err(), Some(RegistryError::Exists(taken)) if taken == name));
    }
    assert_eq!(runtime.runtime.registry.get("get-note").unwrap().definition().category, Category::Query);
}

#[tokio::test]
async fn an_unsound_native_contract_fails_at_start_naming_the_line_of_the_checklist() {
    type Break = fn(Tool) -> Tool;
    let broken: [(&str, Break); 11] = [
        ("Tool has unique name in kebab-case", |tool| tool.is(|tool| tool.name = "getNote".into())),
        ("Description is clear and complete", |tool| tool.is(|tool| tool.description = "Short.".into())),
        ("All parameters validated", |tool| tool.is(|tool| tool.parameters = json!({ "type": "nothing" }))),
        ("Each parameter is described", |tool| {
            tool.is(|tool| tool.parameters["properties"]["n"]["description"] = json!(null)).is(|tool| {
                drop(tool.parameters["properties"]["n"].as_object_mut().unwrap().remove("description"))
            })
        }),
        ("responseTime specified", |tool| tool.within(0.0)),
        ("cacheTTL set if cacheable", |tool| tool.cached(0)),
        ("destructive flag set correctly", |tool| tool.destructive()),
        ("At least 1 example provided", |tool| tool.is(|tool| tool.examples.clear())),
        ("At least 1 tag provided", |tool| tool.is(|tool| tool.tags.clear())),
        ("Rate limit is usable", |tool| tool.limited(0, 1000)),
        ("Output schema is usable", |tool| tool.is(|tool| tool.output = None)),
    ];
    for (line, break_it) in broken {
        let started = TestRuntime::on(
            tempfile::tempdir().unwrap(),
            |_| vec![break_it(query("get-note")).build()],
            Vec::new(),
        );
        let message = started.err().unwrap_or_else(|| panic!("{line}: it started")).to_string();
        assert!(message.contains(&format!("[ ] {line}")), "{line}: {message}");
    }
}

#[tokio::test]
async fn validate_gives_the_whole_checklist_without_registering() {
    let runtime = TestRuntime::new(Vec::new());
    let sound = query("get-note").definition;
    let findings = runtime.runtime.registry.validate(&sound, today());
    assert!(findings.len() > 25 && findings.iter().all(|finding| finding.outcome < CheckOutcome::Fail));
    let unsound = mutation("set-note").cached(5).definition;
    let findings = runtime.runtime.registry.validate(&unsound, today());
    let failed: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.outcome == CheckOutcome::Fail)
        .map(|finding| finding.line)
        .collect();
    assert_eq!(failed, ["cacheable flag set correctly"]);
    assert!(runtime.runtime.registry.get("get-note").is_none());
}

#[tokio::test]
async fn a_reader_keeps_its_snapshot_while_tools_are_registered() {
    let runtime = TestRuntime::new(vec![query("get-note").build()]);
    let before = std::sync::Arc::clone(&runtime.runtime.registry.snapshot());
    runtime.runtime.registry.register(query("get-late").build(), today()).await.unwrap();
    assert!(!before.tools.contains_key("get-late"));
    assert!(runtime.runtime.registry.snapshot().version > before.version);
}
