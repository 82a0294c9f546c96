//! `/api/v1/chat` and conversations, route by route.

use serde_json::{Value, json};

use super::scripted::{Scripted, call};
use crate::house::{Answer, House};

pub async fn say(house: &House, key: &str, body: Value) -> Answer {
    house.ask("POST", "/api/v1/chat").key(key).body(body).send().await
}

fn fields(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_has_exactly_the_published_fields() {
    let house = House::new();
    let key = house.key(json!({ "user": "ada" })).await;
    let added = say(&house, &key, json!({ "message": "add buy milk", "profile": "todo-chatbot" })).await;
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
    let asked =
        say(&house, &key, json!({ "message": "delete task 1", "conversation_id": added["conversation_id"] }))
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
    let house = House::new();
    let key = house.key(json!({ "user": "ada" })).await;
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
        let refused = say(&house, &key, body.clone()).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (400, "invalid_input"), "{body}");
        assert_eq!(refused.json()["errors"][0]["pointer"], pointer, "{body}");
    }
    let unknown = say(&house, &key, json!({ "message": "hi", "mesage": "x" })).await;
    assert_eq!(unknown.status, 400);
    let listed = house.ask("GET", "/api/v1/conversations").key(&key).send().await.json();
    assert_eq!(listed, json!({ "conversations": [], "next_cursor": null }));
    let most = say(&house, &key, json!({ "message": "ä".repeat(10_000) })).await;
    assert_eq!(most.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn anothers_conversation_is_like_one_that_never_was() {
    let house = House::new();
    let ada = house.key(json!({ "user": "ada" })).await;
    let bob = house.key(json!({ "user": "bob" })).await;
    let id = say(&house, &ada, json!({ "message": "hello" })).await.json()["conversation_id"].clone();
    let never = "0190f0f0-0000-7000-8000-000000000000";
    let bare = |answer: Answer| {
        let mut body = answer.json();
        body.as_object_mut().unwrap().remove("traceId");
        (answer.status.as_u16(), body)
    };
    for other in [id.as_str().unwrap(), never, "nonsense"] {
        let said = say(&house, &bob, json!({ "message": "hi", "conversation_id": other })).await;
        assert_eq!(said.status, 404);
        let said = bare(said);
        for (method, path) in [
            ("GET", format!("/api/v1/conversations/{other}")),
            ("DELETE", format!("/api/v1/conversations/{other}")),
            ("POST", format!("/api/v1/conversations/{other}/cancel")),
        ] {
            assert_eq!(bare(house.ask(method, path).key(&bob).send().await), said, "{method}");
        }
    }
    let shown =
        house.ask("GET", format!("/api/v1/conversations/{}", id.as_str().unwrap())).key(&ada).send().await;
    assert_eq!(shown.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_are_listed_by_pages_shown_and_forgotten() {
    let house = House::new();
    let key = house.key(json!({ "user": "ada" })).await;
    let mut ids = Vec::new();
    for message in ["first words", "second words", "third words"] {
        let said = say(&house, &key, json!({ "message": message })).await.json();
        ids.push(said["conversation_id"].as_str().unwrap().to_owned());
    }
    let page = house.ask("GET", "/api/v1/conversations?limit=2").key(&key).send().await.json();
    assert_eq!(page["conversations"][0]["id"], ids[2].as_str());
    assert_eq!(page["conversations"][0]["title"], "third words");
    assert_eq!(fields(&page["conversations"][0]), ["id", "title", "profile", "created_at", "updated_at"]);
    let next = page["next_cursor"].as_str().unwrap();
    let rest = house
        .ask("GET", format!("/api/v1/conversations?limit=2&cursor={next}"))
        .key(&key)
        .send()
        .await
        .json();
    assert_eq!(rest["conversations"][0]["id"], ids[0].as_str());
    assert_eq!(rest["next_cursor"], Value::Null);
    let path = format!("/api/v1/conversations/{}", ids[0]);
    let shown = house.ask("GET", path.clone()).key(&key).send().await.json();
    let messages = shown["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2);
    assert_eq!((&messages[0]["role"], &messages[0]["content"]), (&json!("user"), &json!("first words")));
    assert_eq!(messages[1]["role"], "assistant");
    assert_eq!(house.ask("DELETE", path.clone()).key(&key).send().await.status, 204);
    assert_eq!(house.ask("GET", path).key(&key).send().await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_confined_to_a_profile_chats_in_it_and_sees_nothing_else() {
    let house = House::new();
    let free = house.key(json!({ "user": "ada" })).await;
    let confined = house.key(json!({ "user": "ada", "profiles": ["assistant"] })).await;
    let elsewhere = say(&house, &free, json!({ "message": "add buy milk" })).await.json();
    let refused = say(&house, &confined, json!({ "message": "hi", "profile": "default" })).await;
    assert_eq!(refused.status, 400);
    for body in [
        json!({ "message": "hi", "conversation_id": elsewhere["conversation_id"] }),
        json!({ "message": "hi", "conversation_id": elsewhere["conversation_id"], "profile": "assistant" }),
    ] {
        assert_eq!(say(&house, &confined, body).await.status, 404);
    }
    let own = say(&house, &confined, json!({ "message": "show my tasks" })).await;
    assert_eq!(own.status, 200, "{}", own.text);
    assert_eq!(own.json()["tool_calls"][0]["name"], "list_tasks", "its own profile is the usual one");
    let seen = house.ask("GET", "/api/v1/conversations").key(&confined).send().await.json();
    let profiles: Vec<&Value> =
        seen["conversations"].as_array().unwrap().iter().map(|one| &one["profile"]).collect();
    assert_eq!(profiles, ["assistant"]);
    let models = house.ask("GET", "/v1/models").key(&confined).send().await.json();
    assert_eq!(models["data"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&models["data"][0]["id"], &models["data"][0]["profile"]),
        (&json!("toolroom"), &json!("assistant"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_of_a_request_says_it_once() {
    let house = House::new();
    let key = house.key(json!({ "user": "ada" })).await;
    let send = || {
        let body = json!({ "message": "add buy milk", "profile": "todo-chatbot" });
        house.ask("POST", "/api/v1/chat").key(&key).header("idempotency-key", "k1").body(body).send()
    };
    let (first, again) = (send().await.json(), send().await.json());
    assert_eq!(first, again);
    let tasks = house.function(&key, "todo-chatbot", "list_tasks", json!({})).await.json();
    assert_eq!(tasks["count"], 1, "{tasks}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_cancelled_while_the_model_thinks() {
    let model = Scripted::waiting([call("create-task", json!({ "title": "Too late" }))]);
    let house = House::speaking(model.clone());
    let key = house.key(json!({ "user": "ada" })).await;
    let said = say(&house, &key, json!({ "message": "add something" }));
    // Again and again: the conversation is there a moment before its run.
    let cancelling = async {
        loop {
            let open = house.ask("GET", "/api/v1/conversations").key(&key).send().await.json();
            if let Some(id) = open["conversations"][0]["id"].as_str() {
                let path = format!("/api/v1/conversations/{id}/cancel");
                assert_eq!(house.ask("POST", path).key(&key).send().await.status, 204);
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
