//! Answers that stream: progress, log lines, listening, and what closing a stream does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;
use toolroom_contract::report::{Level, Progress};
use toolroom_contract::{Answer, Ending};

use super::test_server::{McpTestServer, PATIENCE, open_object, query};

fn reporting() -> toolroom_runtime::catalogue::NewTool {
    query("report-much", open_object(), |_, context| async move {
        for step in [1.0, 2.0, 2.0, 3.0] {
            context.reporter.progress(&Progress { progress: step, total: Some(3.0), message: None });
            context.reporter.log(Level::Info, "a step");
            context.reporter.log(Level::Warning, "look out");
            tokio::task::yield_now().await;
        }
        Ending::Done(Answer::new(json!({ "done": true })).unwrap())
    })
}

#[tokio::test]
async fn progress_comes_before_the_answer_and_only_grows() {
    let server = McpTestServer::with(vec![reporting()]);
    let got = server.call("report-much", json!({})).meta("progressToken", json!("p-1")).send().await;
    assert!(got.head.contains("x-accel-buffering: no"));
    let events = got.events();
    let steps: Vec<f64> = events
        .iter()
        .filter(|event| event["method"] == "notifications/progress")
        .map(|event| {
            assert_eq!(event["params"]["progressToken"], "p-1");
            event["params"]["progress"].as_f64().unwrap()
        })
        .collect();
    assert_eq!(steps, [1.0, 2.0, 3.0]);
    let last = events.last().unwrap();
    assert_eq!(
        (&last["id"], &last["result"]["structuredContent"]["data"]),
        (&json!(1), &json!({ "done": true }))
    );
    assert!(
        events.iter().all(|event| event["method"] != "notifications/message"),
        "nobody asked for log lines"
    );
}

#[tokio::test]
async fn log_lines_come_from_the_level_that_was_asked_for_and_never_unasked() {
    let server = McpTestServer::with(vec![reporting()]);
    let quiet = server.call("report-much", json!({})).send().await;
    assert!(quiet.head.contains("content-type: application/json"));
    let got = server
        .call("report-much", json!({}))
        .meta("io.modelcontextprotocol/logLevel", json!("warning"))
        .send()
        .await;
    let lines: Vec<_> =
        got.events().into_iter().filter(|event| event["method"] == "notifications/message").collect();
    assert_eq!(lines.len(), 4);
    assert!(
        lines.iter().all(|line| line["params"]["level"] == "warning" && line["params"]["data"] == "look out")
    );
}

#[tokio::test]
async fn a_call_that_says_nothing_is_answered_plainly_even_if_it_might_have() {
    let server = McpTestServer::new();
    let got = server.call("get-status", json!({})).meta("progressToken", json!(7)).send().await;
    assert!(got.head.contains("content-type: application/json"), "{}", got.head);
    assert_eq!(got.status, 200);
}

#[tokio::test]
async fn whoever_names_events_first_gets_one_event_and_a_refusal_its_status() {
    let server = McpTestServer::new();
    let events = "text/event-stream, application/json";
    let got = server.ask("tools/list", json!({})).with("Accept", events).send().await;
    assert!(got.head.contains("content-type: text/event-stream"), "{}", got.head);
    assert_eq!(got.status, 200);
    assert!(got.events()[0]["result"]["tools"].is_array(), "{:?}", got.events());
    let got = server.ask("tools/unknown", json!({})).with("Accept", events).send().await;
    assert_eq!(got.error(), (404, -32601));
}

#[tokio::test]
async fn a_refusal_keeps_its_status_though_the_call_might_have_streamed() {
    let server = McpTestServer::new();
    let got = server.ask("tools/call", json!({ "name": 7 })).meta("progressToken", json!(7)).send().await;
    assert_eq!(got.error(), (200, -32602));
}

struct Left(Arc<(AtomicBool, Notify)>);

impl Drop for Left {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::SeqCst);
        self.0.1.notify_one();
    }
}

async fn leaving_stops_the_work(streamed: bool) {
    let left = Arc::new((AtomicBool::new(false), Notify::new()));
    let entered = Arc::new(Notify::new());
    let (flag, gate) = (Arc::clone(&left), Arc::clone(&entered));
    let server = McpTestServer::with(vec![query("wait-long", open_object(), move |_, context| {
        let (guard, gate) = (Left(Arc::clone(&flag)), Arc::clone(&gate));
        async move {
            let _guard = guard;
            context.reporter.progress(&Progress { progress: 1.0, total: None, message: None });
            gate.notify_one();
            std::future::pending::<()>().await;
            unreachable!()
        }
    })]);
    let mut ask = server.call("wait-long", json!({}));
    if streamed {
        ask = ask.meta("progressToken", json!(1));
    }
    let mut events = ask.open().await;
    timeout(PATIENCE, entered.notified()).await.expect("the tool runs");
    if streamed {
        assert_eq!(events.next().await.unwrap()["method"], "notifications/progress");
    }
    assert!(!left.0.load(Ordering::SeqCst));
    drop(events);
    timeout(PATIENCE, left.1.notified()).await.expect("the work is dropped");
}

#[tokio::test]
async fn closing_the_stream_stops_the_work() {
    leaving_stops_the_work(true).await;
}

#[tokio::test]
async fn closing_the_connection_before_any_answer_stops_the_work() {
    leaving_stops_the_work(false).await;
}

#[tokio::test]
async fn listening_is_acknowledged_first_and_tells_of_changes_and_of_the_end() {
    let server = McpTestServer::new();
    let listen = |wanted| {
        let mut ask = server.ask("subscriptions/listen", json!({ "notifications": wanted }));
        ask.message["id"] = json!("sub-1");
        ask
    };
    let mut tools = listen(
        json!({ "toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["x:y"] }),
    )
    .open()
    .await;
    let mut nothing = listen(json!({})).open().await;
    let first = tools.next().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub-1");
    let granted = json!({ "toolsListChanged": true, "promptsListChanged": true });
    assert_eq!(first["params"]["notifications"], granted, "nobody can watch x:y");
    assert_eq!(nothing.next().await.unwrap()["params"]["notifications"], json!({}));
    let today = jiff::Zoned::now().date();
    server.app.runtime.registry.register(reporting(), today).await.unwrap();
    let change = tools.next().await.unwrap();
    assert_eq!(change["method"], "notifications/tools/list_changed");
    assert_eq!(change["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub-1");
    server.app.stopping.cancel();
    for stream in [&mut tools, &mut nothing] {
        let end = stream.next().await.unwrap();
        assert_eq!((&end["id"], &end["result"]["resultType"]), (&json!("sub-1"), &json!("complete")));
        assert_eq!(end["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub-1");
        assert_eq!(stream.next().await, None);
    }
}
