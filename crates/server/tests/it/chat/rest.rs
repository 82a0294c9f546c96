//! `/api/v1/chat` and conversations, route by route.

use serde_json::{Value, json};

use super::scripted::{Scripted, call};
use crate::test_server::{Answer, TestServer};

pub async fn say(server: &TestServer, key: &str, body: Value) -> Answer {
    server.ask("POST", "/api/v1/chat").key(key).body(body).send().await
}

fn fields(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_has_exactly_the_published_fields() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let added = say(&server, &key, json!({ "message": "add buy milk", "profile": "todo-chatbot" })).await;
    assert_eq!(added.status, 200, "{}", added.text);
    assert!(added.headers.contains_key("x-run-id"));
    let added = added.json();
    assert_eq!(
        fields(&added),
        [
            "conversation_id",
            "response",
            "tool_calls",
            "pending_confirmation",
            "pending_question",
            "timestamp"
        ]
    );
    assert_eq!(fields(&added["tool_calls"][0]), ["tool_call_id", "name", "input", "output"]);
    assert_eq!(added["tool_calls"][0]["name"], "create_task");
    assert_eq!((&added["pending_confirmation"], &added["pending_question"]), (&Value::Null, &Value::Null));
    assert!(added["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
    let asked = say(
        &server,
        &key,
        json!({ "message": "delete task 1", "conversation_id": added["conversation_id"] }),
    )
    .await
    .json();
    let pending = &asked["pending_confirmation"];
    assert_eq!(fields(pending), ["id", "action", "task_id", "task_title", "expires_at", "message"]);
    assert_eq!(
        (&pending["action"], &pending["task_id"], &pending["task_title"]),
        (&json!("delete_task"), &json!(1), &json!("Buy milk"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_message_is_refused_with_the_field_and_begins_nothing() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let long = "ä".repeat(10_001);
    let cases = [
        (json!({ "message": "" }), "/message"),
        (json!({ "message": "   \n" }), "/message"),
        (json!({ "message": long }), "/message"),
        (json!({ "message": 7 }), "/message"),
        (json!({ "message": "hi", "profile": "nope" }), "/profile"),
        (json!({ "message": "hi", "context": { "timezone": "Mars/Base" } }), "/context/timezone"),
        (json!({ "message": "hi", "context": { "timestamp": "yesterday" } }), "/context/timestamp"),
    ];
    for (body, pointer) in cases {
        let refused = say(&server, &key, body.clone()).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (400, "invalid_input"), "{body}");
        assert_eq!(refused.json()["errors"][0]["pointer"], pointer, "{body}");
    }
    let unknown = say(&server, &key, json!({ "message": "hi", "mesage": "x" })).await;
    assert_eq!(unknown.status, 400);
    let listed = server.ask("GET", "/api/v1/conversations").key(&key).send().await.json();
    assert_eq!(listed, json!({ "conversations": [], "next_cursor": null }));
    let most = say(&server, &key, json!({ "message": "ä".repeat(10_000) })).await;
    assert_eq!(most.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn anothers_conversation_is_like_one_that_never_was() {
    let server = TestServer::new();
    let ada = server.key(json!({ "user": "ada" })).await;
    let bob = server.key(json!({ "user": "bob" })).await;
    let id = say(&server, &ada, json!({ "message": "hello" })).await.json()["conversation_id"].clone();
    let never = "0190f0f0-0000-7000-8000-000000000000";
    let bare = |answer: Answer| {
        let mut body = answer.json();
        body.as_object_mut().unwrap().remove("traceId");
        (answer.status.as_u16(), body)
    };
    for other in [id.as_str().unwrap(), never, "nonsense"] {
        let said = say(&server, &bob, json!({ "message": "hi", "conversation_id": other })).await;
        assert_eq!(said.status, 404);
        let said = bare(said);
        for (method, path) in [
            ("GET", format!("/api/v1/conversations/{other}")),
            ("DELETE", format!("/api/v1/conversations/{other}")),
            ("POST", format!("/api/v1/conversations/{other}/cancel")),
        ] {
            assert_eq!(bare(server.ask(method, path).key(&bob).send().await), said, "{method}");
        }
    }
    let shown =
        server.ask("GET", format!("/api/v1/conversations/{}", id.as_str().unwrap())).key(&ada).send().await;
    assert_eq!(shown.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_are_listed_by_pages_shown_and_forgotten() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let mut ids = Vec::new();
    for message in ["first words", "second words", "third words"] {
        let said = say(&server, &key, json!({ "message": message })).await.json();
        ids.push(said["conversation_id"].as_str().unwrap().to_owned());
    }
    let page = server.ask("GET", "/api/v1/conversations?limit=2").key(&key).send().await.json();
    assert_eq!(page["conversations"][0]["id"], ids[2].as_str());
    assert_eq!(page["conversations"][0]["title"], "third words");
    assert_eq!(fields(&page["conversations"][0]), ["id", "title", "profile", "created_at", "updated_at"]);
    let next = page["next_cursor"].as_str().unwrap();
    let rest = server
        .ask("GET", format!("/api/v1/conversations?limit=2&cursor={next}"))
        .key(&key)
        .send()
        .await
        .json();
    assert_eq!(rest["conversations"][0]["id"], ids[0].as_str());
    assert_eq!(rest["next_cursor"], Value::Null);
    let path = format!("/api/v1/conversations/{}", ids[0]);
    let shown = server.ask("GET", path.clone()).key(&key).send().await.json();
    let messages = shown["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2);
    assert_eq!((&messages[0]["role"], &messages[0]["content"]), (&json!("user"), &json!("first words")));
    assert_eq!(messages[1]["role"], "assistant");
    assert_eq!(server.ask("DELETE", path.clone()).key(&key).send().await.status, 204);
    assert_eq!(server.ask("GET", path).key(&key).send().await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_confined_to_a_profile_chats_in_it_and_sees_nothing_else() {
    let server = TestServer::new();
    let free = server.key(json!({ "user": "ada" })).await;
    let confined = server.key(json!({ "user": "ada", "profiles": ["assistant"] })).await;
    let elsewhere = say(&server, &free, json!({ "message": "add buy milk" })).await.json();
    let refused = say(&server, &confined, json!({ "message": "hi", "profile": "default" })).await;
    assert_eq!(refused.status, 400);
    for body in [
        json!({ "message": "hi", "conversation_id": elsewhere["conversation_id"] }),
        json!({ "message": "hi", "conversation_id": elsewhere["conversation_id"], "profile": "assistant" }),
    ] {
        assert_eq!(say(&server, &confined, body).await.status, 404);
    }
    let own = say(&server, &confined, json!({ "message": "show my tasks" })).await;
    assert_eq!(own.status, 200, "{}", own.text);
    assert_eq!(own.json()["tool_calls"][0]["name"], "list_tasks", "its own profile is the usual one");
    let seen = server.ask("GET", "/api/v1/conversations").key(&confined).send().await.json();
    let profiles: Vec<&Value> =
        seen["conversations"].as_array().unwrap().iter().map(|one| &one["profile"]).collect();
    assert_eq!(profiles, ["assistant"]);
    let models = server.ask("GET", "/v1/models").key(&confined).send().await.json();
    assert_eq!(models["data"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&models["data"][0]["id"], &models["data"][0]["profile"]),
        (&json!("toolroom"), &json!("assistant"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_of_a_request_says_it_once() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let send = || {
        let body = json!({ "message": "add buy milk", "profile": "todo-chatbot" });
        server.ask("POST", "/api/v1/chat").key(&key).header("idempotency-key", "k1").body(body).send()
    };
    let (first, again) = (send().await.json(), send().await.json());
    assert_eq!(first, again);
    let tasks = server.function(&key, "todo-chatbot", "list_tasks", json!({})).await.json();
    assert_eq!(tasks["count"], 1, "{tasks}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_cancelled_while_the_model_thinks() {
    let model = Scripted::waiting([call("create-task", json!({ "title": "Too late" }))]);
    let server = TestServer::speaking(model.clone());
    let key = server.key(json!({ "user": "ada" })).await;
    let said = say(&server, &key, json!({ "message": "add something" }));
    // Again and again: the conversation is there a moment before its run.
    let cancelling = async {
        loop {
            let open = server.ask("GET", "/api/v1/conversations").key(&key).send().await.json();
            if let Some(id) = open["conversations"][0]["id"].as_str() {
                let path = format!("/api/v1/conversations/{id}/cancel");
                assert_eq!(server.ask("POST", path).key(&key).send().await.status, 204);
            }
            tokio::task::yield_now().await;
        }
    };
    let said = tokio::select! {
        said = said => said,
        () = cancelling => unreachable!("it goes on"),
    };
    let answer = said.json();
    assert_eq!(answer["tool_calls"], json!([]), "{answer}");
    assert!(answer["response"].as_str().unwrap().contains("Nothing was changed"), "{answer}");
}
