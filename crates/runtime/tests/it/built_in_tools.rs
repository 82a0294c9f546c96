//! The registry's own tools: search-tools, describe-tool, call-tool, get-status.

use serde_json::json;
use toolroom_contract::{ErrorCode, ToolDefinition};
use toolroom_runtime::search;

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{count, counter, mutation, query};

fn runtime() -> (TestRuntime, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    let runs = counter();
    let runtime = TestRuntime::new(vec![
        query("get-note").counts(&runs).build(),
        mutation("set-note").counts(&runs).limited(3, 60_000).build(),
        mutation("drop-note").destructive().counts(&runs).build(),
    ]);
    (runtime, runs)
}

#[tokio::test]
async fn a_forwarded_call_is_one_row_under_the_inner_name() {
    let (runtime, runs) = runtime();
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "call-tool", json!({ "name": "get-note", "params": { "n": 1 } })).await;
    assert_eq!((data(&reply), count(&runs)), (&json!({ "run": 1 }), 1));
    assert_eq!(&*reply.result.metadata.tool_version, "1.2.3");
    let rows = runtime.rows();
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].tool.as_str(), rows[0].via.as_deref()), ("get-note", Some("call-tool")));
    assert_eq!(rows[0].input.get(), r#"{"n":1}"#);
}

#[tokio::test]
async fn the_inner_tools_permissions_limits_and_approval_apply() {
    let (runtime, runs) = runtime();
    let reader = runtime.user("reader", &["notes:read"]).await;
    let forbidden = runtime.call(&reader, "call-tool", json!({ "name": "set-note" })).await;
    error(&forbidden, ErrorCode::ToolNotFound);
    assert_eq!(runtime.row(forbidden.execution_id).code.as_deref(), Some("permission_denied"));
    let who = runtime.owner().await;
    error(
        &runtime.call(&who, "call-tool", json!({ "name": "drop-note" })).await,
        ErrorCode::ApprovalRequired,
    );
    for _ in 0..3 {
        data(&runtime.call(&who, "call-tool", json!({ "name": "set-note" })).await);
    }
    error(&runtime.call(&who, "call-tool", json!({ "name": "set-note" })).await, ErrorCode::RateLimited);
    error(&runtime.call(&who, "set-note", json!({})).await, ErrorCode::RateLimited);
    assert_eq!(count(&runs), 3);
}

#[tokio::test]
async fn pointers_of_a_forwarded_call_lead_into_what_the_caller_sent() {
    let (runtime, _) = runtime();
    let who = runtime.owner().await;
    let sent = json!({ "name": "get-note", "params": { "n": -1 } });
    let reply = runtime.call(&who, "call-tool", sent.clone()).await;
    let details = &error(&reply, ErrorCode::InvalidInput).details;
    assert_eq!(details[0].pointer, "/params/n");
    assert_eq!(sent.pointer(&details[0].pointer), Some(&json!(-1)));
    let reply = runtime.call(&who, "call-tool", json!({ "params": {} })).await;
    assert_eq!(error(&reply, ErrorCode::InvalidInput).details[0].pointer, "/name");
}

#[tokio::test]
async fn call_tool_cannot_call_itself() {
    let (runtime, runs) = runtime();
    let who = runtime.owner().await;
    let inner = json!({ "name": "get-note" });
    let reply = runtime.call(&who, "call-tool", json!({ "name": "call-tool", "params": inner })).await;
    assert_eq!(error(&reply, ErrorCode::InvalidInput).details[0].pointer, "/name");
    assert_eq!((count(&runs), runtime.rows().len()), (0, 1));
}

#[tokio::test]
async fn search_shows_only_what_the_caller_may_use() {
    let (runtime, _) = runtime();
    let (owner, reader) = (runtime.owner().await, runtime.user("reader", &["notes:read"]).await);
    let search = json!({ "query": "note", "limit": 50 });
    let all = runtime.call(&owner, "search-tools", search.clone()).await;
    let names = |value: &serde_json::Value| -> Vec<String> {
        let tools = value["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(data(&all)), ["drop-note", "get-note", "set-note"]);
    let some = runtime.call(&reader, "search-tools", search).await;
    assert_eq!(names(data(&some)), ["get-note"]);
    assert_eq!(data(&some)["total"], 1);
    // What is listed can be called, and what is not listed cannot.
    for name in ["get-note", "set-note", "drop-note"] {
        let called = runtime.call(&reader, name, json!({})).await;
        assert_eq!(called.result.error().is_none(), name == "get-note");
    }
}

#[test]
fn a_search_reads_what_tools_take_in_objects_and_lists_too() {
    let takes = |name: &str, parameters| {
        let mut tool = ToolDefinition::query(name, "Reads a value of the connected service.");
        tool.parameters = parameters;
        tool
    };
    let guest =
        json!({ "properties": { "passport": { "description": "The number in the travel document." } } });
    let tools = [
        takes("read-a", json!({ "properties": { "guests": { "type": "array", "items": guest } } })),
        takes(
            "read-b",
            json!({ "properties": { "place": { "properties": { "unit": { "enum": ["celsius"] } } } } }),
        ),
        takes("read-c", json!({ "properties": true })),
    ];
    let index = search::index(tools.iter());
    for (query, name) in [("a passport number", "read-a"), ("in degrees celsius", "read-b")] {
        assert_eq!(index.name(index.search(query, 1)[0].tool), name, "{query}");
    }
}

#[tokio::test]
async fn describe_shows_the_contract_of_what_the_caller_may_use() {
    let (runtime, _) = runtime();
    let reader = runtime.user("reader", &["notes:read"]).await;
    let reply = runtime.call(&reader, "describe-tool", json!({ "name": "get-note" })).await;
    let tool = &data(&reply)["tool"];
    assert_eq!(
        (tool["name"].as_str(), tool["permissions"].clone()),
        (Some("get-note"), json!(["notes:read"]))
    );
    let forbidden = runtime.call(&reader, "describe-tool", json!({ "name": "set-note" })).await;
    let unknown = runtime.call(&reader, "describe-tool", json!({ "name": "bet-note" })).await;
    assert_eq!(error(&forbidden, ErrorCode::NotFound), error(&unknown, ErrorCode::NotFound));
}

#[tokio::test]
async fn status_counts_the_tools_of_the_caller_and_names_what_is_wrong() {
    let (runtime, _) = runtime();
    let (owner, reader) = (runtime.owner().await, runtime.user("reader", &["notes:read"]).await);
    let status = runtime.call(&owner, "get-status", json!({})).await;
    assert_eq!((data(&status)["status"].as_str(), data(&status)["tools"].as_u64()), (Some("ok"), Some(7)));
    let status = runtime.call(&reader, "get-status", json!({})).await;
    assert_eq!(data(&status)["tools"], 5);
    assert_eq!(data(&status)["version"], toolroom_runtime::VERSION);
}
