//! The execution log by its filters, what an entry says, and the figures over it.

use serde_json::{Value, json};

use crate::test_server::TestServer;

async fn listed(server: &TestServer, key: Option<&str>, query: &str) -> Vec<Value> {
    let ask = server.ask("GET", format!("/api/v1/executions?{query}"));
    let answer = match key {
        Some(key) => ask.key(key).send().await,
        None => ask.owner().send().await,
    };
    assert_eq!(answer.status, 200, "{query}: {}", answer.text);
    answer.json()["executions"].as_array().unwrap().clone()
}

async fn told(server: &TestServer, query: &str) -> Vec<String> {
    let rows = listed(server, None, query).await;
    rows.iter().map(|row| row["tool"].as_str().unwrap().to_owned()).collect()
}

async fn stats(server: &TestServer, key: Option<&str>, query: &str) -> Value {
    let ask = server.ask("GET", format!("/api/v1/stats?{query}"));
    let answer = match key {
        Some(key) => ask.key(key).send().await,
        None => ask.owner().send().await,
    };
    assert_eq!(answer.status, 200, "{query}: {}", answer.text);
    answer.json()
}

#[tokio::test]
async fn promise_the_log_is_filtered_by_code_agent_way_in_profile_time_and_words() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    server.call(&key, "create-task", json!({ "title": "Buy MILK" })).await;
    server.call(&key, "create-task", json!({ "title": "" })).await;
    server.call(&key, "get-task", json!({ "taskId": 999 })).await;
    let agent = server.ask("POST", "/api/v1/tools/list-tasks/call").key(&key).header("x-agent-id", "clerk-7");
    agent.body(json!({})).send().await;
    server.function(&key, "assistant", "list_tasks", json!({})).await;
    for (query, expected) in [
        ("tool=create-*", vec!["create-task", "create-task"]),
        ("tool=*-task&code=not_*", vec!["get-task"]),
        ("tool=create", vec![]),
        ("agent=clerk-*", vec!["list-tasks"]),
        ("edge=functions", vec!["list_tasks"]),
        ("profile=assistant", vec!["list_tasks"]),
        ("q=milk%20create-task", vec!["create-task"]),
        ("q=milk%20get-task", vec![]),
        ("minMs=600000", vec![]),
        ("until=2020-01-01T00:00:00Z", vec![]),
        ("code=invalid_input&since=2020-01-01T00:00:00Z", vec!["create-task"]),
    ] {
        assert_eq!(told(&server, query).await, expected, "{query}");
    }
    let wrong = server.ask("GET", "/api/v1/executions?edge=window").owner().send().await;
    assert_eq!((wrong.status.as_u16(), wrong.code().as_str()), (400, "invalid_input"));
}

#[tokio::test]
async fn promise_words_find_nothing_that_the_caller_may_not_see() {
    let server = TestServer::new();
    let admin = server.key(json!({ "user": "ada", "grants": ["registry:write", "boom:call"] })).await;
    let entry = json!({
        "name": "boom",
        "description": "Fails.",
        "input_schema": { "type": "object" },
        "config": { "script_path": "boom.py" },
        "script": "def run(params, context):\n    raise ValueError('the hidden word')\n",
    });
    assert_eq!(server.ask("POST", "/api/v1/tools").key(&admin).body(entry).send().await.status, 201);
    server.call(&admin, "boom", json!({})).await;
    assert_eq!(told(&server, "q=hidden").await, ["boom"], "the owner sees the traceback");
    assert!(listed(&server, Some(&admin), "q=hidden").await.is_empty());
    assert_eq!(listed(&server, Some(&admin), "q=boom").await.len(), 1);

    let poor = server.key(json!({ "user": "eve", "grants": ["none:none"] })).await;
    server.call(&poor, "boom", json!({})).await;
    assert!(listed(&server, Some(&poor), "code=permission_denied").await.is_empty());
    let own = listed(&server, Some(&poor), "code=tool_not_found").await;
    assert_eq!(own.len(), 1);
    assert!(own[0].get("steps").is_none(), "how far it came would tell that the tool exists: {}", own[0]);
    assert_eq!(told(&server, "code=permission_denied").await, ["boom"]);
}

#[tokio::test]
async fn promise_an_entry_says_its_steps_its_size_and_who_decided() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let made = server.call(&key, "create-task", json!({ "title": "Milk" })).await.json();
    let names = |row: &Value| -> Vec<String> {
        let steps = row["steps"].as_array().unwrap_or_else(|| panic!("{row}"));
        steps.iter().map(|step| step["name"].as_str().unwrap().to_owned()).collect()
    };
    let row = listed(&server, None, "tool=create-task").await.remove(0);
    assert_eq!(names(&row), ["checks", "admission", "run", "answer"]);
    assert!(row["steps"][2]["us"].as_u64().unwrap() > 0, "{row}");
    assert_eq!(row["bytesOut"], made["data"].to_string().len());
    server.call(&key, "create-task", json!({ "title": "" })).await;
    assert_eq!(names(&listed(&server, None, "code=invalid_input").await[0]), ["parameters"]);

    let params = json!({ "taskId": made["data"]["task"]["taskId"] });
    let waiting = server.call(&key, "delete-task", params.clone()).await.json();
    let id = waiting["pending"]["id"].clone();
    let path = format!("/api/v1/approvals/{}", id.as_str().unwrap());
    server.ask("POST", path).owner().body(json!({ "decision": "approve" })).send().await;
    server.call(&key, "delete-task", params).await;
    let rows = listed(&server, None, "tool=delete-task").await;
    assert_eq!((&rows[0]["status"], &rows[1]["status"]), (&json!("ok"), &json!("pending")));
    assert_eq!((&rows[0]["approvalId"], &rows[1]["approvalId"]), (&id, &id));
}

#[tokio::test]
async fn promise_a_call_of_the_chat_names_its_conversation() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let said =
        server.ask("POST", "/api/v1/chat").key(&key).body(json!({ "message": "list my tasks" })).send().await;
    let row = listed(&server, None, "edge=chat").await.remove(0);
    assert_eq!(row["conversationId"], said.json()["conversation_id"], "{}", said.text);
}

#[tokio::test]
async fn promise_figures_count_what_the_log_lists_and_no_more_than_one_may_see() {
    let server = TestServer::new();
    let (ada, bob) = (server.key(json!({ "user": "ada" })).await, server.key(json!({ "user": "bob" })).await);
    for title in ["a", "b", ""] {
        server.call(&ada, "create-task", json!({ "title": title })).await;
    }
    server.call(&bob, "list-tasks", json!({})).await;
    server.call(&bob, "list-tasks", json!({})).await;
    for (query, calls) in [
        ("cached=true", 1),
        ("cached=false", 4),
        ("failed=true", 1),
        ("counted=true", 5),
        ("counted=false", 0),
    ] {
        assert_eq!(listed(&server, None, query).await.len(), calls, "{query}");
    }
    let all = stats(&server, None, "by=tool").await;
    let sum = |of: &Value| of.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum(&all["total"]["calls"]), sum(&all["total"]["errors"])), (5, 1), "{all}");
    assert_eq!(sum(&all["total"]["cached"]), 1);
    let group = |stats: &Value, key: &str| {
        let groups = stats["groups"].as_array().unwrap().clone();
        groups.into_iter().find(|group| group["key"] == key).unwrap_or(Value::Null)
    };
    assert_eq!(group(&all, "create-task")["calls"], 3);
    assert_eq!(group(&all, "list-tasks")["cached"], 1);
    assert!(group(&all, "create-task")["tokensOut"].as_u64().unwrap() > 0);
    for (by, key, calls) in [
        ("code", "ok", 4),
        ("code", "invalid_input", 1),
        ("user", "bob", 2),
        ("edge", "rest", 5),
        ("server", "toolroom", 5),
    ] {
        let found = stats(&server, None, &format!("by={by}")).await;
        assert_eq!(group(&found, key)["calls"], calls, "{by}: {found}");
    }
    let own = stats(&server, Some(&bob), "by=user").await;
    assert_eq!((own["groups"].as_array().unwrap().len(), &own["groups"][0]["key"]), (1, &json!("bob")));
    for wrong in [
        "step=1",
        "by=colour",
        "since=2020-01-01T00:00:00Z",
        "until=2020-01-01T00:00:00Z&since=2021-01-01T00:00:00Z",
    ] {
        let refused = server.ask("GET", format!("/api/v1/stats?{wrong}")).owner().send().await;
        assert_eq!(refused.status, 400, "{wrong}: {}", refused.text);
    }
}
