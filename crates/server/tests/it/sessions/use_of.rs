//! What a session is good for, and that half of one, or one from another page, is good for nothing.

use serde_json::json;

use super::browser::{Browser, OURS};
use crate::test_server::TestServer;

#[tokio::test(flavor = "multi_thread")]
async fn promise_the_cookie_alone_and_the_proof_alone_are_refused() {
    for keyed in [false, true] {
        let server = TestServer::new();
        if keyed {
            server.key(json!({ "user": "ada" })).await;
        }
        let browser = Browser::owner(&server).await;
        let other = Browser::owner(&server).await;
        let whole = || server.ask("GET", "/api/v1/me").header("origin", OURS);
        let (cookie, proof) = (&browser.cookie, &browser.proof);
        let halves = [
            whole().header("cookie", cookie),
            whole().header("x-toolroom-proof", proof),
            whole().header("cookie", cookie).header("x-toolroom-proof", ""),
            whole().header("cookie", cookie).header("x-toolroom-proof", &other.proof),
            whole().header("cookie", &other.cookie).header("x-toolroom-proof", proof),
            // The two are not each other's.
            whole()
                .header("cookie", cookie.replace(cookie.split_once('=').unwrap().1, proof))
                .header("x-toolroom-proof", cookie.split_once('=').unwrap().1),
        ];
        for (at, half) in halves.into_iter().enumerate() {
            let refused = half.send().await;
            assert_eq!((refused.status.as_u16(), refused.code().as_str()), (401, "unauthenticated"), "{at}");
        }
        assert_eq!(browser.standing().await, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_another_ports_page_cannot_use_a_session() {
    let server = TestServer::new();
    let browser = Browser::owner(&server).await;
    for origin in ["http://127.0.0.1:3000", "http://localhost:7878", "https://127.0.0.1:7878"] {
        // With a body and without one.
        for (method, path) in [("GET", "/api/v1/me"), ("POST", "/api/v1/conversations/x/cancel")] {
            let refused = browser.ask_from(origin, method, path).send().await;
            assert_eq!(
                (refused.status.as_u16(), refused.code().as_str()),
                (403, "forbidden"),
                "{origin} {path}"
            );
        }
        let key = json!({ "user": "mallory", "grants": ["*"] });
        assert_eq!(browser.ask_from(origin, "POST", "/api/v1/keys").body(key).send().await.status, 403);
    }
    let site = |site: &'static str| {
        browser.ask_without_origin("GET", "/api/v1/me").header("sec-fetch-site", site).send()
    };
    assert_eq!(site("same-origin").await.status, 200, "browsers leave the origin out of a read");
    for foreign in ["same-site", "cross-site", "none"] {
        assert_eq!(site(foreign).await.status, 403, "{foreign}");
    }
    assert_eq!(browser.ask_without_origin("GET", "/api/v1/me").send().await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_counts_under_the_api_alone() {
    let server = TestServer::new();
    server.key(json!({ "user": "ada" })).await;
    let browser = Browser::owner(&server).await;
    for (method, path) in [
        ("POST", "/mcp"),
        ("GET", "/sse"),
        ("GET", "/metrics"),
        ("GET", "/v1/models"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/responses"),
    ] {
        let refused = browser.ask(method, path).body(json!({})).send().await;
        assert_eq!(refused.status, 401, "{path}: {}", refused.text);
    }
    for (path, in_full) in [("/readyz", false), ("/api/v1/readyz", true)] {
        let ready = browser.ask("GET", path).send().await.json();
        assert_eq!(ready.get("tools").is_some(), in_full, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_and_a_key_together_are_refused() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let browser = Browser::owner(&server).await;
    let refused = browser.ask("GET", "/api/v1/me").key(&key).send().await;
    assert_eq!(
        (refused.status.as_u16(), refused.code().as_str()),
        (401, "unauthenticated"),
        "{}",
        refused.text
    );
    let with_cookie =
        server.ask("GET", "/api/v1/me").key(&key).header("cookie", &browser.cookie).send().await;
    assert_eq!(with_cookie.json()["user"], "ada", "half a session is none");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_a_session_are_logged_as_made_in_the_console() {
    let server = TestServer::new();
    let browser = Browser::owner(&server).await;
    let made = browser
        .ask("POST", "/api/v1/tools/create-task/call")
        .body(json!({ "params": { "title": "By hand" } }))
        .send()
        .await;
    assert_eq!(made.status, 200, "{}", made.text);
    let function = "/api/v1/profiles/todo-chatbot/functions/list_tasks";
    assert_eq!(browser.ask("POST", function).body(json!({})).send().await.status, 200);
    let refused = browser.ask("POST", "/api/v1/tools/create-task/call").body(json!({ "x": 1 })).send().await;
    assert_eq!(refused.status, 400);
    let log = browser.ask("GET", "/api/v1/executions").send().await.json();
    let edges: Vec<_> = log["executions"].as_array().unwrap().iter().map(|row| row["edge"].clone()).collect();
    assert_eq!(edges, ["console", "console", "console"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_decides_in_a_session_about_an_agents_call() {
    let server = TestServer::new();
    let agent = server.key(json!({ "user": "agent" })).await;
    let made = server.call(&agent, "create-task", json!({ "title": "Delete me" })).await.json();
    let params = json!({ "taskId": made["data"]["task"]["taskId"] });
    let held = server.call(&agent, "delete-task", params.clone()).await;
    assert_eq!(held.status, 202);
    let id = held.json()["pending"]["id"].as_str().unwrap().to_owned();
    let browser = Browser::owner(&server).await;
    let open = browser.ask("GET", "/api/v1/approvals").send().await.json();
    assert_eq!(open["approvals"][0]["id"], json!(id));
    let path = format!("/api/v1/approvals/{id}");
    let decided = browser.ask("POST", path).body(json!({ "decision": "approve" })).send().await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    assert_eq!(server.call(&agent, "delete-task", params).await.json()["data"]["deleted"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owners_session_makes_and_revokes_keys() {
    let server = TestServer::new();
    let browser = Browser::owner(&server).await;
    let made = browser.ask("POST", "/api/v1/keys").body(json!({ "user": "ada" })).send().await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(browser.standing().await, 200, "the first key ends access without one, and nothing else");
    let gone = browser.ask("DELETE", format!("/api/v1/keys/{}", made.json()["id"])).send().await;
    assert_eq!(gone.status, 200);
    assert_eq!(browser.ask("GET", "/api/v1/lines").send().await.status, 403, "that is for the socket");
}
