//! How a tool is retired.

use jiff::civil::{Date, date};
use serde_json::json;
use toolroom_contract::definition::Deprecation;
use toolroom_contract::hints::WarningKind;
use toolroom_contract::{ErrorCode, Priority};
use toolroom_runtime::catalogue::RegistryError;

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{Tool, count, counter, query};

fn until(tool: Tool, removal_date: Date) -> Tool {
    tool.is(|tool| {
        tool.deprecated = Some(Deprecation {
            since: semver::Version::new(1, 1, 0),
            replacement: "get-new".into(),
            removal_date,
        });
    })
}

#[tokio::test]
async fn a_deprecated_tool_runs_and_warns_with_its_replacement() {
    let runtime =
        TestRuntime::new(vec![until(query("get-old"), date(2999, 1, 1)).build(), query("get-new").build()]);
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "get-old", json!({})).await;
    data(&reply);
    let warning = &reply.result.agent_hints.warnings[0];
    assert_eq!(warning.kind, WarningKind::Deprecation);
    assert!(warning.message.contains("2999-01-01"), "{}", warning.message);
    assert_eq!(warning.suggested_fix.as_deref(), Some("Use 'get-new' instead."));
    assert!(runtime.call(&who, "get-new", json!({})).await.result.agent_hints.warnings.is_empty());
}

#[tokio::test]
async fn a_tool_is_gone_on_its_removal_date_and_the_error_names_the_replacement() {
    let runs = counter();
    let runtime = TestRuntime::new(vec![
        until(query("get-old"), date(2030, 6, 1)).counts(&runs).build(),
        query("get-new").build(),
    ]);
    let who = runtime.owner().await;
    runtime.clock.set("2030-05-31T23:59:59Z".parse().unwrap());
    data(&runtime.call(&who, "get-old", json!({})).await);
    runtime.clock.set("2030-06-01T00:00:00Z".parse().unwrap());
    let reply = runtime.call(&who, "get-old", json!({})).await;
    let body = error(&reply, ErrorCode::ToolRemoved);
    assert!(body.message.contains("'get-new'") && body.message.contains("2030-06-01"), "{}", body.message);
    let action = &reply.result.agent_hints.suggested_next_actions[0];
    assert_eq!((action.action.as_str(), action.priority), ("get-new", Priority::High));
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn a_removed_tool_is_gone_from_searches_and_descriptions() {
    let runtime =
        TestRuntime::new(vec![until(query("get-old"), date(2020, 1, 1)).build(), query("get-new").build()]);
    let who = runtime.owner().await;
    let found = runtime.call(&who, "search-tools", json!({ "query": "old promise test" })).await;
    assert!(!data(&found).to_string().contains("get-old"));
    error(&runtime.call(&who, "describe-tool", json!({ "name": "get-old" })).await, ErrorCode::NotFound);
}

#[tokio::test]
async fn a_removal_date_under_ninety_days_off_is_refused_at_registration() {
    let runtime = TestRuntime::new(Vec::new());
    let today = date(2026, 1, 1);
    for (days, passes) in [(-1, false), (0, false), (89, false), (90, true), (400, true)] {
        let removal = today.checked_add(jiff::Span::new().days(days)).unwrap();
        let tool = until(query(&format!("get-old{}", days + 1)), removal).build();
        let registered = runtime.runtime.registry.register(tool, today).await;
        let line = match registered {
            Ok(_) => "",
            Err(RegistryError::Unsound { findings, .. }) => findings[0].line,
            Err(other) => panic!("{days}: {other}"),
        };
        let refused = "Deprecation names a replacement, and a removal date 90 days ahead";
        assert_eq!(line, if passes { "" } else { refused }, "{days}");
    }
}

#[tokio::test]
async fn a_deprecation_must_name_another_tool() {
    let own = |tool: Tool| tool.is(|tool| tool.deprecated.as_mut().unwrap().replacement = "get-old".into());
    let started = TestRuntime::on(
        tempfile::tempdir().unwrap(),
        |_| vec![own(until(query("get-old"), date(2999, 1, 1))).build()],
        Vec::new(),
    );
    assert!(started.err().unwrap().to_string().contains("name another tool as the replacement"));
}
