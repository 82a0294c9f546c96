//! Calls that are refused before they begin are answered in the form of a call, in plain words.

use serde_json::{Value, json};

use crate::test_server::TestServer;

/// Words of the program's inside.
const INSIDE: [&str; 6] = ["struct", "ContextFields", "expected a", "invalid type", "at line", "enum"];

#[tokio::test]
async fn a_refused_context_is_answered_with_the_envelope_in_plain_words() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let cases: [(Value, &str); 10] = [
        (json!("x"), "/context"),
        (json!(null), "/context"),
        (json!([]), "/context"),
        (json!({ "nonsense": 1 }), "/context/nonsense"),
        (json!({ "traceId": "x" }), "/context/traceId"),
        (json!({ "timestamp": "yesterday" }), "/context/timestamp"),
        (json!({ "dryRun": "yes" }), "/context/dryRun"),
        (json!({ "approvalId": 7 }), "/context/approvalId"),
        (json!({ "metadata": [] }), "/context/metadata"),
        (json!({ "timezone": "Mars/Olympus" }), "/context/timezone"),
    ];
    for (context, pointer) in cases {
        let body = json!({ "params": { "title": "A" }, "context": context });
        let answer =
            server.ask("POST", "/api/v1/tools/create-task/call").key(&key).body(body.clone()).send().await;
        let told = answer.json();
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (400, "invalid_input"),
            "{body}: {told}"
        );
        assert_eq!(told["error"]["details"][0]["pointer"], pointer, "{body}: {told}");
        assert!(told["agentHints"].is_object() && told["metadata"]["executionId"].is_string(), "{told}");
        for inside in INSIDE {
            assert!(!told["error"].to_string().contains(inside), "{inside}: {told}");
        }
    }
    for body in [json!([]), json!("x"), json!({ "params": {}, "more": 1 })] {
        let answer = server.ask("POST", "/api/v1/tools/create-task/call").key(&key).body(body).send().await;
        assert_eq!(answer.status, 400, "{}", answer.text);
        assert_eq!(answer.json()["error"]["code"], "invalid_input", "{}", answer.text);
    }
    let rows = server.ask("GET", "/api/v1/executions?tool=create-task").key(&key).send().await.json();
    assert_eq!(rows["executions"].as_array().unwrap().len(), 13, "each is in the log: {rows}");
    let none = server.call(&key, "list-tasks", json!({})).await.json();
    assert_eq!(none["data"]["tasks"], json!([]), "and nothing was made");
}

#[tokio::test]
async fn a_refused_context_does_not_tell_of_a_tool_that_the_caller_may_not_use() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada", "grants": ["tasks:read"] })).await;
    let told = |tool: &'static str| {
        let body = json!({ "params": {}, "context": 7 });
        server.ask("POST", format!("/api/v1/tools/{tool}/call")).key(&key).body(body)
    };
    for tool in ["create-task", "no-such-tool"] {
        let answer = told(tool).send().await;
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (404, "tool_not_found"), "{tool}");
    }
}

#[tokio::test]
async fn a_refused_header_is_told_in_the_words_of_the_profile() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let path = "/api/v1/profiles/assistant/functions/add_task";
    let ask = server.ask("POST", path).key(&key).header("x-approval-id", "nonsense");
    let answer = ask.body(json!({ "title": "A" })).send().await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.json()["code"], "VALIDATION_ERROR", "{}", answer.text);
}

#[tokio::test]
async fn metrics_are_for_those_who_may_read_the_log_once_there_are_keys() {
    let server = TestServer::new();
    assert_eq!(server.ask("GET", "/metrics").send().await.status, 200, "nobody else is here yet");
    let plain = server.key(json!({ "user": "ada" })).await;
    let reader = server.key(json!({ "user": "bo", "grants": ["executions:read"] })).await;
    assert_eq!(server.ask("GET", "/metrics").send().await.status, 401);
    assert_eq!(server.ask("GET", "/metrics").key(&plain).send().await.status, 403);
    assert_eq!(server.ask("GET", "/metrics").key(&reader).send().await.status, 200);
    assert_eq!(server.ask("GET", "/metrics").owner().send().await.status, 200);
}

#[tokio::test]
async fn requests_of_proxies_never_count_as_local() {
    let server = TestServer::new();
    for header in [
        "fly-client-ip",
        "fastly-client-ip",
        "cluster-client-ip",
        "x-envoy-external-address",
        "client-ip",
        "x-amzn-trace-id",
        "ngrok-trace-id",
        "x-scheme",
        "remote-user",
        "x-ms-proxy",
        "x-goog-authenticated-user-email",
    ] {
        let answer = server.ask("GET", "/api/v1/tools").header(header, "203.0.113.7").send().await;
        assert_eq!(answer.status, 401, "{header}: {}", answer.text);
    }
    assert_eq!(server.ask("GET", "/api/v1/tools").send().await.status, 200);
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_in_plain_words() {
    let server = TestServer::new();
    let admin = server.key(json!({ "user": "ada", "grants": ["*"] })).await;
    for path in [
        "/api/v1/executions?limit=many",
        "/api/v1/tools?limit=many",
        "/api/v1/approvals?limit=many",
        "/api/v1/conversations?limit=many",
        "/api/v1/servers/s?wait=soon",
    ] {
        let refused = server.ask("GET", path).key(&admin).send().await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (400, "invalid_input"), "{path}");
        assert!(refused.text.contains("The query of the address cannot be used"), "{path}: {}", refused.text);
        assert!(!refused.text.contains("deserialize"), "{path}: {}", refused.text);
    }
    for (field, wrong) in [
        ("config", json!(5)),
        ("tags", json!({})),
        ("rateLimit", json!("often")),
        ("input_schema", json!([])),
    ] {
        let mut body = json!({
            "name": "say", "description": "Says something.", "input_schema": { "type": "object" },
            "config": { "script_path": "say.py" }, "script": "def run(params, context):\n    return {}\n",
        });
        body[field] = wrong;
        let refused = server.ask("POST", "/api/v1/tools").key(&admin).body(body.clone()).send().await;
        assert_eq!(refused.status, 400, "{body}: {}", refused.text);
        for word in ["struct", "enum ", "Written", "Entry", "sequence"] {
            assert!(!refused.text.contains(word), "{body}: {}", refused.text);
        }
    }
}

#[tokio::test]
async fn json_that_cannot_be_used_is_refused_in_the_form_of_the_call_and_journaled() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let bodies = [
        r#"{"task_id": 1180591620717411303424}"#,
        r#"{"task_id": 1, "task_id": 2}"#,
        r#"{"task_id": 1e999}"#,
    ];
    for body in bodies {
        let path = "/api/v1/profiles/assistant/functions/delete_task";
        let answer = server
            .ask("POST", path)
            .key(&key)
            .header("content-type", "application/json")
            .text(body.to_owned())
            .send()
            .await;
        assert_eq!(answer.json()["success"], false, "{body}: {}", answer.text);
        let path = "/api/v1/tools/delete-task/call";
        let whole = format!(r#"{{"params": {body}}}"#);
        let answer = server
            .ask("POST", path)
            .key(&key)
            .header("content-type", "application/json")
            .text(whole)
            .send()
            .await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (400, "invalid_input"),
            "{}",
            answer.text
        );
        assert!(answer.json()["agentHints"].is_object(), "{}", answer.text);
    }
    let rows = server.ask("GET", "/api/v1/executions").key(&key).send().await.json();
    assert_eq!(rows["executions"].as_array().unwrap().len(), 2 * bodies.len(), "{rows}");
}
