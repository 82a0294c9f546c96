//! A key that is confined to profiles: it lists, calls, reads and decides within them, and nowhere else.

use serde_json::{Value, json};

use crate::test_server::TestServer;

/// Ada's server: an agent and a person by keys for everything, and both confined to `assistant`.
struct Keys {
    agent: String,
    confined: String,
    person: String,
}

async fn keys(server: &TestServer) -> Keys {
    let everything = json!(["*"]);
    Keys {
        agent: server.key(json!({ "user": "ada", "grants": everything })).await,
        confined: server.key(json!({ "user": "ada", "grants": everything, "profiles": ["assistant"] })).await,
        person: server
            .key(json!({ "user": "ada", "grants": everything, "profiles": ["assistant"], "person": true }))
            .await,
    }
}

async fn get(server: &TestServer, key: &str, path: &str) -> Value {
    server.ask("GET", path.to_owned()).key(key).send().await.json()
}

#[tokio::test]
async fn promise_a_confined_key_lists_only_what_it_can_call() {
    let server = TestServer::new();
    let Keys { agent, confined, .. } = keys(&server).await;
    for path in ["/api/v1/tools", "/api/v1/tools?q=delete%20a%20task"] {
        assert!(get(&server, &agent, path).await["total"].as_u64().unwrap() > 0);
        let none = get(&server, &confined, path).await;
        assert_eq!((&none["tools"], &none["total"]), (&json!([]), &json!(0)), "{path}");
    }
    let shown = server.ask("GET", "/api/v1/tools/create-task").key(&confined).send().await;
    assert_eq!((shown.status.as_u16(), shown.code().as_str()), (404, "tool_not_found"));
    assert_eq!(get(&server, &confined, "/api/v1/check").await["tools"], json!([]));
    let functions = get(&server, &confined, "/api/v1/profiles/assistant/functions").await;
    assert!(!functions.as_array().unwrap().is_empty());
    for profile in ["default", "plain", "executor", "todo_tasks"] {
        let path = format!("/api/v1/profiles/{profile}/functions");
        assert_eq!(server.ask("GET", path).key(&confined).send().await.status, 404, "{profile}");
    }
    let models = get(&server, &confined, "/v1/models").await;
    assert_eq!(models["data"].as_array().unwrap().len(), 1);
    let said = json!({ "model": "toolroom/default", "messages": [{ "role": "user", "content": "hi" }] });
    let said = server.ask("POST", "/v1/chat/completions").key(&confined).body(said).send().await;
    assert_eq!(said.status, 404);
}

#[tokio::test]
async fn a_key_confined_to_default_lists_what_it_can_call() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada", "profiles": ["default"] })).await;
    let all = get(&server, &key, "/api/v1/tools").await;
    let names: Vec<&str> =
        all["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"create-task"), "{names:?}");
    let status = server.call(&key, "get-status", json!({})).await.json();
    assert_eq!(status["data"]["tools"], names.len());
}

#[tokio::test]
async fn promise_a_confined_key_reads_the_log_of_its_profiles_alone() {
    let server = TestServer::new();
    let Keys { agent, confined, .. } = keys(&server).await;
    let elsewhere = server.call(&agent, "create-task", json!({ "title": "Secret" })).await.json();
    server.function(&confined, "assistant", "add_task", json!({ "title": "Mine" })).await;
    let tail = get(&server, &confined, "/api/v1/executions?after=").await["nextCursor"].clone();
    server.call(&agent, "create-task", json!({ "title": "Secret too" })).await;
    server.function(&confined, "assistant", "list_tasks", json!({})).await;
    let tools = |log: &Value| -> Vec<String> {
        let rows = log["executions"].as_array().unwrap().iter();
        rows.map(|row| format!("{} {}", row["profile"], row["tool"])).collect()
    };
    let log = get(&server, &confined, "/api/v1/executions").await;
    assert_eq!(tools(&log), ["\"assistant\" \"list_tasks\"", "\"assistant\" \"add_task\""]);
    let path = format!("/api/v1/executions?after={}", tail.as_str().unwrap());
    let news = get(&server, &confined, &path).await;
    assert_eq!(tools(&news), ["\"assistant\" \"list_tasks\""]);
    let id = elsewhere["metadata"]["executionId"].as_str().unwrap();
    let path = format!("/api/v1/executions/{id}");
    assert_eq!(server.ask("GET", path.clone()).key(&confined).send().await.status, 404);
    assert_eq!(server.ask("GET", path).key(&agent).send().await.status, 200);
    assert_eq!(tools(&get(&server, &agent, "/api/v1/executions").await).len(), 4);
}

#[tokio::test]
async fn promise_a_confined_person_decides_within_their_profiles_alone() {
    let server = TestServer::new();
    let Keys { agent, person, .. } = keys(&server).await;
    let made = server.call(&agent, "create-task", json!({ "title": "Old" })).await.json();
    let id = &made["data"]["task"]["taskId"];
    let waiting = server.call(&agent, "delete-task", json!({ "taskId": id })).await.json();
    assert_eq!(get(&server, &person, "/api/v1/approvals").await["approvals"], json!([]));
    assert_eq!(get(&server, &person, "/api/v1/approvals?all=true").await["approvals"], json!([]));
    let path = format!("/api/v1/approvals/{}", waiting["pending"]["id"].as_str().unwrap());
    let yes = json!({ "decision": "approve" });
    let tried = server.ask("POST", path.clone()).key(&person).body(yes.clone()).send().await;
    assert_eq!((tried.status.as_u16(), tried.code().as_str()), (404, "not_found"));
    let free = server.key(json!({ "user": "ada", "person": true })).await;
    assert_eq!(server.ask("POST", path).key(&free).body(yes).send().await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confined_key_neither_follows_nor_cancels_what_was_said_under_other_profiles() {
    let server = TestServer::new();
    let Keys { agent, confined, .. } = keys(&server).await;
    let said = json!({ "model": "toolroom", "messages": [{ "role": "user", "content": "hello" }] });
    let said = server.ask("POST", "/v1/chat/completions").key(&agent).body(said).send().await;
    let run = said.headers["x-run-id"].to_str().unwrap();
    let path = format!("/api/v1/chat/{run}");
    assert_eq!(server.ask("GET", path.clone()).key(&agent).send().await.status, 200);
    assert_eq!(server.ask("GET", path.clone()).key(&confined).send().await.status, 404);
    let cancelled = server.ask("POST", format!("{path}/cancel")).key(&confined).send().await;
    assert_eq!(cancelled.status, 404);
}

#[tokio::test]
async fn promise_a_confined_key_reads_no_figures_of_the_whole_server() {
    let server = TestServer::new();
    let Keys { agent, confined, person } = keys(&server).await;
    server.call(&agent, "create-task", json!({ "title": "seen by nobody else" })).await;
    let shown = server.ask("GET", "/metrics").key(&agent).send().await;
    assert!(shown.text.contains("tool=\"create-task\""), "{}", shown.text);
    for key in [&confined, &person] {
        let refused = server.ask("GET", "/metrics").key(key).send().await;
        assert_eq!(
            (refused.status.as_u16(), refused.code().as_str()),
            (403, "forbidden"),
            "{}",
            refused.text
        );
        assert!(!refused.text.contains("create-task"), "{}", refused.text);
        let ready = server.ask("GET", "/readyz").key(key).send().await.json();
        assert_eq!((&ready["ready"], ready.get("tools")), (&json!(true), None), "{ready}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_answered_without_a_step_that_the_caller_cannot_take() {
    let server = TestServer::new();
    let Keys { agent, confined, .. } = keys(&server).await;
    for (key, step) in [(&agent, json!("search-tools")), (&confined, Value::Null)] {
        let unknown = server.call(key, "no-such-tool", json!({})).await;
        assert_eq!(unknown.code(), "tool_not_found", "{}", unknown.text);
        let hints = &unknown.json()["agentHints"];
        assert_eq!(hints["suggestedNextActions"][0]["action"], step, "{hints}");
        assert_eq!(unknown.text.contains("search-tools"), !step.is_null(), "{}", unknown.text);
    }
}
