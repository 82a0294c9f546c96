//! A database that fails or is gone: each profile says so in its own words, and nothing of its inside.

use http_body_util::BodyExt;
use serde_json::{Value, json};

use super::databases::Database;
use super::profile_client::ProfileClient;
use crate::test_server::TestServer;

const INSIDE: [&str; 6] = ["postgres", "select", "relation", "127.0.0.1", "toolroom_server_", ".rs"];

/// One call of each profile, and whether its answer is the failure that the profile publishes.
type Case = (&'static str, &'static str, Value, fn(&Value) -> bool);

fn cases() -> [Case; 5] {
    let chatbot: fn(&Value) -> bool = |answer| {
        let message = answer["message"].as_str().unwrap_or_default();
        message.starts_with("Failed to retrieve tasks: ") || message.starts_with("Failed to create task: ")
    };
    let tasks: fn(&Value) -> bool = |answer| answer["error"]["code"] == "processing_error";
    let assistant: fn(&Value) -> bool = |answer| answer["code"] == "DATABASE_ERROR";
    [
        ("todo-chatbot", "list_tasks", json!({}), chatbot),
        ("todo-chatbot", "create_task", json!({ "title": "B" }), chatbot),
        ("todo_tasks", "list_tasks", json!({ "user_id": "ada" }), tasks),
        ("assistant", "list_tasks", json!({}), assistant),
        ("assistant", "add_task", json!({ "title": "B" }), assistant),
    ]
}

fn shows_nothing_of_the_inside(text: &str) {
    let said = text.to_lowercase();
    for inside in INSIDE {
        assert!(!said.contains(inside), "{text}");
    }
}

#[tokio::test]
async fn each_profile_tells_of_a_database_that_fails_in_its_own_words() {
    let database = Database::postgres();
    let server = TestServer::on(&database.url);
    let ada = ProfileClient::new(&server, "assistant", "ada").await;
    ada.ask("add_task", json!({ "title": "A" })).await;
    database.run_sql("ALTER TABLE tasks RENAME TO lost");
    for (profile, tool, params, fits) in cases() {
        let answer = ada.at(profile).ask(tool, params).await;
        assert_eq!(answer["success"], false);
        assert!(fits(&answer), "{profile} {tool}: {answer}");
        shows_nothing_of_the_inside(&answer.to_string());
    }
    database.run_sql("ALTER TABLE lost RENAME TO tasks");
    assert_eq!(ada.ask("list_tasks", json!({})).await["count"], 1, "and all is well again");
}

/// Both with a key that was seen a moment ago and with one that can no longer be looked up.
#[tokio::test]
async fn with_the_database_gone_every_route_answers_in_its_own_published_form() {
    let database = Database::postgres();
    let server = TestServer::on(&database.url);
    let ada = ProfileClient::new(&server, "assistant", "ada").await;
    ada.ask("add_task", json!({ "title": "A" })).await;
    let never_seen = server.key(json!({ "user": "bo" })).await;
    drop(database);
    for key in [&ada.key, &never_seen] {
        for (profile, tool, params, fits) in cases() {
            let answer = server.function(key, profile, tool, params.clone()).await;
            assert_eq!(answer.status, 200, "{profile} {tool}: {}", answer.text);
            assert!(fits(&answer.json()), "{profile} {tool}: {}", answer.text);
            shows_nothing_of_the_inside(&answer.text);

            let told = mcp(&server, key, &format!("/mcp/{profile}"), tool, params).await;
            assert_eq!(told["result"]["isError"], true, "{profile} {tool}: {told}");
            assert!(fits(&told["result"]["structuredContent"]), "{profile} {tool}: {told}");
        }
        for (tool, params) in
            [("create-task", json!({ "title": "B" })), ("list-tasks", json!({})), ("no-such-tool", json!({}))]
        {
            let answer = server.call(key, tool, params).await;
            let body = answer.json();
            if tool == "no-such-tool" && body["error"]["code"] == "tool_not_found" {
                continue;
            }
            assert_eq!(answer.status, 503, "{tool}: {}", answer.text);
            assert_eq!(body["error"]["code"], "service_unavailable", "{tool}: {body}");
            assert_eq!(body["error"]["retryable"], true, "{tool}: {body}");
            assert!(body["agentHints"]["confidence"].is_number(), "{tool}: {body}");
            assert!(body["metadata"]["executionId"].is_string(), "{tool}: {body}");
            shows_nothing_of_the_inside(&body["error"].to_string());
        }
        let told = mcp(&server, key, "/mcp", "create-task", json!({ "title": "B" })).await;
        assert_eq!(told["result"]["isError"], true, "{told}");
        let error = &told["result"]["structuredContent"]["error"];
        assert_eq!(error["code"], "service_unavailable", "{told}");
    }
    let told = mcp(&server, &never_seen, "/mcp", "execute-code", json!({})).await;
    assert_eq!(told["result"]["structuredContent"]["error"]["code"], "service_unavailable", "{told}");
}

#[tokio::test]
async fn with_the_database_gone_streams_and_their_messages_are_answered_in_the_form_of_the_protocol() {
    let database = Database::postgres();
    let server = TestServer::on(&database.url);
    let ada = ProfileClient::new(&server, "assistant", "ada").await;
    let (opened, mut stream) = server.ask("GET", "/sse/assistant").key(&ada.key).open().await;
    assert_eq!(opened.status, 200);
    let first = stream.frame().await.unwrap().unwrap().into_data().unwrap();
    let first = String::from_utf8(first.to_vec()).unwrap();
    let messages = first.lines().find_map(|line| line.strip_prefix("data: ")).unwrap().to_owned();
    let never_seen = server.key(json!({ "user": "bo" })).await;
    drop(database);
    for (method, path) in
        [("GET", "/sse"), ("GET", "/sse/assistant"), ("GET", "/mcp"), ("DELETE", "/mcp/assistant")]
    {
        let told = server.ask(method, path).key(&never_seen).send().await;
        assert_eq!(
            (told.status.as_u16(), &told.json()["jsonrpc"]),
            (503, &json!("2.0")),
            "{path}: {}",
            told.text
        );
        assert!(
            told.json()["error"]["message"].as_str().unwrap().contains("Try again"),
            "{path}: {}",
            told.text
        );
        shows_nothing_of_the_inside(&told.text);
    }
    let call = |id: i64, method: &str| {
        let params = json!({ "name": "list_tasks", "arguments": {} });
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    };
    let told = server.ask("POST", &messages).key(&never_seen).body(call(1, "tools/call")).send().await.json();
    assert_eq!((&told["id"], &told["result"]["isError"]), (&json!(1), &json!(true)), "{told}");
    let text: Value = serde_json::from_str(told["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["code"], "DATABASE_ERROR", "the session's profile tells it: {told}");
    let told = server.ask("POST", &messages).key(&never_seen).body(call(2, "ping")).send().await;
    assert_eq!((told.status.as_u16(), &told.json()["id"]), (503, &json!(2)), "{}", told.text);
}

async fn mcp(server: &TestServer, key: &str, path: &str, tool: &str, arguments: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments, "_meta": meta }
    });
    let answer = server
        .ask("POST", path)
        .key(key)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .body(message)
        .send()
        .await;
    answer.json()
}
