//! The stream of a run: events with ids, taken up again after any of them.

use serde_json::{Value, json};

use super::scripted::{Scripted, call};
use crate::test_server::TestServer;

/// The events of a stream: id, name, data.
fn events(text: &str) -> Vec<(String, String, Value)> {
    let blocks = text.split("\n\n").filter(|block| block.contains("data:"));
    blocks
        .map(|block| {
            let field = |name: &str| {
                let line = block.lines().find_map(|line| line.strip_prefix(name));
                line.unwrap_or_default().trim().to_owned()
            };
            (field("id:"), field("event:"), serde_json::from_str(&field("data:")).unwrap())
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_projects_the_event_log_and_ends_with_the_published_answer() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let body = json!({ "message": "add buy milk", "profile": "todo-chatbot" });
    let sent = server.ask("POST", "/api/v1/chat?stream=true").key(&key).body(body).send().await;
    assert_eq!(sent.headers["content-type"], "text/event-stream");
    let events = events(&sent.text);
    let names: Vec<&str> = events.iter().map(|(_, name, _)| name.as_str()).collect();
    assert_eq!((names[0], names[1], names[2]), ("started", "tool_started", "tool_finished"), "{names:?}");
    assert_eq!(names.last(), Some(&"done"));
    let run = sent.headers["x-run-id"].to_str().unwrap();
    for (at, (id, ..)) in events.iter().enumerate() {
        assert_eq!(*id, format!("{run}:{at}"));
    }
    let words: String = events
        .iter()
        .filter(|(_, name, _)| name == "text")
        .map(|(_, _, data)| data["text"].as_str().unwrap())
        .collect();
    let done = &events.last().unwrap().2;
    assert_eq!(done["response"], words.as_str());
    assert_eq!(done["conversation_id"], events[0].2["conversation_id"]);
    let whole = server.ask("GET", format!("/api/v1/chat/{run}")).key(&key).send().await.json();
    assert_eq!(whole, *done, "the answer is the same without a stream");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_taken_up_after_any_event_and_nothing_is_done_again() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let bob = server.key(json!({ "user": "bob" })).await;
    let body = json!({ "message": "add buy milk", "profile": "todo-chatbot" });
    let sent = server.ask("POST", "/api/v1/chat?stream=true").key(&key).body(body.clone()).send().await;
    let all = events(&sent.text);
    let run = sent.headers["x-run-id"].to_str().unwrap().to_owned();
    for (at, (id, ..)) in all.iter().enumerate() {
        for (method, path) in
            [("POST", "/api/v1/chat?stream=true".to_owned()), ("GET", format!("/api/v1/chat/{run}"))]
        {
            let mut ask = server.ask(method, path).key(&key).header("last-event-id", id.clone());
            if method == "POST" {
                ask = ask.body(body.clone());
            }
            let again = ask.send().await;
            if at + 1 == all.len() {
                assert_eq!(again.status, 204, "nothing more will come");
            } else {
                assert_eq!(events(&again.text), all[at + 1..], "{method} after {at}");
            }
        }
    }
    let tasks = server.function(&key, "todo-chatbot", "list_tasks", json!({})).await.json();
    assert_eq!(tasks["count"], 1, "{tasks}");
    let foreign = server.ask("GET", format!("/api/v1/chat/{run}")).key(&bob).send().await;
    assert_eq!(foreign.status, 404);
    let foreign = server.ask("POST", format!("/api/v1/chat/{run}/cancel")).key(&bob).send().await;
    assert_eq!(foreign.status, 404);
    let wrong =
        server.ask("GET", format!("/api/v1/chat/{run}")).key(&key).header("last-event-id", "x").send();
    assert_eq!(wrong.await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_neither_ends_nor_repeats_a_run() {
    let model = Scripted::waiting([call("create-task", json!({ "title": "Once" }))]);
    let server = TestServer::speaking(model.clone());
    let key = server.key(json!({ "user": "ada" })).await;
    let body = json!({ "message": "add Once" });
    let ask = server.ask("POST", "/api/v1/chat?stream=true").key(&key).body(body);
    let (head, stream) = ask.open().await;
    let run = head.headers["x-run-id"].to_str().unwrap().to_owned();
    drop(stream);
    model.gate.add_permits(2);
    let again = server.ask("GET", format!("/api/v1/chat/{run}?stream=true")).key(&key).send().await;
    let events = events(&again.text);
    assert_eq!(events.last().unwrap().1, "done");
    assert!(events.last().unwrap().2["response"].as_str().unwrap().contains("Added task 1"), "{events:?}");
    let tasks = server.function(&key, "todo-chatbot", "list_tasks", json!({})).await.json();
    assert_eq!(tasks["count"], 1, "{tasks}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_cancelled_by_its_id() {
    let model = Scripted::waiting([call("create-task", json!({ "title": "Too late" }))]);
    let server = TestServer::speaking(model.clone());
    let key = server.key(json!({ "user": "ada" })).await;
    let ask = server.ask("POST", "/api/v1/chat?stream=true").key(&key).body(json!({ "message": "add it" }));
    let (head, stream) = ask.open().await;
    let run = head.headers["x-run-id"].to_str().unwrap().to_owned();
    let cancelled = server.ask("POST", format!("/api/v1/chat/{run}/cancel")).key(&key).send().await;
    assert_eq!(cancelled.status, 204);
    drop(stream);
    let answer = server.ask("GET", format!("/api/v1/chat/{run}")).key(&key).send().await.json();
    assert!(answer["response"].as_str().unwrap().contains("Nothing was changed"), "{answer}");
}
