//! `tools/call`: what comes back, and what is refused.

use serde_json::{Value, json};

use super::test_server::{McpTestServer, open_object, query};
use toolroom_contract::{Answer, Ending};

fn text(result: &Value) -> Value {
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_call_answers_with_the_envelope_as_structured_content_and_compact_text() {
    let server = McpTestServer::new();
    let got = server.call("create-task", json!({ "title": "Buy milk" })).send().await;
    assert_eq!(got.status, 200);
    assert!(got.head.contains("content-type: application/json"), "nothing is streamed that need not be");
    let result = got.result();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolroom");
    let structured = &result["structuredContent"];
    assert_eq!(structured["data"]["task"]["title"], "Buy milk");
    assert!(
        structured["agentHints"]["estimatedImpact"].is_object()
            && structured["metadata"]["executionId"].is_string()
    );
    let text = text(&result);
    assert_eq!(text["data"], structured["data"]);
    assert_eq!(text["confidence"], structured["agentHints"]["confidence"]);
    assert!(text.as_object().unwrap().values().all(|part| part != &json!([])), "no empty hints: {text}");
    assert!(result.get("isError").is_none());
}

#[tokio::test]
async fn a_profile_answers_with_exactly_what_it_publishes_and_hints_in_meta() {
    let server = McpTestServer::new();
    let made =
        server.call("add_task", json!({ "user_id": "local", "title": "Call mom" })).profile("todo_tasks");
    let result = made.send().await.result();
    assert_eq!(result["structuredContent"]["success"], true);
    assert_eq!(text(&result), result["structuredContent"]);
    assert!(result["_meta"]["dev.toolroom/agentHints"]["confidence"].is_number());
    assert!(result["_meta"]["dev.toolroom/metadata"]["executionId"].is_string());
    let bad =
        server.call("delete_task", json!({ "user_id": "local", "task_id": "999" })).profile("todo_tasks");
    let bad = bad.send().await.result();
    assert_eq!((&bad["isError"], &bad["structuredContent"]["success"]), (&json!(true), &json!(false)));
}

#[tokio::test]
async fn an_unknown_and_a_forbidden_tool_are_refused_in_the_same_words() {
    let server = McpTestServer::new();
    let key = server.key("ada", &["cards:*"], None).await;
    let unknown = server.call("no-such-tool", json!({})).key(&key).send().await;
    let forbidden = server.call("create-task", json!({ "title": "x" })).key(&key).send().await;
    assert_eq!(unknown.error(), (200, -32602));
    assert_eq!(unknown.text, forbidden.text);
}

#[tokio::test]
async fn bad_arguments_are_a_result_that_says_how_to_repair_them() {
    let server = McpTestServer::new();
    let result = server.call("create-task", json!({ "title": "", "nonsense": 1 })).send().await.result();
    assert_eq!(result["isError"], true);
    let details = result["structuredContent"]["error"]["details"].as_array().unwrap().clone();
    let pointers: Vec<&str> = details.iter().map(|detail| detail["pointer"].as_str().unwrap()).collect();
    assert!(pointers.contains(&"/title") && pointers.contains(&"/nonsense"), "{pointers:?}");
    assert_eq!(text(&result)["error"]["code"], "invalid_input");
}

#[tokio::test]
async fn a_tool_that_does_not_find_the_tool_it_is_told_of_fails_as_a_tool() {
    let server = McpTestServer::new();
    let result = server.call("call-tool", json!({ "name": "no-such", "params": {} })).send().await.result();
    assert_eq!(result["structuredContent"]["error"]["code"], "tool_not_found");
    assert_eq!(result["isError"], true);
}

#[tokio::test]
async fn the_client_its_trace_and_its_idempotency_key_reach_the_call() {
    let server = McpTestServer::with(vec![query("who-am-i", open_object(), |_, context| async move {
        Ending::Done(
            Answer::new(json!({ "agent": *context.agent_id, "version": *context.agent_version })).unwrap(),
        )
    })]);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let ask = server
        .call("who-am-i", json!({}))
        .meta("traceparent", json!(format!("00-{trace}-00f067aa0ba902b7-01")));
    let result = ask.send().await.result();
    assert_eq!(result["structuredContent"]["data"], json!({ "agent": "test-client", "version": "1.2.3" }));
    assert_eq!(result["structuredContent"]["metadata"]["traceId"], trace);
    let make = || {
        server
            .call("create-task", json!({ "title": "once" }))
            .meta("dev.toolroom/idempotencyKey", json!("k1"))
    };
    let first = make().send().await.result();
    let again = make().send().await.result();
    assert_eq!(first["structuredContent"]["data"], again["structuredContent"]["data"]);
    assert_eq!(again["structuredContent"]["metadata"]["replayed"], true);
}

#[tokio::test]
async fn a_profile_that_the_key_is_not_for_is_no_profile() {
    let server = McpTestServer::new();
    let key = server.key("ada", &["tasks:*"], Some(&["assistant"])).await;
    let mine = server.ask("tools/list", json!({})).profile("assistant").key(&key).send().await;
    assert_eq!(mine.status, 200);
    let other = server.ask("tools/list", json!({})).profile("todo_tasks").key(&key).send().await;
    let none = server.ask("tools/list", json!({})).profile("nothing").key(&key).send().await;
    let shape = |got: &super::test_server::Got| {
        (got.status, got.json()["detail"].clone(), got.json()["code"].clone())
    };
    assert_eq!(shape(&other), shape(&none));
    assert_eq!(other.status, 404);
    assert_eq!(
        server.ask("tools/list", json!({})).key(&key).send().await.status,
        404,
        "nor is the default one"
    );
}
