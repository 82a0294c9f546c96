//! A key that is revoked: whatever went on by it ends within a second, by every way in.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::StatusCode;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::time::timeout;
use toolroom_store::DatabaseUrl;

use crate::chat::scripted::Scripted;
use crate::test_server::{Answer, Ask, TestServer};

/// What a revocation may take.
const AT_MOST: Duration = Duration::from_secs(1);
const MODERN: &str = "2026-07-28";

async fn revoke(server: &TestServer, user: &str) {
    let keys = server.ask("GET", "/api/v1/keys").owner().send().await.json();
    let theirs = keys["keys"].as_array().unwrap().iter().find(|key| key["user"] == user).unwrap();
    let gone = server.ask("DELETE", format!("/api/v1/keys/{}", theirs["id"])).owner().send().await;
    assert_eq!(gone.status, 200, "{}", gone.text);
}

/// The stream has begun; the rest of it is to come.
async fn begun(ask: Ask<'_>) -> Body {
    let (answer, mut body) = ask.open().await;
    assert_eq!(answer.status, 200);
    assert!(answer.headers["content-type"].to_str().unwrap().starts_with("text/event-stream"));
    body.frame().await.expect("an event").unwrap();
    body
}

async fn ends(what: &str, body: Body) {
    timeout(AT_MOST, body.collect()).await.unwrap_or_else(|_| panic!("{what} goes on")).unwrap();
}

fn listening<'a>(server: &'a TestServer, key: Option<&str>) -> Ask<'a> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": { "_meta": meta, "notifications": { "toolsListChanged": true } },
    });
    let ask = server
        .ask("POST", "/mcp")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", "subscriptions/listen")
        .body(message);
    match key {
        Some(key) => ask.key(key),
        None => ask,
    }
}

async fn session(server: &TestServer, key: &str) -> String {
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } },
    });
    let begun = server
        .ask("POST", "/mcp")
        .key(key)
        .header("accept", "application/json, text/event-stream")
        .body(hello)
        .send()
        .await;
    begun.headers["mcp-session-id"].to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_revoking_a_key_ends_its_streams_within_a_second() {
    let model = Scripted::waiting([]);
    let server = TestServer::speaking(model);
    let key = server.key(json!({ "user": "ada" })).await;
    let other = server.key(json!({ "user": "bob" })).await;
    let session = session(&server, &key).await;
    let events = |path: &str| server.ask("GET", path.to_owned()).header("accept", "text/event-stream");
    let get = begun(events("/mcp").key(&key).header("mcp-session-id", &session)).await;
    let sse = begun(events("/sse").key(&key)).await;
    let listen = begun(listening(&server, Some(&key))).await;
    let said = json!({ "message": "hello" });
    let chat = begun(server.ask("POST", "/api/v1/chat?stream=true").key(&key).body(said)).await;
    let asked = json!({
        "model": "toolroom", "stream": true, "messages": [{ "role": "user", "content": "hello" }],
    });
    let completion = begun(server.ask("POST", "/v1/chat/completions").key(&key).body(asked)).await;
    let asked = json!({ "model": "toolroom", "stream": true, "input": "hello" });
    let response = begun(server.ask("POST", "/v1/responses").key(&key).body(asked)).await;
    let mut colleague = begun(listening(&server, Some(&other))).await;
    revoke(&server, "ada").await;
    ends("GET /mcp", get).await;
    ends("GET /sse", sse).await;
    ends("subscriptions/listen", listen).await;
    ends("the chat", chat).await;
    ends("the completion", completion).await;
    ends("the response", response).await;
    assert!(timeout(Duration::from_millis(50), colleague.frame()).await.is_err(), "another's goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_a_run_of_the_chat_ends_with_the_key_that_began_it() {
    let model = Scripted::waiting([]);
    let server = TestServer::speaking(Arc::clone(&model) as Arc<_>);
    let key = server.key(json!({ "user": "ada" })).await;
    let (head, body) = server
        .ask("POST", "/api/v1/chat?stream=true")
        .key(&key)
        .body(json!({ "message": "hello" }))
        .open()
        .await;
    let run = head.headers["x-run-id"].to_str().unwrap().to_owned();
    revoke(&server, "ada").await;
    ends("the stream", body).await;
    let again = server.key(json!({ "user": "ada" })).await;
    // The model is never let on: only the end of the run answers this.
    let answer = server.ask("GET", format!("/api/v1/chat/{run}")).key(&again).send();
    let answer = timeout(AT_MOST, answer).await.expect("the run goes on");
    assert_eq!(answer.json()["tool_calls"], json!([]), "{}", answer.text);
}

async fn task(server: &TestServer, key: &str) -> Value {
    let made = server.call(key, "create-task", json!({ "title": "Keep me" })).await.json();
    made["data"]["task"]["taskId"].clone()
}

/// The one request that is open, once it is.
async fn open_request(server: &TestServer) -> String {
    loop {
        let open = server.ask("GET", "/api/v1/approvals").owner().send().await.json();
        if let Some(id) = open["approvals"][0]["id"].as_str() {
            return format!("/api/v1/approvals/{id}");
        }
        tokio::task::yield_now().await;
    }
}

async fn approve(server: &TestServer, path: &str) -> Answer {
    server.ask("POST", path).owner().body(json!({ "decision": "approve" })).send().await
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_a_waiting_call_of_a_revoked_key_is_refused_also_if_it_is_approved_later() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let id = task(&server, &key).await;
    for route in ["tools/delete-task/call", "profiles/default/functions/delete-task"] {
        let key = server.key(json!({ "user": "ada" })).await;
        let body = if route.starts_with("tools") {
            json!({ "params": { "taskId": id } })
        } else {
            json!({ "taskId": id })
        };
        let waiting = server.ask("POST", format!("/api/v1/{route}?wait=60")).key(&key).body(body).send();
        let revoking = async {
            let path = open_request(&server).await;
            let keys = server.ask("GET", "/api/v1/keys").owner().send().await.json();
            let newest = keys["keys"].as_array().unwrap().last().unwrap()["id"].clone();
            let gone = server.ask("DELETE", format!("/api/v1/keys/{newest}")).owner().send().await;
            assert_eq!(gone.status, 200);
            path
        };
        let began = std::time::Instant::now();
        let (refused, path) = tokio::join!(timeout(Duration::from_secs(10), waiting), revoking);
        let refused = refused.expect("it waits on");
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::UNAUTHORIZED, "unauthenticated"));
        assert!(began.elapsed() < Duration::from_secs(5));
        let late = approve(&server, &path).await;
        assert_eq!((late.status, late.code().as_str()), (StatusCode::GONE, "approval_expired"));
    }
    let there = server.call(&key, "get-task", json!({ "taskId": id })).await;
    assert_eq!(there.status, 200, "nothing was deleted: {}", there.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_an_approval_is_good_for_the_key_that_asked_and_for_no_other() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let other = server.key(json!({ "user": "ada" })).await;
    let id = task(&server, &key).await;
    let params = json!({ "taskId": id });
    assert_eq!(server.call(&key, "delete-task", params.clone()).await.status, 202);
    let path = open_request(&server).await;
    assert_eq!(approve(&server, &path).await.status, 200);
    let body = json!({ "params": params, "context": { "approvalId": path.rsplit('/').next() } });
    let call =
        |key: &str| server.ask("POST", "/api/v1/tools/delete-task/call").key(key).body(body.clone()).send();
    assert_eq!(call(&other).await.code(), "not_found");
    assert_eq!(server.call(&other, "delete-task", params).await.status, 202, "it asks for itself");
    assert_eq!(call(&key).await.json()["data"]["deleted"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_a_key_that_another_process_revokes_loses_its_streams_too() {
    let folder = tempfile::tempdir().unwrap();
    let url = DatabaseUrl::sqlite(folder.path().join("shared.db"));
    let (one, other) = (TestServer::on(&url), TestServer::on(&url));
    let key = one.key(json!({ "user": "ada" })).await;
    let stream = begun(listening(&one, Some(&key))).await;
    revoke(&other, "ada").await;
    ends("the stream", stream).await;
    assert_eq!(one.ask("GET", "/api/v1/me").key(&key).send().await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_key_ends_what_goes_on_without_one() {
    let server = TestServer::new();
    let stream = begun(listening(&server, None)).await;
    server.key(json!({ "user": "ada" })).await;
    ends("a stream without a key", stream).await;
}

#[tokio::test]
async fn an_id_that_no_key_has_is_not_found() {
    let server = TestServer::new();
    for id in ["7", "x", "-1", "99999999999999999999"] {
        let gone = server.ask("DELETE", format!("/api/v1/keys/{id}")).owner().send().await;
        assert_eq!((gone.status.as_u16(), gone.code().as_str()), (404, "not_found"), "{id}");
    }
}
