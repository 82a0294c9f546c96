//! What the console's other pages need: profiles made here, keys that expire, titles, the model, the server itself.

use serde_json::{Value, json};

use crate::test_server::TestServer;

#[tokio::test]
async fn promise_a_profile_is_planned_made_used_and_removed() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada", "grants": ["registry:write", "tasks:*"] })).await;
    let send = async |method: &str, path: &str, body: Value| {
        server.ask(method, format!("/api/v1/profiles{path}")).key(&key).body(body).send().await
    };
    let plan = async |settings: Value| {
        let body = json!({ "settings": settings });
        server.ask("POST", "/api/v1/drafts/profile").key(&key).body(body).send().await.json()
    };
    let settings =
        json!({ "tools": ["*-task"], "without": ["delete-task"], "rename": { "create-task": "add" } });
    let planned = plan(settings.clone()).await;
    let add = planned["tools"].as_array().unwrap().iter().find(|one| one["tool"] == "create-task").unwrap();
    assert_eq!(add["as"], "add", "{planned}");
    let sum: u64 =
        planned["tools"].as_array().unwrap().iter().map(|one| one["tokens"].as_u64().unwrap()).sum();
    assert_eq!(planned["tokens"], sum);
    assert_eq!(send("PUT", "/mine", settings.clone()).await.status, 201);
    let made = server.ask("GET", "/api/v1/profiles/mine").key(&key).send().await.json();
    assert_eq!(
        (&made["readOnly"], &made["settings"]["tools"], &made["tokens"]),
        (&json!(false), &json!(["*-task"]), &json!(sum))
    );
    let called = server.function(&key, "mine", "add", json!({ "title": "Milk" })).await;
    assert_eq!(called.status, 200, "{}", called.text);
    let file = std::fs::read_to_string(server.folder.path().join("profiles.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(file["profiles"]["mine"], settings, "only what was set is written");
    let listed = server.ask("GET", "/api/v1/profiles").key(&key).send().await.json();
    let read_only = |name: &str| {
        let profiles = listed["profiles"].as_array().unwrap();
        profiles.iter().find(|one| one["name"] == name).unwrap()["readOnly"].clone()
    };
    assert_eq!((read_only("mine"), read_only("assistant")), (json!(false), json!(true)));
    assert_eq!(send("PUT", "/mine", json!({ "tools": ["get-task"] })).await.status, 200);
    for (path, body, status) in [
        ("/assistant", json!({ "tools": ["*"] }), 409),
        ("/empty", json!({}), 400),
        ("/odd name", json!({ "tools": ["*"] }), 400),
        ("/mine", json!({ "tools": ["*"], "rename": { "get-task": "x", "list-tasks": "x" } }), 400),
    ] {
        let refused = send("PUT", &path.replace(' ', "%20"), body).await;
        assert_eq!(refused.status, status, "{path}: {}", refused.text);
    }
    let clash = plan(json!({ "tools": ["*"], "rename": { "get-task": "list-tasks" } })).await;
    assert_eq!(clash["collisions"][0]["as"], "list-tasks", "{clash}");
    let gone = server.ask("DELETE", "/api/v1/profiles/mine").key(&key).send().await;
    assert_eq!(gone.status, 204, "{}", gone.text);
    assert_eq!(server.ask("GET", "/api/v1/profiles/mine").key(&key).send().await.status, 404);
    assert_eq!(server.ask("DELETE", "/api/v1/profiles/mine").key(&key).send().await.status, 404);
    let confined = json!({ "user": "bob", "grants": ["registry:write"], "profiles": ["assistant"] });
    let confined = server.key(confined).await;
    let put = server
        .ask("PUT", "/api/v1/profiles/assistant2")
        .key(&confined)
        .body(json!({ "tools": ["*"] }))
        .send()
        .await;
    assert_eq!(put.status, 403, "{}", put.text);
}

#[tokio::test]
async fn promise_a_key_has_a_note_an_end_and_a_last_use() {
    let server = TestServer::new();
    let past = json!({ "user": "ada", "expires_at": "2020-01-01T00:00:00Z" });
    assert_eq!(server.ask("POST", "/api/v1/keys").owner().body(past).send().await.status, 400);
    let later = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
    let key =
        server.key(json!({ "user": "ada", "note": "for the report", "expires_at": later.to_string() })).await;
    let listed = async || server.ask("GET", "/api/v1/keys").owner().send().await.json()["keys"][0].clone();
    assert_eq!(
        (&listed().await["note"], &listed().await["last_used_at"]),
        (&json!("for the report"), &Value::Null)
    );
    let used = async |key: &str| server.ask("GET", "/api/v1/me").key(key).send().await;
    assert_eq!(used(&key).await.status, 200);
    while listed().await["last_used_at"].is_null() {
        tokio::task::yield_now().await;
    }
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_millis(300);
    let short = server.key(json!({ "user": "ada", "expires_at": soon.to_string() })).await;
    let refused = loop {
        let answer = used(&short).await;
        if answer.status != 200 {
            break answer;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(refused.status, 401);
    assert!(jiff::Timestamp::now() >= soon, "not before its end");
}

#[tokio::test]
async fn promise_a_conversation_gets_another_title_from_its_owner_alone() {
    let server = TestServer::new();
    let (ada, bob) = (server.key(json!({ "user": "ada" })).await, server.key(json!({ "user": "bob" })).await);
    let said =
        server.ask("POST", "/api/v1/chat").key(&ada).body(json!({ "message": "list my tasks" })).send().await;
    let path = format!("/api/v1/conversations/{}", said.json()["conversation_id"].as_str().unwrap());
    let title = async |key: &str, title: &str| {
        server.ask("PATCH", &path).key(key).body(json!({ "title": title })).send().await
    };
    assert_eq!(title(&ada, "Monday").await.json()["title"], "Monday");
    assert_eq!(server.ask("GET", &path).key(&ada).send().await.json()["title"], "Monday");
    assert_eq!(title(&bob, "Mine").await.status, 404);
    for wrong in ["", " ", "a\nb", &"x".repeat(81)] {
        assert_eq!(title(&ada, wrong).await.status, 400, "{wrong:?}");
    }
}

#[tokio::test]
async fn promise_a_yes_goes_to_the_question_that_was_shown_and_to_no_other() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let say = async |body: Value| server.ask("POST", "/api/v1/chat").key(&key).body(body).send().await;
    for title in ["Milk", "Bread"] {
        server.call(&key, "create-task", json!({ "title": title })).await;
    }
    let first = say(json!({ "message": "delete task 1" })).await.json();
    let (chat, old) = (first["conversation_id"].clone(), first["pending_confirmation"]["id"].clone());
    assert!(old.is_string(), "{first}");
    let second = say(json!({ "message": "delete task 2", "conversation_id": chat })).await.json();
    let new = second["pending_confirmation"]["id"].clone();
    let late = say(json!({ "message": "yes", "conversation_id": chat, "confirmation_id": old })).await;
    assert_eq!((late.status.as_u16(), late.code().as_str()), (409, "version_conflict"), "{}", late.text);
    let tasks = server.call(&key, "list-tasks", json!({})).await.json();
    assert_eq!(tasks["data"]["tasks"].as_array().unwrap().len(), 2, "nothing was deleted");
    // Nor can anybody say it elsewhere: not in another's name, and not as an approval.
    let boss = json!({ "user": "bob", "person": true, "grants": ["approvals:decide"] });
    let boss = server.key(boss).await;
    for decision in ["approve", "deny"] {
        let path = format!("/api/v1/approvals/{}", new.as_str().unwrap());
        let body = json!({ "decision": decision });
        let refused = server.ask("POST", path).key(&boss).body(body).send().await;
        assert_eq!(
            (refused.status.as_u16(), refused.code().as_str()),
            (400, "invalid_input"),
            "{}",
            refused.text
        );
        assert!(refused.text.contains("confirmation_id"), "{}", refused.text);
    }
    let yes = say(json!({ "message": "yes", "conversation_id": chat, "confirmation_id": new })).await;
    assert_eq!(yes.status, 200, "{}", yes.text);
    let tasks = server.call(&key, "list-tasks", json!({})).await.json();
    assert_eq!(tasks["data"]["tasks"].as_array().unwrap().len(), 1, "{}", yes.text);
    assert_eq!(say(json!({ "message": "yes", "confirmation_id": new })).await.status, 409);
}

#[tokio::test]
async fn promise_a_call_of_the_chat_leads_to_its_row_in_the_log() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let said = server
        .ask("POST", "/api/v1/chat?stream=true")
        .key(&key)
        .body(json!({ "message": "list my tasks" }))
        .send()
        .await;
    let event = |name: &str| -> Value {
        let at = said.text.find(&format!("event: {name}\n")).unwrap_or_else(|| panic!("{}", said.text));
        let data = said.text[at..].lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        serde_json::from_str(data).unwrap()
    };
    let (started, finished) = (event("tool_started"), event("tool_finished"));
    assert_eq!(started["execution_id"], finished["execution_id"]);
    let path = format!("/api/v1/executions/{}", started["execution_id"].as_str().unwrap());
    let row = server.ask("GET", path).key(&key).send().await.json();
    assert_eq!(row["tool"], started["name"], "{row}");
    let chats = server.ask("GET", "/api/v1/conversations").key(&key).send().await.json();
    let path = format!("/api/v1/conversations/{}", chats["conversations"][0]["id"].as_str().unwrap());
    let kept = server.ask("GET", path).key(&key).send().await.json();
    assert_eq!(
        kept["messages"][1]["metadata"]["tool_calls"][0]["execution_id"], started["execution_id"],
        "{kept}"
    );
}

#[tokio::test]
async fn promise_the_server_says_what_it_is_and_which_model_answers() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let about = server.ask("GET", "/api/v1/about").key(&key).send().await.json();
    assert_eq!((&about["database"], about["home"].is_null()), (&json!("sqlite"), true), "{about}");
    assert!(about["catalogueVersion"].is_u64() && about["started_at"].is_string(), "{about}");
    let model = server.ask("GET", "/api/v1/chat/model").key(&key).send().await.json();
    assert_eq!((&model["kind"], &model["reachable"]), (&json!("offline"), &json!(true)), "{model}");
    for path in ["/api/v1/doctor", "/api/v1/settings"] {
        assert_eq!(server.ask("GET", path).key(&key).send().await.status, 403, "{path}");
    }
}
