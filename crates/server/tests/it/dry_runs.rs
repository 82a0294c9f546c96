//! Whoever asks for a dry run believes that nothing happens: it is honoured, or refused, on every route.

use serde_json::{Value, json};

use crate::mcp::test_server::McpTestServer;
use crate::test_server::TestServer;

async fn titles(server: &TestServer, key: &str) -> Value {
    server.call(key, "list-tasks", json!({})).await.json()["data"]["tasks"].clone()
}

#[tokio::test]
async fn promise_a_route_that_changes_something_honours_or_refuses_a_dry_run() {
    let server = TestServer::new();
    let document = server.ask("GET", "/openapi.json").send().await.json();
    let calls = |path: &str| {
        path.ends_with("/call")
            || path.contains("/functions/")
            || path.starts_with("/mcp")
            || path.starts_with("/messages")
    };
    let mut refused = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys().map(|method| method.to_uppercase()) {
            if method == "GET" || (method == "POST" && calls(path)) {
                continue;
            }
            let to = path.replace(['{', '}', '*'], "");
            let answer =
                server.ask(&method, to).owner().header("x-dry-run", "1").body(json!({})).send().await;
            assert_eq!(answer.status, 400, "{method} {path}: {}", answer.text);
            assert!(
                answer.text.contains("X-Dry-Run") && answer.text.contains("invalid_input"),
                "{}",
                answer.text
            );
            refused += 1;
        }
    }
    assert!(refused >= 15, "{refused}");
}

#[tokio::test]
async fn a_chat_with_a_dry_run_does_nothing_and_says_so() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let message = "Add a task to buy milk";
    let said = json!({ "message": message });
    let completion =
        json!({ "model": "toolroom/default", "messages": [{ "role": "user", "content": message }] });
    let response = json!({ "model": "toolroom/default", "input": message });
    let asked =
        [("/api/v1/chat", &said), ("/v1/chat/completions", &completion), ("/v1/responses", &response)];
    for (path, body) in asked {
        let asked = server.ask("POST", path).key(&key).header("x-dry-run", "true").body(body.clone());
        let answer = asked.send().await;
        assert_eq!(answer.status, 400, "{path}: {}", answer.text);
        assert_eq!(titles(&server, &key).await, json!([]), "{path}");
    }
    let real =
        server.ask("POST", "/api/v1/chat").key(&key).header("x-dry-run", "false").body(said).send().await;
    assert_eq!(real.status, 200, "{}", real.text);
}

#[tokio::test]
async fn a_call_over_mcp_can_be_tried() {
    let server = McpTestServer::new();
    let asked = || server.call("create-task", json!({ "title": "Buy milk" }));
    for (how, ask) in [
        ("_meta", asked().meta("dev.toolroom/dryRun", json!(true))),
        ("header", asked().with("X-Dry-Run", "true")),
        ("call-tool", {
            let params = json!({ "name": "create-task", "params": { "title": "Buy milk" } });
            server.call("call-tool", params).meta("dev.toolroom/dryRun", json!(true))
        }),
    ] {
        let result = ask.send().await.result();
        assert_eq!(result["structuredContent"]["data"]["dryRun"], true, "{how}: {result}");
    }
    let listed = server.call("list-tasks", json!({})).send().await.result();
    assert_eq!(listed["structuredContent"]["data"]["tasks"], json!([]), "{listed}");
    let odd = asked().meta("dev.toolroom/dryRun", json!("yes")).send().await;
    assert!(odd.json()["error"].is_object(), "what cannot be read is not ignored: {}", odd.text);
    let real = asked().meta("dev.toolroom/dryRun", json!(false)).send().await.result();
    assert_eq!(real["structuredContent"]["data"]["task"]["title"], "Buy milk", "{real}");
}
