//! The tasks extension: slow calls that go on when their request has been answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;
use toolroom_contract::definition::Example;
use toolroom_contract::report::Progress;
use toolroom_contract::{
    Answer, ClientInput, ClientRequest, Ending, ErrorCode, ResponseTime, ToolDefinition, ToolError,
};
use toolroom_runtime::catalogue::NewTool;

use super::test_server::{Ask, McpTestServer, PATIENCE, native, open_object};

/// A slow tool that waits to be let go.
#[derive(Clone, Default)]
struct Gate {
    open: Arc<Notify>,
    running: Arc<AtomicUsize>,
}

struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Gate {
    async fn pass(&self) {
        self.running.fetch_add(1, Ordering::SeqCst);
        let _running = Running(Arc::clone(&self.running));
        self.open.notified().await;
    }

    async fn is_empty(&self) {
        let empty = async {
            while self.running.load(Ordering::SeqCst) > 0 {
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, empty).await.expect("the tool to be stopped");
    }
}

fn slow(name: &str) -> ToolDefinition {
    ToolDefinition {
        parameters: open_object(),
        output: Some(json!({ "type": "object" })),
        response_time: ResponseTime::Slow,
        examples: vec![Example::new("As it is", &json!({}), json!({}))],
        tags: vec!["test".into()],
        ..ToolDefinition::query(name, "A slow tool of a test. Use it in tests. Returns what the test says.")
    }
}

fn waits(gate: &Gate) -> NewTool {
    let gate = gate.clone();
    native(slow("wait-long"), move |_, context| {
        let gate = gate.clone();
        async move {
            let half = Progress { progress: 1.0, total: Some(2.0), message: Some("half way".into()) };
            context.reporter.progress(&half);
            gate.pass().await;
            Ending::Done(Answer::new(json!({ "done": true })).unwrap())
        }
    })
}

fn breaks(gate: &Gate) -> NewTool {
    let gate = gate.clone();
    native(slow("break-down"), move |_, _| {
        let gate = gate.clone();
        async move {
            gate.pass().await;
            Ending::Failed(ToolError::new(ErrorCode::Internal, "It broke."))
        }
    })
}

fn asks(gate: &Gate) -> NewTool {
    let gate = gate.clone();
    native(slow("ask-twice"), move |_, context| {
        let gate = gate.clone();
        async move {
            let client = context.client.as_deref().cloned().unwrap_or_default();
            if client.responses.len() == 2 {
                return Ending::Done(Answer::new(json!({ "answers": client.responses })).unwrap());
            }
            gate.pass().await;
            let form = |text: &str| ClientRequest {
                method: "elicitation/create".into(),
                params: json!({ "message": text, "requestedSchema": { "type": "object", "properties": {} } }),
            };
            let requests = [("one".to_owned(), form("One?")), ("two".to_owned(), form("Two?"))].into();
            Ending::NeedsClient(ClientInput { requests, state: None })
        }
    })
}

fn able(ask: Ask) -> Ask {
    ask.capable(json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } }))
}

async fn begin(server: &McpTestServer, tool: &str) -> String {
    let created = able(server.call(tool, json!({}))).send().await.result();
    assert_eq!(
        (&created["resultType"], &created["status"]),
        (&json!("task"), &json!("working")),
        "{created}"
    );
    assert!(
        created["ttlMs"].is_u64() && created["pollIntervalMs"].is_u64() && created.get("result").is_none()
    );
    created["taskId"].as_str().unwrap().to_owned()
}

fn about(server: &McpTestServer, method: &str, id: &str) -> Ask {
    able(server.ask(method, json!({ "taskId": id })))
}

/// How the task stands, once it stands so.
async fn once(server: &McpTestServer, id: &str, status: &str) -> Value {
    let reached = async {
        loop {
            let task = about(server, "tasks/get", id).send().await.result();
            if task["status"] == status {
                return task;
            }
            assert_ne!(task["status"], "failed", "{task}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, reached).await.unwrap_or_else(|_| panic!("{id} never became {status}"))
}

#[tokio::test]
async fn a_slow_call_becomes_a_task_and_its_outcome_can_be_asked_for_later() {
    let gate = Gate::default();
    let server = McpTestServer::with(vec![waits(&gate)]);
    let id = begin(&server, "wait-long").await;
    let working = once(&server, &id, "working").await;
    assert_eq!(working["statusMessage"], "half way");
    gate.open.notify_one();
    let done = once(&server, &id, "completed").await;
    assert_eq!(done["result"]["structuredContent"]["data"]["done"], true);
    assert!(done.get("error").is_none() && done.get("inputRequests").is_none());
}

#[tokio::test]
async fn a_client_that_does_not_know_tasks_waits_for_the_answer() {
    let gate = Gate::default();
    let server = McpTestServer::with(vec![waits(&gate)]);
    gate.open.notify_one();
    let result = server.call("wait-long", json!({})).send().await.result();
    assert_eq!(
        (&result["resultType"], &result["structuredContent"]["data"]["done"]),
        (&json!("complete"), &json!(true))
    );
    let got = server.ask("tasks/get", json!({ "taskId": "x" })).send().await;
    assert_eq!(got.error(), (400, -32021));
    assert!(
        got.json()["error"]["data"]["requiredCapabilities"]["extensions"]["io.modelcontextprotocol/tasks"]
            .is_object()
    );
}

#[tokio::test]
async fn what_ends_at_once_is_answered_in_place() {
    let server = McpTestServer::with(vec![native(slow("be-quick"), |_, _| async {
        Ending::Done(Answer::new(json!({ "quick": true })).unwrap())
    })]);
    let result = able(server.call("be-quick", json!({}))).send().await.result();
    assert_eq!(
        (&result["resultType"], &result["structuredContent"]["data"]["quick"]),
        (&json!("complete"), &json!(true))
    );
}

#[tokio::test]
async fn promise_cancelling_a_task_stops_the_work_and_is_final() {
    let gate = Gate::default();
    let server = McpTestServer::with(vec![waits(&gate)]);
    let id = begin(&server, "wait-long").await;
    assert_eq!(gate.running.load(Ordering::SeqCst), 1);
    for _ in 0..2 {
        let acknowledged = about(&server, "tasks/cancel", &id).send().await.result();
        assert!(acknowledged.get("taskId").is_none());
    }
    gate.is_empty().await;
    gate.open.notify_one();
    once(&server, &id, "cancelled").await;
}

#[tokio::test]
async fn a_request_that_is_given_up_before_it_became_a_task_stops_its_work() {
    let gate = Gate::default();
    let server = McpTestServer::with(vec![waits(&gate)]);
    let events = able(server.call("wait-long", json!({}))).open().await;
    let begun = async {
        while gate.running.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, begun).await.expect("the tool to run");
    drop(events);
    // Either the client left in time and the work is stopped, or it holds a task that goes on: here it left.
    if timeout(Duration::from_secs(2), gate.is_empty()).await.is_err() {
        panic!("the work goes on though nobody can ask for it");
    }
}

#[tokio::test]
async fn a_task_asks_takes_answers_one_by_one_and_goes_on_with_all_of_them() {
    let gate = Gate::default();
    let server = McpTestServer::with(vec![asks(&gate)]);
    let id = begin(&server, "ask-twice").await;
    gate.open.notify_one();
    let asking = once(&server, &id, "input_required").await;
    assert_eq!(asking["inputRequests"]["one"]["method"], "elicitation/create");
    let answer = |key: &str| {
        let responses = json!({ key: { "action": "accept", "content": {} }, "unasked": {} });
        about(&server, "tasks/update", &id).param("inputResponses", responses)
    };
    answer("one").send().await.result();
    let half = once(&server, &id, "input_required").await;
    assert!(half["inputRequests"].get("one").is_none() && half["inputRequests"]["two"].is_object());
    answer("two").send().await.result();
    let done = once(&server, &id, "completed").await;
    let answers = &done["result"]["structuredContent"]["data"]["answers"];
    assert!(answers["one"].is_object() && answers["two"].is_object() && answers.get("unasked").is_none());
}

#[tokio::test]
async fn promise_a_task_is_its_makers_alone() {
    let gate = Gate::default();
    let server = McpTestServer::with(vec![waits(&gate)]);
    let (ada, bob) = (server.key("ada", &["*"], None).await, server.key("bob", &["*"], None).await);
    let created = able(server.call("wait-long", json!({}))).key(&ada).send().await.result();
    let id = created["taskId"].as_str().unwrap();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let theirs =
            about(&server, method, id).param("inputResponses", json!({})).key(&bob).send().await.json();
        let nobodys =
            about(&server, method, "none").param("inputResponses", json!({})).key(&bob).send().await.json();
        assert_eq!(theirs["error"]["code"], -32602);
        assert_eq!(theirs["error"], nobodys["error"]);
    }
    assert_eq!(about(&server, "tasks/get", id).key(&ada).send().await.result()["status"], "working");
}

#[tokio::test]
async fn a_listener_is_told_how_a_task_ends_and_what_broke_is_a_failed_task() {
    let gate = Gate::default();
    let server = McpTestServer::with(vec![breaks(&gate)]);
    let id = begin(&server, "break-down").await;
    let wanted = json!({ "taskIds": [id, "another"] });
    let mut events =
        able(server.ask("subscriptions/listen", json!({ "notifications": wanted }))).open().await;
    assert_eq!(events.next().await.unwrap()["params"]["notifications"]["taskIds"], json!([id]));
    assert_eq!(events.next().await.unwrap()["params"]["status"], "working");
    gate.open.notify_one();
    let told = events.next().await.unwrap();
    assert_eq!(
        (&told["method"], &told["params"]["status"]),
        (&json!("notifications/tasks"), &json!("failed"))
    );
    assert_eq!((&told["params"]["taskId"], &told["params"]["error"]["code"]), (&json!(id), &json!(-32603)));
    assert!(told["params"].get("result").is_none());
}
