//! What is not yours does not exist: another user's task and one that never was give equal answers.

use serde_json::{Map, Value, json};

use super::databases::both;
use super::profile_client::ProfileClient;
use crate::test_server::TestServer;

const UNKNOWN: i64 = 9;

/// Every tool that takes the id of a task, by every profile; canonical tools have no profile.
fn table(id: i64) -> Vec<(&'static str, &'static str, Value)> {
    let text = id.to_string();
    let named = |params: Value| {
        let mut params = params;
        params["user_id"] = json!("bob");
        params["task_id"] = json!(text);
        params
    };
    vec![
        ("todo-chatbot", "get_task", json!({ "task_id": id })),
        ("todo-chatbot", "update_task", json!({ "task_id": id, "title": "Mine" })),
        ("todo-chatbot", "update_task", json!({ "task_id": id, "status": "completed" })),
        ("todo-chatbot", "update_task", json!({ "task_id": id })),
        ("todo-chatbot", "update_task", json!({ "task_id": id, "title": "" })),
        ("todo-chatbot", "delete_task", json!({ "task_id": id })),
        ("todo_tasks", "complete_task", named(json!({}))),
        ("todo_tasks", "delete_task", named(json!({}))),
        ("todo_tasks", "update_task", named(json!({ "title": "Mine" }))),
        ("todo_tasks", "update_task", named(json!({ "completed": true }))),
        ("todo_tasks", "update_task", named(json!({}))),
        ("assistant", "list_tasks", json!({ "task_id": id })),
        ("assistant", "list_tasks", json!({ "task_id": id, "status": "pending" })),
        ("assistant", "update_task", json!({ "task_id": id, "priority": "high" })),
        ("assistant", "update_task", json!({ "task_id": id, "due_date": null })),
        ("assistant", "update_task", json!({ "task_id": id })),
        ("assistant", "delete_task", json!({ "task_id": id })),
        ("assistant", "complete_task", json!({ "task_id": id })),
        ("assistant", "complete_task", json!({ "task_id": id, "completed": false })),
        ("", "get-task", json!({ "taskId": id })),
        ("", "get-task", json!({ "taskId": id, "fields": ["title"] })),
        ("", "update-task", json!({ "taskId": id, "title": "Mine" })),
        ("", "update-task", json!({ "taskId": id, "addTags": ["x"] })),
        ("", "update-task", json!({ "taskId": id, "title": "Mine", "expectedVersion": 1 })),
        ("", "update-task", json!({ "taskId": id, "title": "Mine", "expectedVersion": 7 })),
        ("", "complete-task", json!({ "taskId": id })),
        ("", "complete-task", json!({ "taskId": id, "completed": false })),
        ("", "delete-task", json!({ "taskId": id })),
        ("", "delete-task", json!({ "taskId": id, "expectedVersion": 1 })),
        ("", "restore-task", json!({ "taskId": id })),
        ("", "batch-tasks", json!({ "operations": [{ "op": "complete", "taskId": id }] })),
        (
            "",
            "batch-tasks",
            json!({ "operations": [{ "op": "update", "taskId": id, "title": "M" }], "atomic": false }),
        ),
        ("", "batch-tasks", json!({ "operations": [{ "op": "restore", "taskId": id }], "atomic": false })),
    ]
}

/// Servers with the same past: in each, Ada has an open task (1) and a deleted one (2), and Bob has none.
async fn servers() -> Vec<(super::databases::Database, TestServer)> {
    let mut servers = Vec::new();
    for database in both().into_iter().chain(both()) {
        let server = TestServer::on(&database.url);
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        let secret =
            json!({ "title": "Secret plan", "description": "Hidden", "due_date": "2031-01-30T00:00:00Z" });
        ada.ask("add_task", secret).await;
        ada.ask("add_task", json!({ "title": "Old secret" })).await;
        ada.ask("delete_task", json!({ "task_id": 2 })).await;
        servers.push((database, server));
    }
    servers
}

/// Every answer that Bob gets for this id, with what belongs to the request taken out.
async fn answers(server: &TestServer, id: i64) -> Vec<String> {
    let bob = server.key(json!({ "user": "bob" })).await;
    let mut answers = Vec::new();
    for (profile, tool, params) in table(id) {
        let answer = match profile {
            "" => server.call(&bob, tool, params).await,
            _ => server.function(&bob, profile, tool, params).await,
        };
        assert!(!answer.text.to_lowercase().contains("secret"), "{profile} {tool}: {}", answer.text);
        let mut headers: Vec<String> =
            answer.headers.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
        headers.retain(|header| !header.starts_with("x-trace-id"));
        // It varies with the digits of the execution time.
        headers.retain(|header| !header.starts_with("content-length"));
        let body = comparable(&answer.json(), id);
        answers.push(format!("{profile} {tool} {}\n{}\n{body}", answer.status, headers.join("\n")));
    }
    answers
}

/// Without the times and ids of the request, and with the id that was asked for replaced.
fn comparable(value: &Value, id: i64) -> Value {
    const OF_THE_REQUEST: [&str; 7] =
        ["timestamp", "executionTime", "traceId", "correlationId", "executionId", "created_at", "expires_at"];
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !OF_THE_REQUEST.contains(&name.as_str()))
            .map(|(name, value)| {
                let is_the_id = ["taskId", "task_id"].contains(&name.as_str())
                    && (*value == json!(id) || *value == json!(id.to_string()));
                (name.clone(), if is_the_id { "<id>".into() } else { comparable(value, id) })
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(|item| comparable(item, id)).collect(),
        // What an approval is about, in words.
        Value::String(text) if *text == format!("task {id}") => "task <id>".into(),
        Value::String(text) => {
            let words = text.split(' ').map(|word| if is_uuid(word) { "<uuid>" } else { word });
            let text = words.collect::<Vec<_>>().join(" ");
            text.replace(&format!("ID: {id}"), "ID: <id>")
                .replace(&format!("task {id}?"), "task <id>?")
                .into()
        }
        other => other.clone(),
    }
}

/// The id of a pending request, which every call that waits for approval makes again.
fn is_uuid(word: &str) -> bool {
    word.trim_end_matches('.').parse::<uuid::Uuid>().is_ok()
}

#[tokio::test]
async fn another_users_task_and_an_unknown_one_give_equal_answers_by_every_tool_and_profile() {
    let servers = servers().await;
    let [(_, sqlite), (_, server), (_, sqlite_again), (_, server_again)] = servers.as_slice() else {
        unreachable!()
    };
    for (one, other) in [(sqlite, sqlite_again), (server, server_again)] {
        let unknown = answers(one, UNKNOWN).await;
        let theirs = answers(other, 1).await;
        for (unknown, theirs) in unknown.iter().zip(&theirs) {
            assert_eq!(unknown, theirs);
        }
        assert_eq!(unknown.len(), theirs.len());
    }
}

#[tokio::test]
async fn another_users_deleted_task_and_an_unknown_one_give_equal_answers() {
    let servers = servers().await;
    let [(_, sqlite), (_, server), (_, sqlite_again), (_, server_again)] = servers.as_slice() else {
        unreachable!()
    };
    for (one, other) in [(sqlite, sqlite_again), (server, server_again)] {
        let unknown = answers(one, UNKNOWN).await;
        let deleted = answers(other, 2).await;
        for (unknown, deleted) in unknown.iter().zip(&deleted) {
            assert_eq!(unknown, deleted);
        }
    }
}

#[tokio::test]
async fn the_table_of_isolation_leaves_no_tool_out() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let table = table(1);
    for profile in ["default", "todo-chatbot", "todo_tasks", "assistant"] {
        let functions =
            server.ask("GET", format!("/api/v1/profiles/{profile}/functions")).key(&key).send().await.json();
        for function in functions.as_array().unwrap().iter().map(|one| &one["function"]) {
            let properties = function["parameters"].to_string();
            if !properties.contains("\"task_id\":{") && !properties.contains("\"taskId\":{") {
                continue;
            }
            let shown = if profile == "default" { "" } else { profile };
            let is_there = table.iter().any(|(one, tool, _)| *one == shown && function["name"] == *tool);
            assert!(is_there, "{profile} {}", function["name"]);
        }
    }
}

#[tokio::test]
async fn what_a_stranger_tries_leaves_the_task_as_it_was() {
    for (_database, server) in servers().await {
        answers(&server, 1).await;
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        let task = ada.call("get-task", json!({ "taskId": 1 })).await.1["data"]["task"].clone();
        assert_eq!((&task["title"], &task["version"]), (&json!("Secret plan"), &json!(1)));
        assert_eq!(ada.ask("list_tasks", json!({})).await["count"], 1, "and the deleted one stays deleted");
    }
}

#[tokio::test]
async fn lists_of_every_profile_show_only_the_callers_tasks() {
    for (_database, server) in servers().await {
        let bob = ProfileClient::new(&server, "assistant", "bob").await;
        let lists = [
            bob.ask("list_tasks", json!({})).await,
            bob.at("todo-chatbot").ask("list_tasks", json!({})).await,
            bob.at("todo_tasks").ask("list_tasks", json!({ "user_id": "bob" })).await["data"].clone(),
            bob.call("list-tasks", json!({ "whole": true })).await.1["data"].clone(),
        ];
        for list in lists {
            assert_eq!(list["tasks"], json!([]));
            assert!(list["count"] == 0 || list["total"] == 0, "{list}");
        }
    }
}

#[tokio::test]
async fn naming_another_user_and_naming_nobody_give_equal_answers() {
    for (_database, server) in servers().await {
        let bob = ProfileClient::new(&server, "todo_tasks", "bob").await;
        for (tool, params) in [
            ("add_task", json!({ "title": "Planted" })),
            ("list_tasks", json!({})),
            ("complete_task", json!({ "task_id": "1" })),
            ("delete_task", json!({ "task_id": "1" })),
            ("update_task", json!({ "task_id": "1", "title": "Mine" })),
        ] {
            let ask = |user: &str| {
                let mut params = params.clone();
                params["user_id"] = json!(user);
                bob.ask(tool, params)
            };
            let (another, nobody) = (ask("ada").await, ask("nobody-of-that-name").await);
            assert_eq!(another.to_string(), nobody.to_string(), "{tool}");
            assert_eq!(another["error"]["code"], "not_found");
        }
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        assert_eq!(ada.ask("list_tasks", json!({})).await["count"], 1);
    }
}
