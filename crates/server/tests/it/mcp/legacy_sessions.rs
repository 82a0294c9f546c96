//! Sessions: begun by a handshake, their maker's alone, bounded in number and time.

use std::time::Duration;

use serde_json::{Value, json};
use toolroom_contract::{Answer, Ending};
use toolroom_server::McpSettings;

use super::legacy::{Legacy, NEWEST, request};
use super::test_server::{McpTestServer, open_object, query};

fn limited(change: impl FnOnce(&mut McpSettings)) -> McpTestServer {
    let mut settings = McpSettings::default();
    change(&mut settings);
    McpTestServer::limited(Vec::new(), settings)
}

#[tokio::test]
async fn known_revisions_are_echoed_and_any_other_becomes_the_newest_with_a_handshake() {
    let server = McpTestServer::new();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let result = Legacy::to(&server).initialize(revision, json!({})).await.result();
        assert_eq!(result["protocolVersion"], revision);
        assert_eq!(result["serverInfo"]["name"], "toolroom");
        assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
        assert!(result["capabilities"]["logging"].is_object() && result["instructions"].is_string());
    }
    for other in ["2026-07-28", "2031-01-01", "draft"] {
        let result = Legacy::to(&server).initialize(other, json!({})).await.result();
        assert_eq!(result["protocolVersion"], NEWEST, "{other}");
    }
}

#[tokio::test]
async fn a_session_remembers_its_client_from_message_to_message() {
    let server = McpTestServer::with(vec![query("who-am-i", open_object(), |_, context| async move {
        Ending::Done(
            Answer::new(json!({ "agent": *context.agent_id, "session": context.session_id })).unwrap(),
        )
    })]);
    for revision in ["2025-03-26", "2025-06-18", NEWEST] {
        let client = Legacy::begin(&server, revision).await;
        assert_eq!(client.ask("ping", json!({})).await.result(), json!({}));
        let listed = client.ask("tools/list", json!({})).await.result();
        assert!(listed["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "who-am-i"));
        assert!(listed.get("resultType").is_none() && listed.get("ttlMs").is_none());
        let called = client.ask("tools/call", json!({ "name": "who-am-i" })).await;
        assert!(called.head.contains("content-type: application/json"));
        let text: Value =
            serde_json::from_str(called.result()["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text["data"]["agent"], "old-desk");
        assert_eq!(text["data"]["session"], client.session());
    }
}

#[tokio::test]
async fn promise_a_session_is_its_makers_alone_and_anothers_is_unknown() {
    let server = McpTestServer::new();
    let (ada, bob) =
        (server.key("ada", &["tasks:*"], None).await, server.key("bob", &["tasks:*"], None).await);
    let other_key_of_ada = server.key("ada", &["tasks:*"], None).await;
    let client = Legacy::to(&server).key(&ada).begun(NEWEST, json!({})).await;
    let mut elsewhere = client.clone();
    elsewhere.path = "/mcp/assistant".into();
    let strangers = [
        client.clone().with("X-API-Key", &bob),
        client.clone().with("X-API-Key", &other_key_of_ada),
        client.clone().with("Mcp-Session-Id", "0123456789abcdef0123456789abcdef"),
        elsewhere,
    ];
    let mut answers = Vec::new();
    for stranger in &strangers {
        let got = stranger.ask("tools/list", json!({})).await;
        assert_eq!(got.status, 404);
        answers.push(got.text);
        assert_eq!(stranger.listen().await.status().await, 404);
        assert_eq!(stranger.delete().await.status, 404);
    }
    assert!(answers.iter().all(|text| *text == answers[0]), "{answers:?}");
    assert_eq!(client.ask("tools/list", json!({})).await.status, 200, "it lives on");
}

#[tokio::test]
async fn a_message_without_a_session_is_told_to_begin_one() {
    let server = McpTestServer::new();
    let client = Legacy::begin(&server, NEWEST).await.without_session();
    assert_eq!(client.ask("tools/list", json!({})).await.error(), (400, -32600));
    assert_eq!(client.listen().await.status().await, 400);
    assert_eq!(client.delete().await.status, 400);
    let modern = client.with("MCP-Protocol-Version", "2026-07-28");
    assert_eq!(modern.listen().await.status().await, 405, "the newest revision has no such stream");
    assert_eq!(modern.delete().await.status, 405);
}

#[tokio::test]
async fn a_session_that_was_ended_is_unknown() {
    let server = McpTestServer::new();
    let client = Legacy::begin(&server, NEWEST).await;
    let mut listening = client.listen().await;
    assert_eq!(listening.status().await, 200);
    assert_eq!(client.delete().await.status, 204);
    assert_eq!(listening.next().await, None, "its streams end with it");
    assert_eq!(client.ask("tools/list", json!({})).await.error(), (404, -32600));
    assert_eq!(client.delete().await.status, 404);
}

#[tokio::test]
async fn promise_sessions_of_one_user_are_bounded_and_the_one_at_rest_longest_makes_room() {
    let server = limited(|settings| settings.sessions_per_user = 2);
    let (ada, bob) =
        (server.key("ada", &["tasks:*"], None).await, server.key("bob", &["tasks:*"], None).await);
    let others = Legacy::to(&server).key(&bob).begun(NEWEST, json!({})).await;
    let begin = || Legacy::to(&server).key(&ada).begun(NEWEST, json!({}));
    let (first, second) = (begin().await, begin().await);
    assert_eq!(first.ask("ping", json!({})).await.status, 200);
    let third = begin().await;
    assert_eq!(second.ask("ping", json!({})).await.status, 404, "it was used least lately");
    for client in [&first, &third, &others] {
        assert_eq!(client.ask("ping", json!({})).await.status, 200);
    }
}

#[tokio::test]
async fn promise_sessions_are_bounded_in_all_and_none_in_use_is_put_out() {
    let server = limited(|settings| settings.sessions = 1);
    let first = Legacy::begin(&server, NEWEST).await;
    let mut listening = first.listen().await;
    assert_eq!(listening.status().await, 200);
    let refused = Legacy::to(&server).initialize(NEWEST, json!({})).await;
    assert_eq!((refused.status, &refused.json()["code"]), (503, &json!("busy")));
    assert_eq!(first.ask("ping", json!({})).await.status, 200);
}

#[tokio::test]
async fn promise_a_session_idles_out_unless_its_client_listens() {
    let idle = Duration::from_millis(300);
    let server = limited(|settings| settings.session_idle = idle);
    let (quiet, listening) = (Legacy::begin(&server, NEWEST).await, Legacy::begin(&server, NEWEST).await);
    let mut stream = listening.listen().await;
    assert_eq!(stream.status().await, 200);
    // The passing of time is what is tested.
    tokio::time::sleep(idle * 2).await;
    assert_eq!(quiet.ask("ping", json!({})).await.status, 404);
    assert_eq!(listening.ask("ping", json!({})).await.status, 200);
}

#[tokio::test]
async fn promise_only_2025_03_26_has_batches() {
    let server = McpTestServer::new();
    let ping = |id: i64| request(id, "ping", json!({}));
    for revision in ["2025-06-18", NEWEST] {
        let client = Legacy::begin(&server, revision).await;
        assert_eq!(client.post(&json!([ping(1), ping(2)])).await.error(), (400, -32600), "{revision}");
    }
    let client = Legacy::begin(&server, "2025-03-26").await;
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let mixed = json!([ping(1), note, request("two", "tools/list", json!({})), { "jsonrpc": "2.0" }, request(3, "nothing", json!({}))]);
    let answers = client.post(&mixed).await.json();
    let shapes: Vec<(Value, Value)> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| (answer["id"].clone(), answer["error"]["code"].clone()))
        .collect();
    let expected = [
        (json!(1), json!(null)),
        (json!("two"), json!(null)),
        (json!(null), json!(-32600)),
        (json!(3), json!(-32601)),
    ];
    assert_eq!(shapes, expected);
    assert_eq!(client.post(&json!([note])).await.status, 202, "nothing in it asks for an answer");
    assert_eq!(client.post(&json!([])).await.error(), (400, -32600));
    let many: Vec<Value> = (0..101).map(ping).collect();
    assert_eq!(client.post(&json!(many)).await.error(), (400, -32600));
}

#[tokio::test]
async fn errors_in_a_session_are_answers_and_never_look_like_a_lost_session() {
    let server = McpTestServer::new();
    let client = Legacy::begin(&server, NEWEST).await;
    assert_eq!(client.ask("no/such", json!({})).await.error(), (200, -32601));
    assert_eq!(client.ask("server/discover", json!({})).await.error(), (200, -32601));
    assert_eq!(client.ask("tools/call", json!({ "name": 7 })).await.error(), (200, -32602));
    assert_eq!(client.ask("tools/call", json!({ "name": "no-such" })).await.error(), (200, -32602));
    assert_eq!(client.ask("logging/setLevel", json!({ "level": "loud" })).await.error(), (200, -32602));
    let again = json!({ "protocolVersion": NEWEST, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    assert_eq!(client.ask("initialize", again).await.error(), (200, -32600));
    assert_eq!(
        Legacy::to(&server).ask("initialize", json!({ "protocolVersion": 7 })).await.error(),
        (200, -32602)
    );
}
