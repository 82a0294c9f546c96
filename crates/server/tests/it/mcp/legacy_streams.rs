//! Streams in a session: progress, cancelling, questions to the client, changes, and what being cut off does.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio::time::timeout;
use toolroom_contract::client_side::{ClientInput, ClientRequest};
use toolroom_contract::report::{Level, Progress};
use toolroom_contract::{Answer, Ending};
use toolroom_runtime::catalogue::NewTool;

use super::legacy::{Gate, Legacy, NEWEST, call, cancel, request};
use super::test_server::{McpTestServer, PATIENCE, open_object, query};

fn reporting() -> NewTool {
    query("report-much", open_object(), |_, context| async move {
        for step in [0.0, 1.0, 2.0] {
            context.reporter.progress(&Progress { progress: step, total: Some(2.0), message: None });
            context.reporter.log(Level::Info, "a step");
            context.reporter.log(Level::Warning, "look out");
        }
        Ending::Done(Answer::new(json!({ "done": true })).unwrap())
    })
}

fn with_progress(mut message: Value) -> Value {
    message["params"]["_meta"] = json!({ "progressToken": "p-1" });
    message
}

#[tokio::test]
async fn progress_and_log_lines_come_before_the_answer_on_a_numbered_stream() {
    let server = McpTestServer::with(vec![reporting()]);
    let client = Legacy::begin(&server, NEWEST).await;
    let quieter = client.ask("logging/setLevel", json!({ "level": "warning" })).await;
    assert_eq!(quieter.result(), json!({}));
    let mut stream = client.open(&with_progress(call(7, "report-much", json!({})))).await;
    let first = stream.next().await.unwrap();
    assert!(stream.head.to_lowercase().contains("content-type: text/event-stream"));
    assert!(first.data.is_empty() && first.id.is_some() && first.retry.is_some(), "{first:?}");
    let (mut ids, mut seen) = (vec![first.id], Vec::new());
    while let Some(event) = stream.next().await {
        seen.push(event.json());
        ids.push(event.id);
    }
    let steps: Vec<&Value> = seen
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .map(|message| &message["params"]["progress"])
        .collect();
    assert_eq!(steps, [&json!(0.0), &json!(1.0), &json!(2.0)]);
    let lines = seen.iter().filter(|message| message["method"] == "notifications/message");
    assert!(lines.clone().all(|line| line["params"]["level"] == "warning"));
    assert_eq!(lines.count(), 3);
    assert_eq!(seen.last().unwrap()["id"], 7);
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "no id comes twice");
}

#[tokio::test]
async fn older_clients_get_no_event_without_data() {
    let server = McpTestServer::with(vec![reporting()]);
    let client = Legacy::begin(&server, "2025-06-18").await;
    let mut stream = client.open(&with_progress(call(7, "report-much", json!({})))).await;
    assert_eq!(stream.message().await["method"], "notifications/progress");
}

#[tokio::test]
async fn whoever_names_events_first_gets_a_stream() {
    let server = McpTestServer::new();
    let client = Legacy::begin(&server, NEWEST).await.with("Accept", "text/event-stream, application/json");
    let mut stream = client.open(&request(3, "tools/list", json!({}))).await;
    assert_eq!(stream.next().await.unwrap().data, "");
    assert_eq!(stream.message().await["id"], 3);
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn promise_a_cancelled_request_stops_and_is_not_answered() {
    let (gate, tool) = Gate::tool();
    let server = McpTestServer::with(vec![tool]);
    let client = Legacy::begin(&server, NEWEST).await;
    let mut plain = client.open(&call("a", "wait-long", json!({}))).await;
    gate.entered().await;
    assert_eq!(client.post(&cancel("b")).await.status, 202, "nothing of that id runs");
    assert_eq!(client.post(&cancel("a")).await.status, 202);
    gate.left().await;
    assert_eq!(plain.status().await, 202);
    let mut streamed = client.open(&with_progress(call("a", "wait-long", json!({})))).await;
    gate.entered().await;
    assert_eq!(streamed.next().await.unwrap().data, "");
    assert_eq!(streamed.message().await["method"], "notifications/progress");
    assert_eq!(client.post(&cancel("a")).await.status, 202);
    gate.left().await;
    assert_eq!(streamed.next().await, None);
}

#[tokio::test]
async fn one_client_cannot_cancel_anothers_request_of_the_same_id() {
    let (gate, tool) = Gate::tool();
    let server = McpTestServer::with(vec![tool]);
    let (one, other) = (Legacy::begin(&server, NEWEST).await, Legacy::begin(&server, NEWEST).await);
    let mut answer = one.open(&call(1, "wait-long", json!({}))).await;
    gate.entered().await;
    assert_eq!(other.post(&cancel(1)).await.status, 202);
    assert_eq!(one.post(&call(1, "get-status", json!({}))).await.error(), (200, -32600), "the id is in use");
    gate.go.add_permits(1);
    assert_eq!(answer.status().await, 200);
}

#[tokio::test]
async fn promise_leaving_stops_the_work_of_a_session() {
    let (gate, tool) = Gate::tool();
    let server = McpTestServer::with(vec![tool]);
    let client = Legacy::begin(&server, NEWEST).await;
    for message in [call(1, "wait-long", json!({})), with_progress(call(1, "wait-long", json!({})))] {
        let stream = client.open(&message).await;
        gate.entered().await;
        drop(stream);
        gate.left().await;
    }
}

#[tokio::test]
async fn ending_the_session_stops_its_work() {
    let (gate, tool) = Gate::tool();
    let server = McpTestServer::with(vec![tool]);
    let client = Legacy::begin(&server, NEWEST).await;
    let _stream = client.open(&call(1, "wait-long", json!({}))).await;
    gate.entered().await;
    assert_eq!(client.delete().await.status, 204);
    gate.left().await;
}

#[tokio::test]
async fn a_client_that_was_cut_off_takes_its_stream_up_where_it_lost_it() {
    let (gate, tool) = Gate::tool();
    let server = McpTestServer::with(vec![tool]);
    let client = Legacy::begin(&server, NEWEST).await;
    let mut stream = client.open(&with_progress(call(5, "wait-long", json!({})))).await;
    let primed = stream.next().await.unwrap().id.unwrap();
    gate.entered().await;
    drop(stream);
    // The server may learn of it a moment later than we do it.
    let mut again = loop {
        let mut again = client.resume(&primed).await;
        if again.status().await == 200 {
            break again;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(again.message().await["method"], "notifications/progress", "it was not seen before");
    gate.go.add_permits(1);
    assert_eq!(again.message().await["result"]["structuredContent"]["data"], json!({ "waited": true }));
    assert_eq!(again.next().await, None);
    for nothing in ["999-0", "x", "1-99"] {
        assert_eq!(client.resume(nothing).await.status().await, 204, "{nothing}");
    }
}

#[tokio::test]
async fn promise_a_listening_client_hears_of_changes_also_of_those_it_missed() {
    let server = McpTestServer::new();
    let client = Legacy::begin(&server, NEWEST).await;
    let register = async |name: &str| {
        let tool = query(name, open_object(), |_, _| async { unreachable!() });
        server.app.runtime.registry.register(tool, jiff::Zoned::now().date()).await.unwrap();
    };
    register("came-first").await;
    let mut stream = client.listen().await;
    assert_eq!(stream.message().await["method"], "notifications/tools/list_changed");
    register("came-second").await;
    assert_eq!(stream.message().await["method"], "notifications/tools/list_changed");
    // Its contract is a resource.
    assert_eq!(stream.message().await["method"], "notifications/resources/list_changed");
    let mut newer = client.listen().await;
    assert_eq!(newer.status().await, 200);
    assert_eq!(stream.next().await, None, "the newer stream takes its place");
    register("came-third").await;
    assert_eq!(newer.message().await["method"], "notifications/tools/list_changed");
    assert_eq!(newer.message().await["method"], "notifications/resources/list_changed");
    server.app.stopping.cancel();
    assert_eq!(newer.next().await, None);
}

fn asking() -> NewTool {
    query("ask-back", open_object(), |_, context| async move {
        let answered = context.client.as_ref().and_then(|client| client.responses.get("name").cloned());
        match answered {
            Some(answer) => Ending::Done(Answer::new(json!({ "answer": answer })).unwrap()),
            None => Ending::NeedsClient(ClientInput {
                requests: BTreeMap::from([(
                    "name".to_owned(),
                    ClientRequest {
                        method: "elicitation/create".into(),
                        params: json!({ "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } }),
                    },
                )]),
                state: None,
            }),
        }
    })
}

#[tokio::test]
async fn promise_a_tool_asks_the_client_in_the_middle_of_its_call() {
    let server = McpTestServer::with(vec![asking()]);
    let client = Legacy::to(&server).begun(NEWEST, json!({ "elicitation": {} })).await;
    let mut stream = client.open(&call(9, "ask-back", json!({}))).await;
    assert_eq!(stream.next().await.unwrap().data, "");
    let asked = stream.message().await;
    assert_eq!(
        (&asked["method"], &asked["params"]["message"]),
        (&json!("elicitation/create"), &json!("Who?"))
    );
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    let other = Legacy::to(&server).begun(NEWEST, json!({})).await;
    let told = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer });
    assert_eq!(other.post(&told).await.status, 202, "another's answer is nobody's");
    assert_eq!(client.post(&told).await.status, 202);
    let last = stream.message().await;
    assert_eq!((&last["id"], &last["result"]["structuredContent"]["data"]["answer"]), (&json!(9), &answer));
}

#[tokio::test]
async fn a_question_that_nobody_needs_any_more_is_called_off() {
    let server = McpTestServer::with(vec![asking()]);
    let client = Legacy::to(&server).begun(NEWEST, json!({ "elicitation": {} })).await;
    let mut stream = client.open(&call(9, "ask-back", json!({}))).await;
    stream.next().await;
    let asked = stream.message().await;
    client.post(&cancel(9)).await;
    let off = timeout(PATIENCE, stream.message()).await.unwrap();
    assert_eq!(
        (&off["method"], &off["params"]["requestId"]),
        (&json!("notifications/cancelled"), &asked["id"])
    );
    assert_eq!(stream.next().await, None);
}
