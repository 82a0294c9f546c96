//! HTTP+SSE as of 2024-11-05: the stream is the session, messages are posted beside it.

use serde_json::{Value, json};

use super::legacy::{Gate, Legacy, Stream, call, cancel, request};
use super::test_server::{McpTestServer, open_object, query};

pub struct Old {
    pub stream: Stream,
    pub posts: Legacy,
}

impl Old {
    async fn open(server: &McpTestServer, path: &str, key: Option<&str>) -> Self {
        let mut posts = Legacy::to(server);
        if let Some(key) = key {
            posts = posts.key(key);
        }
        posts.path = path.into();
        let mut stream = posts.listen().await;
        let first = stream.next().await.expect("an endpoint");
        assert_eq!(first.name.as_deref(), Some("endpoint"));
        posts.path = first.data;
        Self { stream, posts }
    }

    pub async fn begin(server: &McpTestServer, path: &str, key: Option<&str>) -> Self {
        let mut old = Self::open(server, path, key).await;
        let got = old.posts.initialize("2024-11-05", json!({})).await;
        assert_eq!((got.status, got.text.as_str()), (202, ""));
        assert_eq!(old.stream.message().await["result"]["protocolVersion"], "2024-11-05");
        old
    }

    async fn ask(&mut self, message: &Value) -> Value {
        assert_eq!(self.posts.post(message).await.status, 202);
        self.stream.message().await
    }
}

#[tokio::test]
async fn promise_the_old_transport_serves_a_whole_session() {
    let server = McpTestServer::new();
    let mut old = Old::begin(&server, "/sse", None).await;
    let listed = old.ask(&request(2, "tools/list", json!({}))).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "create-task"));
    assert!(tools.iter().all(|tool| tool.get("annotations").is_none()), "this revision has none");
    let made = old.ask(&call(3, "create-task", json!({ "title": "Old milk" }))).await;
    assert!(made["result"]["content"][0]["text"].as_str().unwrap().contains("Old milk"));
    assert_eq!(old.ask(&request(4, "nothing", json!({}))).await["error"]["code"], -32601);
    assert_eq!(old.ask(&request("p", "ping", json!({}))).await["result"], json!({}));
    let tool = query("came-later", open_object(), |_, _| async { unreachable!() });
    server.app.runtime.registry.register(tool, jiff::Zoned::now().date()).await.unwrap();
    assert_eq!(old.stream.message().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_profile_of_the_old_transport_has_its_own_tools() {
    let server = McpTestServer::new();
    let mut old = Old::begin(&server, "/sse/todo_tasks", None).await;
    let listed = old.ask(&request(2, "tools/list", json!({}))).await;
    let names: Vec<&Value> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert!(names.contains(&&json!("add_task")) && !names.contains(&&json!("create-task")), "{names:?}");
    let mut none = Legacy::to(&server);
    none.path = "/sse/nothing".into();
    assert_eq!(none.listen().await.status().await, 404);
}

#[tokio::test]
async fn broken_messages_are_refused_at_once_and_the_session_goes_on() {
    let server = McpTestServer::new();
    let mut old = Old::begin(&server, "/sse", None).await;
    assert_eq!(old.posts.post(&json!("text")).await.error(), (400, -32600));
    assert_eq!(old.posts.post(&json!([request(1, "ping", json!({}))])).await.error(), (400, -32600));
    assert_eq!(old.ask(&request(5, "ping", json!({}))).await["id"], 5);
}

#[tokio::test]
async fn nothing_but_ping_is_answered_before_the_handshake() {
    let server = McpTestServer::new();
    let mut old = Old::open(&server, "/sse", None).await;
    assert_eq!(old.ask(&request(1, "ping", json!({}))).await["result"], json!({}));
    assert_eq!(old.ask(&request(2, "tools/list", json!({}))).await["error"]["code"], -32600);
}

#[tokio::test]
async fn promise_an_old_session_is_its_makers_alone_and_ends_with_its_stream() {
    let (gate, tool) = Gate::tool();
    let server = McpTestServer::with(vec![tool]);
    let (ada, bob) = (server.key("ada", &["*"], None).await, server.key("bob", &["*"], None).await);
    let old = Old::begin(&server, "/sse", Some(&ada)).await;
    let stranger = old.posts.clone().with("X-API-Key", &bob);
    assert_eq!(stranger.post(&request(1, "ping", json!({}))).await.status, 404);
    let Old { stream, posts } = old;
    assert_eq!(posts.post(&call(1, "wait-long", json!({}))).await.status, 202);
    gate.entered().await;
    drop(stream);
    gate.left().await;
    assert_eq!(posts.post(&request(1, "ping", json!({}))).await.status, 404);
}

#[tokio::test]
async fn cancelling_on_the_old_transport_stops_the_work() {
    let (gate, tool) = Gate::tool();
    let server = McpTestServer::with(vec![tool]);
    let mut old = Old::begin(&server, "/sse", None).await;
    assert_eq!(old.posts.post(&call("c", "wait-long", json!({}))).await.status, 202);
    gate.entered().await;
    assert_eq!(old.posts.post(&cancel("c")).await.status, 202);
    gate.left().await;
    assert_eq!(old.ask(&request(2, "ping", json!({}))).await["id"], 2, "the cancelled call was not answered");
}
