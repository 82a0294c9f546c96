//! When a session ends: by hand, with its key, by age, or to make room; what goes on by it ends with it.

use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::time::timeout;
use toolroom_store::DatabaseUrl;

use super::browser::{Browser, log_in};
use crate::chat::scripted::Scripted;
use crate::test_server::TestServer;

/// What the end of a stream may take.
const AT_MOST: Duration = Duration::from_secs(1);

fn waiting() -> TestServer {
    TestServer::speaking(Scripted::waiting([]))
}

/// A stream that lasts: the model is never let on.
async fn stream(browser: &Browser<'_>) -> Body {
    let ask = browser.ask("POST", "/api/v1/chat?stream=true").body(json!({ "message": "hello" }));
    let (head, mut body) = ask.open().await;
    assert_eq!(head.status, 200);
    body.frame().await.expect("an event").unwrap();
    body
}

async fn ends(body: Body) {
    timeout(AT_MOST, body.collect()).await.expect("the stream goes on").unwrap();
}

async fn sessions(browser: &Browser<'_>) -> Vec<Value> {
    let listed = browser.ask("GET", "/api/v1/sessions").send().await;
    assert_eq!(listed.status, 200, "{}", listed.text);
    listed.json()["sessions"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_revoking_a_key_ends_its_sessions_and_their_streams() {
    let server = waiting();
    let made = server.ask("POST", "/api/v1/keys").owner();
    let made = made.body(json!({ "user": "ada", "person": true })).send().await.json();
    let browser = Browser::by_key(&server, made["key"].as_str().unwrap()).await;
    let owner = Browser::owner(&server).await;
    let going_on = stream(&browser).await;
    let gone = server.ask("DELETE", format!("/api/v1/keys/{}", made["id"])).owner().send().await;
    assert_eq!(gone.status, 200);
    ends(going_on).await;
    assert_eq!(browser.standing().await, 401);
    assert_eq!(owner.standing().await, 200, "others go on");
    assert_eq!(log_in(&server, json!({ "key": made["key"] })).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn logging_out_ends_the_session_and_its_streams() {
    let server = waiting();
    let (browser, other) = (Browser::owner(&server).await, Browser::owner(&server).await);
    let going_on = stream(&browser).await;
    let out = browser.ask("DELETE", "/api/v1/session").send().await;
    assert_eq!(out.status, 204, "{}", out.text);
    assert!(out.headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    ends(going_on).await;
    assert_eq!((browser.standing().await, other.standing().await), (401, 200));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_listed_and_ended_from_another() {
    let server = waiting();
    let person = server.key(json!({ "user": "ada", "person": true })).await;
    let agent = server.key(json!({ "user": "ada" })).await;
    let (owner, ada) = (Browser::owner(&server).await, Browser::by_key(&server, &person).await);
    let listed = sessions(&owner).await;
    let users: Vec<_> = listed.iter().map(|one| (&one["user"], &one["owner"], &one["current"])).collect();
    assert_eq!(
        users,
        [(&json!("ada"), &json!(false), &json!(false)), (&json!("local"), &json!(true), &json!(true))]
    );
    assert_eq!(listed[0]["address"], "127.0.0.1");
    assert_eq!(sessions(&ada).await.len(), 1, "others see their own");
    assert_eq!(server.ask("GET", "/api/v1/sessions").key(&agent).send().await.status, 403);

    let of_owner = format!("/api/v1/sessions/{}", listed[1]["id"].as_str().unwrap());
    assert_eq!(ada.ask("DELETE", of_owner.clone()).send().await.status, 404);
    assert_eq!(server.ask("DELETE", of_owner).key(&agent).send().await.status, 403);
    let going_on = stream(&ada).await;
    let of_ada = format!("/api/v1/sessions/{}", listed[0]["id"].as_str().unwrap());
    assert_eq!(owner.ask("DELETE", of_ada.clone()).send().await.status, 204);
    ends(going_on).await;
    assert_eq!((ada.standing().await, owner.standing().await), (401, 200));
    assert_eq!(owner.ask("DELETE", of_ada).send().await.status, 404, "it has ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_when_it_is_idle_for_twelve_hours_and_after_seven_days() {
    let server = TestServer::new();
    let (used, idle) = (Browser::owner(&server).await, Browser::owner(&server).await);
    server.clock.advance(SignedDuration::from_hours(11));
    assert_eq!(used.standing().await, 200);
    server.clock.advance(SignedDuration::from_hours(1));
    assert_eq!((used.standing().await, idle.standing().await), (200, 401));
    for _ in 0..14 {
        server.clock.advance(SignedDuration::from_hours(11));
        assert_eq!(used.standing().await, 200);
    }
    server.clock.advance(SignedDuration::from_hours(2));
    assert_eq!(used.standing().await, 401, "seven days are over");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_session_loses_its_streams_too() {
    let server = waiting();
    let browser = Browser::owner(&server).await;
    let going_on = stream(&browser).await;
    server.clock.advance(SignedDuration::from_hours(13));
    ends(going_on).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_use_is_noted_once_a_minute() {
    let server = TestServer::new();
    let browser = Browser::owner(&server).await;
    let begun = sessions(&browser).await[0]["seen_at"].clone();
    server.clock.advance(SignedDuration::from_secs(30));
    assert_eq!(sessions(&browser).await[0]["seen_at"], begun);
    server.clock.advance(SignedDuration::from_secs(31));
    let session = sessions(&browser).await.remove(0);
    assert!(session["seen_at"].as_str() > begun.as_str());
    assert_eq!(session["created_at"], begun);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_more_than_twenty_sessions_the_oldest_ends() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada", "person": true })).await;
    let first = Browser::by_key(&server, &key).await;
    let second = Browser::by_key(&server, &key).await;
    let owner = Browser::owner(&server).await;
    for _ in 0..18 {
        Browser::by_key(&server, &key).await;
    }
    assert_eq!(first.standing().await, 200);
    Browser::by_key(&server, &key).await;
    assert_eq!((first.standing().await, second.standing().await), (401, 200));
    assert_eq!((sessions(&second).await.len(), owner.standing().await), (20, 200));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_another_process_ends_loses_its_streams_too() {
    let folder = tempfile::tempdir().unwrap();
    let url = DatabaseUrl::sqlite(folder.path().join("shared.db"));
    let (one, other) = (TestServer::on(&url), TestServer::on(&url));
    let browser = Browser::owner(&one).await;
    let listed = other.ask("GET", "/api/v1/sessions").owner().send().await.json();
    let path = format!("/api/v1/sessions/{}", listed["sessions"][0]["id"].as_str().unwrap());
    assert_eq!(browser.standing().await, 200);
    assert_eq!(other.ask("DELETE", path).owner().send().await.status, 204);
    timeout(AT_MOST, async {
        while browser.standing().await != 401 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("it goes on");
}
