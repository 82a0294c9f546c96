//! Approvals of many users: bounded, listed so that nobody hides another's; a denial answers one call.

use serde_json::{Value, json};

use crate::test_server::{Answer, TestServer};

async fn open(server: &TestServer, key: &str, at: usize) -> Answer {
    let question = json!({ "question": format!("Question {at}?") });
    server.call(key, "request-human-input", question).await
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_a_hundred_requests_of_one_user_wait_at_most_and_hide_nobody_elses() {
    let server = TestServer::new();
    let ada = server.key(json!({ "user": "ada" })).await;
    let bob = server.key(json!({ "user": "bob" })).await;
    assert_eq!(open(&server, &bob, 0).await.status, 202);
    for at in 0..100 {
        assert_eq!(open(&server, &ada, at).await.status, 202);
    }
    let over = open(&server, &ada, 100).await;
    assert_eq!((over.status.as_u16(), over.code().as_str()), (503, "busy"), "{}", over.text);
    assert!(over.headers.contains_key("retry-after"));
    assert!(over.json()["error"]["message"].as_str().unwrap().contains("wait for a person"));
    assert_eq!(open(&server, &ada, 7).await.status, 202, "the same call is the same request");
    let page = server.ask("GET", "/api/v1/approvals?limit=2").owner().send().await.json();
    let asked = |one: &Value| one["prompt"]["message"].as_str().unwrap().to_owned();
    let first: Vec<String> = page["approvals"].as_array().unwrap().iter().map(asked).collect();
    assert_eq!(first, ["Question 99?", "Question 0?"], "the newest of each user comes first");
    let (mut seen, mut cursor) = (first, page["nextCursor"].clone());
    while let Some(after) = cursor.as_str() {
        let path = format!("/api/v1/approvals?limit=40&cursor={after}");
        let page = server.ask("GET", path).owner().send().await.json();
        seen.extend(page["approvals"].as_array().unwrap().iter().map(asked));
        cursor = page["nextCursor"].clone();
    }
    assert_eq!(seen.len(), 101);
    let one =
        server.ask("GET", "/api/v1/approvals").owner().send().await.json()["approvals"][0]["id"].clone();
    let path = format!("/api/v1/approvals/{}", one.as_str().unwrap());
    let answered = server.ask("POST", path).owner().body(json!({ "answer": "yes" })).send().await;
    assert_eq!(answered.status, 200);
    assert_eq!(open(&server, &ada, 100).await.status, 202, "what is answered makes room");
}

#[tokio::test]
async fn promise_a_denial_answers_one_call_and_the_next_one_asks_anew() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let made = server.call(&key, "create-task", json!({ "title": "Old" })).await.json();
    let params = json!({ "taskId": made["data"]["task"]["taskId"] });
    let mut ids = Vec::new();
    for with_id in [false, true] {
        let waiting = server.call(&key, "delete-task", params.clone()).await;
        assert_eq!(waiting.status, 202, "{}", waiting.text);
        let id = waiting.json()["pending"]["id"].clone();
        let path = format!("/api/v1/approvals/{}", id.as_str().unwrap());
        let no = server.ask("POST", path).owner().body(json!({ "decision": "deny" })).send().await;
        assert_eq!(no.status, 200);
        let context = if with_id { json!({ "approvalId": id }) } else { json!({}) };
        let told = server
            .ask("POST", "/api/v1/tools/delete-task/call")
            .key(&key)
            .body(json!({ "params": params, "context": context }))
            .send()
            .await;
        assert_eq!((told.status.as_u16(), told.code().as_str()), (403, "approval_denied"), "{}", told.text);
        assert!(!ids.contains(&id), "each is asked about on its own");
        ids.push(id);
    }
    assert_eq!(server.call(&key, "delete-task", params).await.status, 202);
}
