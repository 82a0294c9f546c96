//! Logging in: by a link that works once, or by a person's key.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::browser::{Browser, link, log_in};
use crate::test_server::TestServer;

#[tokio::test(flavor = "multi_thread")]
async fn promise_a_link_logs_its_owner_in_and_works_once() {
    let server = TestServer::new();
    let secret = link(&server).await;
    let begun = log_in(&server, json!({ "link": secret })).await;
    let set = begun.headers["set-cookie"].to_str().unwrap();
    assert!(set.starts_with("toolroom_"), "{set}");
    assert!(set.ends_with("; HttpOnly; SameSite=Strict; Path=/api/; Max-Age=604800"), "{set}");
    let body = begun.json();
    assert_eq!(
        (&body["user"], &body["owner"], &body["person"]),
        (&json!("local"), &json!(true), &json!(true))
    );
    assert_eq!((&body["grants"], &body["profiles"]), (&json!(["*"]), &Value::Null));
    let resources = body["resources"].as_array().unwrap();
    assert!(
        resources.contains(&json!("tasks")) && !resources.contains(&json!("cards")),
        "no cards here: {body}"
    );

    let browser = Browser::of(&server, &begun);
    let mut shown = browser.ask("GET", "/api/v1/session").send().await.json();
    assert_eq!(shown.get("proof"), None, "it is told once");
    shown["proof"] = body["proof"].clone();
    assert_eq!(shown, body);

    let again = log_in(&server, json!({ "link": secret })).await;
    assert_eq!((again.status.as_u16(), again.code().as_str()), (401, "unauthenticated"), "{}", again.text);
    assert_eq!(browser.standing().await, 200, "the first goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_works_for_ten_minutes() {
    let server = TestServer::new();
    let (first, second) = (link(&server).await, link(&server).await);
    server.clock.advance(SignedDuration::from_mins(9));
    assert_eq!(log_in(&server, json!({ "link": first })).await.status, 201);
    server.clock.advance(SignedDuration::from_mins(1));
    let late = log_in(&server, json!({ "link": second })).await;
    assert_eq!(late.status, 401);
    assert!(late.json()["detail"].as_str().unwrap().contains("toolroom console"), "{}", late.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_are_made_on_the_owners_socket_alone() {
    let server = TestServer::new();
    let browser = Browser::owner(&server).await;
    let refused = browser.ask("POST", "/api/v1/links").send().await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (403, "forbidden"));
    let key = server.key(json!({ "user": "root", "grants": ["*"], "person": true })).await;
    assert_eq!(server.ask("POST", "/api/v1/links").key(&key).send().await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_an_agents_key_gives_no_session() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "agent", "grants": ["*"] })).await;
    let refused = log_in(&server, json!({ "key": key })).await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (403, "forbidden"), "{}", refused.text);
    assert!(refused.headers.get("set-cookie").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persons_key_gives_a_session_with_no_more_rights_than_its_own() {
    let server = TestServer::new();
    let wanted =
        json!({ "user": "ada", "grants": ["tasks:read"], "profiles": ["todo-chatbot"], "person": true });
    let key = server.key(wanted).await;
    let begun = log_in(&server, json!({ "key": key })).await;
    let body = begun.json();
    assert_eq!((&body["user"], &body["owner"]), (&json!("ada"), &json!(false)));
    assert_eq!(body["grants"], json!(["tasks:read"]));
    assert_eq!(body["profiles"], json!(["todo-chatbot"]));
    let browser = Browser::of(&server, &begun);
    let me = browser.ask("GET", "/api/v1/me").send().await.json();
    assert_eq!(
        (&me["user"], &me["grants"], &me["person"]),
        (&json!("ada"), &json!(["tasks:read"]), &json!(true))
    );
    assert_eq!(browser.ask("GET", "/api/v1/keys").send().await.status, 403, "keys are the owner's");
    assert_eq!(browser.ask("GET", "/api/v1/profiles/default/functions").send().await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_names_one_thing() {
    let server = TestServer::new();
    let link = link(&server).await;
    for wrong in
        [json!({}), json!({ "link": link, "key": "tr_x" }), json!({ "link": 1 }), json!({ "token": "x" })]
    {
        let refused = log_in(&server, wrong.clone()).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (400, "invalid_input"), "{wrong}");
    }
    assert_eq!(log_in(&server, json!({ "link": link })).await.status, 201, "it was not used up");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_comes_from_our_own_page() {
    let server = TestServer::new();
    let link = link(&server).await;
    let from = |origin: Option<&str>| {
        let ask = server.ask("POST", "/api/v1/session").body(json!({ "link": link }));
        match origin {
            Some(origin) => ask.header("origin", origin),
            None => ask,
        }
        .send()
    };
    for origin in [None, Some("http://127.0.0.1:3000"), Some("http://localhost:7878")] {
        assert_eq!(from(origin).await.status, 403, "{origin:?}");
    }
    assert_eq!(log_in(&server, json!({ "link": link })).await.status, 201, "it was not used up");
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_this_machine_a_session_needs_https() {
    let server = TestServer::new();
    let from = |origin: &'static str, link: String| {
        let ask = server.ask("POST", "/api/v1/session").host("tools.example.com").header("origin", origin);
        ask.body(json!({ "link": link })).send()
    };
    let refused = from("http://tools.example.com", link(&server).await).await;
    assert_eq!(refused.status, 403);
    assert!(refused.json()["detail"].as_str().unwrap().contains("https"), "{}", refused.text);
    let begun = from("https://tools.example.com", link(&server).await).await;
    assert_eq!(begun.status, 201, "{}", begun.text);
    assert!(begun.headers["set-cookie"].to_str().unwrap().ends_with("; Secure"));
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_failed_logins_within_a_minute_are_enough() {
    let server = TestServer::new();
    for _ in 0..10 {
        assert_eq!(log_in(&server, json!({ "link": "wrong" })).await.status, 401);
    }
    let good = json!({ "link": link(&server).await });
    let refused = log_in(&server, good.clone()).await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (429, "rate_limited"), "{}", refused.text);
    assert!(refused.headers.contains_key("retry-after"));
    let elsewhere = server.ask("POST", "/api/v1/session").from([127, 0, 0, 2]);
    let elsewhere =
        elsewhere.header("origin", super::browser::OURS).body(json!({ "link": "wrong" })).send().await;
    assert_eq!(elsewhere.status, 401, "another address is another matter");
    server.clock.advance(SignedDuration::from_mins(1));
    assert_eq!(log_in(&server, good).await.status, 201);
}
