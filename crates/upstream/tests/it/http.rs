//! Servers at a URL, well behaved and not.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::{Method, StatusCode};
use axum::response::IntoResponse;
use serde_json::{Value, json};
use toolroom_contract::{ErrorCode, error::Outcome};
use toolroom_upstream::config::{Author, Standing, read_server};
use toolroom_upstream::contracts::catalogue;
use toolroom_upstream::{
    CallOptions, Era, Identity, RemoteTool, Reply, SpawnEnv, Target, Upstream, UpstreamError,
};

use crate::mock::{Mock, done, event, event_stream, session, stateless};
use crate::test_servers::{call, call_with, memory, text, until_async, upstream};

#[tokio::test(flavor = "multi_thread")]
async fn requests_without_sessions_carry_all_that_the_specification_asks_for() {
    let mock = Mock::start(stateless(done)).await;
    let entry = json!({ "url": mock.url("/mcp"), "headers": { "X-Key": "k" } });
    let server = upstream("mock", entry);
    let tools = server.list::<RemoteTool>().await.unwrap();
    let made = catalogue(server.config(), &tools.items);
    let arguments = json!({ "region": "Zürich" });
    let target = Target::Tool { name: "work", arguments: &arguments, headers: &made.tools[0].headers };
    let mut options = CallOptions { capabilities: Some(json!({ "sampling": {} })), ..CallOptions::default() };
    options.meta.insert("traceparent".into(), json!("00-1-2-03"));
    server.reach(target, &options).await.unwrap();
    let seen = &mock.seen("tools/call")[0];
    let header = |name: &str| seen.headers.get(name).map(|value| value.to_str().unwrap());
    assert_eq!(header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(header("mcp-method"), Some("tools/call"));
    assert_eq!(header("mcp-name"), Some("work"));
    assert_eq!(header("mcp-param-region"), Some("=?base64?WsO8cmljaA==?="));
    assert_eq!(header("accept"), Some("application/json, text/event-stream"));
    assert_eq!((header("x-key"), header("mcp-session-id")), (Some("k"), None));
    let meta = &seen.message["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({ "sampling": {} }));
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "toolroom");
    assert_eq!((&meta["traceparent"], &meta["progressToken"]), (&json!("00-1-2-03"), seen.id()));
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_is_passed_on_as_the_text_that_it_came_as() {
    const RESULT: &str = r#"{"vendor": {"b":1.50,"a":1e400}, "content" : [{"type":"hologram","x":12345678901234567890123}],"isError":false}"#;
    let mock = Mock::start(stateless(|seen| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{RESULT}}}"#, seen.id());
        ([("content-type", "application/json; charset=utf-8")], text).into_response()
    }))
    .await;
    let server = mock.upstream();
    let target = Target::Tool { name: "work", arguments: &json!({}), headers: &[] };
    let Reply::Complete(raw) = server.reach(target, &CallOptions::default()).await.unwrap() else { panic!() };
    assert_eq!(raw.text(), RESULT);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_may_come_after_others_on_its_stream() {
    let mock = Mock::start(stateless(|seen| {
        let other = json!({ "jsonrpc": "2.0", "id": 999_999, "result": {} });
        let own = json!({ "jsonrpc": "2.0", "id": seen.id(), "result": { "content": [{ "type": "text", "text": "mine" }] } });
        event_stream(format!(": hi\n\nevent: message\n{}{}", event(&other), event(&own)))
    }))
    .await;
    assert_eq!(text(&call(&mock.upstream(), "work", json!({})).await.unwrap()), "mine");
}

#[tokio::test(flavor = "multi_thread")]
async fn compressed_and_oversized_answers_are_refused_without_costing_memory() {
    let mock = Mock::start(stateless(|seen| match seen.message["params"]["name"].as_str().unwrap() {
        "gzip" => {
            ([("content-type", "application/json"), ("content-encoding", "gzip")], "bomb").into_response()
        }
        "large" => ([("content-type", "application/json")], endless("x")).into_response(),
        _ => event_stream(endless("data: x\n")),
    }))
    .await;
    let server = mock.upstream();
    server.connect().await.unwrap();
    let before = memory();
    let packed = call(&server, "gzip", json!({})).await.unwrap_err();
    assert_eq!(packed.into_tool_error("mock").code, ErrorCode::InvalidOutput);
    for tool in ["large", "event"] {
        let refused = call(&server, tool, json!({})).await.unwrap_err();
        assert!(matches!(refused, UpstreamError::TooLarge { .. }), "{tool}: {refused:?}");
    }
    let grown = memory().saturating_sub(before);
    assert!(grown < 64 << 20, "grew by {grown} bytes");
    assert_eq!(mock.seen("tools/call").len(), 3, "none was asked for twice");
}

/// A body that never ends.
fn endless(part: &str) -> Body {
    let block = Bytes::from(part.repeat((64 << 10) / part.len()));
    Body::from_stream(futures_util::stream::repeat_with(move || Ok::<_, Infallible>(block.clone())))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_ends_without_the_answer_leaves_the_outcome_open_and_is_not_repeated() {
    let mock = Mock::start(stateless(|_| event_stream(": bye\n\n"))).await;
    let error = call(&mock.upstream(), "work", json!({})).await.unwrap_err().into_tool_error("mock");
    assert_eq!((error.code, error.outcome), (ErrorCode::ServiceUnavailable, Some(Outcome::Unknown)));
    assert_eq!(mock.seen("tools/call").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_dropped_closes_its_stream() {
    let gone = Arc::new(AtomicUsize::new(0));
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let count = Arc::clone(&gone);
    let mock = Mock::start(stateless(move |_| {
        let held = Counted(Arc::clone(&count));
        let mut ticks = tokio::time::interval(Duration::from_millis(20));
        event_stream(Body::from_stream(futures_util::stream::poll_fn(move |context| {
            let _held = &held;
            ticks.poll_tick(context).map(|_| Some(Ok::<_, Infallible>(Bytes::from_static(b": tick\n\n"))))
        })))
    }))
    .await;
    let server = mock.upstream();
    server.connect().await.unwrap();
    let calling = tokio::spawn(async move { call(&server, "work", json!({})).await });
    until_async("the call has arrived", || !mock.seen("tools/call").is_empty()).await;
    assert_eq!(gone.load(Ordering::SeqCst), 0);
    calling.abort();
    until_async("its stream was closed", || gone.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_carry_their_id_and_revision_and_end_with_delete() {
    let mock = Mock::start(session(|seen| match seen.method {
        Method::GET => StatusCode::METHOD_NOT_ALLOWED.into_response(),
        _ => done(seen),
    }))
    .await;
    let server = mock.upstream();
    call(&server, "work", json!({})).await.unwrap();
    assert_eq!(server.status().era, Some(Era::Session));
    let seen = &mock.seen("tools/call")[0];
    assert_eq!(
        (&seen.headers["mcp-session-id"], &seen.headers["mcp-protocol-version"]),
        (&"s1".parse().unwrap(), &"2025-06-18".parse().unwrap())
    );
    assert!(seen.headers.get("mcp-method").is_none());
    server.shutdown().await;
    let deleted = mock.seen.lock().unwrap().iter().filter(|one| one.method == Method::DELETE).count();
    assert_eq!(deleted, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_breaks_is_taken_up_where_it_was() {
    let mock = Mock::start(session(|seen| match (&seen.method, seen.headers.get("last-event-id")) {
        (&Method::POST, _) => event_stream("id: e7\nretry: 10\ndata:\n\n"),
        (&Method::GET, Some(last)) => {
            assert_eq!(last, "e7");
            let answer = json!({ "jsonrpc": "2.0", "id": 2, "result": { "content": [{ "type": "text", "text": "late" }] } });
            event_stream(event(&answer))
        }
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }))
    .await;
    assert_eq!(text(&call(&mock.upstream(), "work", json!({})).await.unwrap()), "late");
    assert_eq!(mock.seen("tools/call").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_down_is_tried_again_and_found_when_it_is_back() {
    let down = Arc::new(AtomicUsize::new(2));
    let left = Arc::clone(&down);
    let mock = Mock::start(stateless(move |seen| {
        match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
            Ok(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
            Err(_) => done(seen),
        }
    }))
    .await;
    let server = mock.upstream();
    server.connect().await.unwrap();
    let error = call(&server, "work", json!({})).await.unwrap_err().into_tool_error("mock");
    assert_eq!((error.code, error.outcome), (ErrorCode::ServiceUnavailable, Some(Outcome::Unknown)));
    let began = Instant::now();
    let options = CallOptions { repeatable: true, ..CallOptions::default() };
    assert_eq!(text(&call_with(&server, "work", json!({}), &options).await.unwrap()), "done");
    assert!(began.elapsed() > Duration::from_millis(800));
    assert_eq!(mock.seen("tools/call").len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_fetched_kept_and_renewed_when_they_are_refused() {
    let given = Arc::new(AtomicUsize::new(0));
    let (count, calls) = (Arc::clone(&given), stateless(done));
    let mock = Mock::start(move |seen| {
        if seen.uri.path() == "/token" {
            assert_eq!(seen.headers["authorization"], "Basic bWU6cyUyNnA=");
            let form = String::from_utf8(seen.body.to_vec()).unwrap();
            assert!(form.contains("grant_type=client_credentials") && form.contains("scope=a+b"), "{form}");
            assert!(form.contains("resource=http"), "{form}");
            let number = count.fetch_add(1, Ordering::SeqCst) + 1;
            return axum::Json(
                json!({ "access_token": format!("t{number}"), "token_type": "Bearer", "expires_in": 3600 }),
            )
            .into_response();
        }
        // The first token is refused after the handshake.
        let token = seen.headers["authorization"].to_str().unwrap();
        match (token, seen.rpc()) {
            ("Bearer t1", "server/discover") | ("Bearer t2", _) => calls(seen),
            _ => StatusCode::UNAUTHORIZED.into_response(),
        }
    })
    .await;
    let oauth =
        json!({ "token_url": mock.url("/token"), "client_id": "me", "client_secret": "s&p", "scope": "a b" });
    let server = upstream("mock", json!({ "url": mock.url("/mcp"), "oauth": oauth }));
    for _ in 0..3 {
        assert_eq!(text(&call(&server, "work", json!({})).await.unwrap()), "done");
    }
    assert_eq!(given.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_wants_a_credential_says_so_at_once() {
    let mock = Mock::start(|_| (StatusCode::UNAUTHORIZED, "who are you?").into_response()).await;
    let server = mock.upstream();
    let began = Instant::now();
    let options = CallOptions { timeout: Some(Duration::from_secs(20)), ..CallOptions::default() };
    let error = call_with(&server, "work", json!({}), &options).await.unwrap_err();
    assert!(error.to_string().contains("401"), "{error}");
    // A round of tries takes 5.6 s at least.
    assert!(began.elapsed() < Duration::from_secs(5), "waiting would not help");
}

#[tokio::test(flavor = "multi_thread")]
async fn private_addresses_are_refused_unless_the_entry_allows_them() {
    let mock = Mock::start(stateless(done)).await;
    let by_api = |entry: Value| {
        let entry = read_server("mock", &entry, &|_| None, Author::Api).unwrap();
        let Standing::Enabled(config) = entry.standing else { panic!() };
        Upstream::new(*config, Arc::new(Identity::toolroom()), SpawnEnv::default())
    };
    let options = CallOptions { timeout: Some(Duration::from_secs(1)), ..CallOptions::default() };
    let refused = by_api(json!({ "url": mock.url("/mcp") }));
    let error = call_with(&refused, "work", json!({}), &options).await.unwrap_err();
    assert!(matches!(error, UpstreamError::NotAllowed), "{error:?}");
    assert!(mock.seen.lock().unwrap().is_empty());
    let allowed = by_api(json!({ "url": mock.url("/mcp"), "allow_private": true }));
    assert_eq!(text(&call_with(&allowed, "work", json!({}), &options).await.unwrap()), "done");
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_followed_on_the_same_server_and_keys_go_to_no_other() {
    let other = Mock::start(stateless(done)).await;
    let elsewhere = other.url("/mcp");
    let calls = stateless(done);
    let mock = Mock::start(move |seen| match seen.uri.path() {
        "/mcp" => (StatusCode::TEMPORARY_REDIRECT, [("location", "/mcp/")]).into_response(),
        "/away" => (StatusCode::TEMPORARY_REDIRECT, [("location", elsewhere.as_str())]).into_response(),
        _ => calls(seen),
    })
    .await;
    assert_eq!(text(&call(&mock.upstream(), "work", json!({})).await.unwrap()), "done");
    let away = upstream("away", json!({ "url": mock.url("/away"), "headers": { "X-Key": "k" } }));
    let options = CallOptions { timeout: Some(Duration::from_secs(2)), ..CallOptions::default() };
    assert!(call_with(&away, "work", json!({}), &options).await.is_err());
    assert!(other.seen.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_sends_messages_to_another_server_is_refused() {
    let mock =
        Mock::start(|_| event_stream("event: endpoint\ndata: http://other.example/messages\n\n")).await;
    let server = upstream("mock", json!({ "url": mock.url("/sse"), "type": "sse", "timeout": 2 }));
    let error = call(&server, "work", json!({})).await.unwrap_err();
    assert!(server.status().last_error.unwrap().contains("another origin"), "{error}");
}
