//! One stream of events: what happens is told to those who may see it, each thing once, and nothing is missed.

use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::test_server::{Ask, TestServer};

/// Longer than anything here may take; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_secs(20);

struct Events {
    body: Body,
    rest: String,
}

struct Event {
    id: String,
    name: String,
    data: Value,
}

impl Events {
    /// The stream, and its first event.
    async fn open(ask: Ask<'_>) -> (Self, Event) {
        let (answer, body) = ask.open().await;
        assert_eq!(answer.status, 200);
        assert!(answer.headers["content-type"].to_str().unwrap().starts_with("text/event-stream"));
        let mut events = Self { body, rest: String::new() };
        let first = events.next().await;
        (events, first)
    }

    async fn next(&mut self) -> Event {
        timeout(PATIENCE, async {
            loop {
                if let Some((text, rest)) = self.rest.split_once("\n\n") {
                    let field =
                        |name| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                    let event = Event {
                        id: field("id").unwrap_or_default().to_owned(),
                        name: field("event").unwrap_or_default().to_owned(),
                        data: field("data").map_or(Value::Null, |data| serde_json::from_str(data).unwrap()),
                    };
                    self.rest = rest.to_owned();
                    if !event.name.is_empty() {
                        return event;
                    }
                    continue;
                }
                let frame = self.body.frame().await.expect("the stream goes on").unwrap();
                self.rest.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
            }
        })
        .await
        .expect("an event comes")
    }

    async fn named(&mut self, name: &str) -> Event {
        loop {
            let event = self.next().await;
            if event.name == name {
                return event;
            }
        }
    }

    /// Rows until this many ended calls of the tool were told, by their ids.
    async fn ended(&mut self, tool: &str, count: usize) -> (Vec<String>, String) {
        let (mut found, mut last) = (Vec::new(), String::new());
        while found.len() < count {
            let event = self.named("execution").await;
            for row in event.data["rows"].as_array().unwrap() {
                if row["tool"] == tool && row["status"] != "running" {
                    found.push(row["executionId"].as_str().unwrap().to_owned());
                }
            }
            last = event.id;
        }
        (found, last)
    }
}

fn follow<'a>(server: &'a TestServer, key: &str) -> Ask<'a> {
    server.ask("GET", "/api/v1/events").key(key)
}

async fn status(server: &TestServer, key: &str) -> String {
    let answer = server.call(key, "get-status", json!({})).await.json();
    answer["metadata"]["executionId"].as_str().unwrap().to_owned()
}

async fn held(server: &TestServer, key: &str) -> String {
    let made = server.call(key, "create-task", json!({ "title": "Delete me" })).await.json();
    let held = server.call(key, "delete-task", json!({ "taskId": made["data"]["task"]["taskId"] })).await;
    assert_eq!(held.status, 202, "{}", held.text);
    held.json()["pending"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_calls_approvals_and_the_catalogue_are_told_as_they_change() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada", "grants": ["tasks:*", "registry:write", "status:*"] })).await;
    let (mut events, first) = Events::open(follow(&server, &key)).await;
    assert_eq!((first.name.as_str(), first.id.is_empty()), ("ready", false));
    let called = status(&server, &key).await;
    assert_eq!(events.ended("get-status", 1).await.0, [called]);

    let id = held(&server, &key).await;
    let open = events.named("approval").await.data;
    assert_eq!(
        (&open["id"], &open["state"], &open["tool"]),
        (&json!(id), &json!("open"), &json!("delete-task"))
    );
    let path = format!("/api/v1/approvals/{id}");
    let listed = server.ask("GET", "/api/v1/approvals").key(&key).send().await.json();
    assert_eq!(listed["approvals"][0], open, "as in the list");
    server.ask("POST", path).owner().body(json!({ "decision": "deny" })).send().await;
    let decided = events.named("approval").await.data;
    assert_eq!((&decided["id"], &decided["state"]), (&json!(id), &json!("denied")));

    let entry = json!({
        "name": "say-hello", "description": "Says hello. Use it to greet. Returns the greeting.", "category": "query",
        "input_schema": { "type": "object", "properties": {} },
        "config": { "script_path": "hello.py" }, "script": "def run(params, context):\n    return {'hello': 1}\n",
    });
    let made = server.ask("POST", "/api/v1/tools").key(&key).body(entry).send().await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert!(events.named("catalogue").await.data["version"].is_u64());
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_who_comes_back_misses_nothing_and_is_told_nothing_twice() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let (mut events, _) = Events::open(follow(&server, &key)).await;
    status(&server, &key).await;
    let (_, last) = events.ended("get-status", 1).await;
    drop(events);
    let mut missed = vec![status(&server, &key).await, status(&server, &key).await];
    let id = held(&server, &key).await;
    let (mut events, first) = Events::open(follow(&server, &key).header("last-event-id", &last)).await;
    assert_eq!(first.name, "ready");
    assert_eq!(events.named("approval").await.data["id"], json!(id));
    let (mut told, last) = events.ended("get-status", 2).await;
    told.sort();
    missed.sort();
    assert_eq!(told, missed);
    drop(events);
    let after = status(&server, &key).await;
    let (mut events, _) = Events::open(follow(&server, &key).header("last-event-id", last)).await;
    assert_eq!(events.ended("get-status", 1).await.0, [after]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_to_another_process_reads_the_lists_again_and_misses_no_call() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada", "grants": ["*"] })).await;
    let (_, first) = Events::open(follow(&server, &key)).await;
    let called = status(&server, &key).await;
    let (_, cursor) = first.id.split_once('@').unwrap();
    let before = format!("7.00000000-0000-7000-8000-000000000000@{cursor}");
    let (mut events, first) = Events::open(follow(&server, &key).header("last-event-id", before)).await;
    assert_eq!(first.name, "lost");
    assert_eq!(events.ended("get-status", 1).await.0, [called]);
    for strange in ["", "x", "1.2@3", "18446744073709551615.x@2026-01-01"] {
        let (_, first) = Events::open(follow(&server, &key).header("last-event-id", strange)).await;
        assert_eq!(first.name, "lost", "{strange:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_others_calls_and_approvals_are_not_told_without_the_grants() {
    let server = TestServer::new();
    let (ada, bob) = (server.key(json!({ "user": "ada" })).await, server.key(json!({ "user": "bob" })).await);
    let overseer =
        json!({ "user": "eve", "grants": ["executions:read", "approvals:decide"], "person": true });
    let overseer = server.key(overseer).await;
    let (mut of_bob, _) = Events::open(follow(&server, &bob)).await;
    let (mut of_all, _) = Events::open(follow(&server, &overseer)).await;
    let id = held(&server, &ada).await;
    let called = status(&server, &bob).await;
    assert_eq!(of_all.named("approval").await.data["id"], json!(id));
    loop {
        let event = of_bob.next().await;
        assert_ne!(event.name, "approval");
        let rows = event.data["rows"].as_array().cloned().unwrap_or_default();
        assert!(rows.iter().all(|row| row["user"] == "bob"), "{rows:?}");
        if rows.iter().any(|row| row["executionId"] == json!(called)) {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_tells_nothing_of_what_others_do() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let (_, first) = Events::open(follow(&server, &key)).await;
    let (_, again) = Events::open(follow(&server, &key)).await;
    assert!(!first.id.contains('@') && first.id != again.id, "{} {}", first.id, again.id);
    assert_eq!(first.id.len(), again.id.len());
    let (_, strange) = Events::open(follow(&server, &key).header("last-event-id", "1.x@2026-01-01")).await;
    assert_eq!(strange.name, "lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_very_many_new_calls_the_newest_are_told_and_the_rest_counted() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let (events, first) = Events::open(follow(&server, &key)).await;
    drop(events);
    for _ in 0..260 {
        status(&server, &key).await;
    }
    let newest = status(&server, &key).await;
    let (mut events, _) = Events::open(follow(&server, &key).header("last-event-id", &first.id)).await;
    let event = events.named("execution").await.data;
    let rows = event["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &event["skipped"]), (200, &json!(61)));
    assert_eq!(rows.last().unwrap()["executionId"], json!(newest));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_is_told_is_a_short_one() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let (mut events, _) = Events::open(follow(&server, &key)).await;
    let long = "x".repeat(10_000);
    server.call(&key, "create-task", json!({ "title": "t", "description": long })).await;
    let event = events.named("execution").await.data;
    let row = &event["rows"][0];
    assert_eq!((row.get("output"), &row["input"]), (None, &Value::Null), "{row}");
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_are_chosen_by_name() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let refused = server.ask("GET", "/api/v1/events?topics=approvals,x").key(&key).send().await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (400, "invalid_input"));
    let ask = server.ask("GET", "/api/v1/events?topics=approvals").key(&key);
    let (mut events, _) = Events::open(ask).await;
    let id = held(&server, &key).await;
    let first = events.next().await;
    assert_eq!((first.name.as_str(), &first.data["id"]), ("approval", &json!(id)), "no calls before it");
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_a_revoked_key_ends_its_stream_of_events_within_a_second() {
    let server = TestServer::new();
    let made = server.ask("POST", "/api/v1/keys").owner().body(json!({ "user": "ada" })).send().await.json();
    let (events, _) = Events::open(follow(&server, made["key"].as_str().unwrap())).await;
    let gone = server.ask("DELETE", format!("/api/v1/keys/{}", made["id"])).owner().send().await;
    assert_eq!(gone.status, 200);
    timeout(Duration::from_secs(1), events.body.collect()).await.expect("the stream goes on").unwrap();
}
