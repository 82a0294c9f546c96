//! Messages that are made to take long: each is answered, and meanwhile everybody else is. And a model that claims more
//! than what was done.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use toolroom_model::Turn;

use super::rest::say;
use super::scripted::{Scripted, call};
use crate::test_server::TestServer;

/// Generous for a debug build on a busy machine; a reader that is not bounded takes minutes.
const SOON: Duration = Duration::from_secs(30);

fn repeated(word: &str) -> String {
    word.repeat(10_000 / word.len())
}

/// What a reader may stumble over, each as long as a message may be.
fn hostile() -> Vec<String> {
    let words = [
        "and ",
        "then ",
        "also, ",
        "but ",
        "please ",
        ", ",
        "\" ",
        "'a ",
        "`",
        "(",
        "[{",
        "1 ",
        "1-200 ",
        "#1 ",
        "by ",
        "due ",
        "friday ",
        "feb 30 ",
        "12/31 ",
        "2026-12-31T10:00:00",
        "not not ",
        "don't ",
        "can you and ",
        "i need to ",
        "high ",
        "task ",
        "add a task ",
        "delete it. ",
        "what is ",
        "\u{65e5}\u{672c} ",
        "\u{1f600}",
        "e\u{301}\u{301}\u{301}",
        "a\n",
        "thanks ",
        "mind adding ",
        "zqxjzqxjzqxjzqxj ",
    ];
    words.into_iter().map(repeated).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_hostile_messages_are_answered_and_hold_nobody_up() {
    let server = TestServer::new();
    let nobody = server.key(json!({ "user": "mallory", "grants": ["none"] })).await;
    let ada = server.key(json!({ "user": "ada" })).await;
    // The two that froze the server, and their siblings.
    let two = "and ".repeat(2_400);
    let messages: Vec<String> = [two.clone(), two].into_iter().chain(hostile()).collect();
    let sent = messages.iter().map(|message| say(&server, &nobody, json!({ "message": message })));
    let all = futures_util::future::join_all(sent);
    let others = async {
        for _ in 0..20 {
            let listed = timeout(SOON, server.ask("GET", "/api/v1/tools").key(&ada).send()).await;
            assert_eq!(listed.expect("another request is answered").status, 200);
        }
    };
    let (answers, ()) = tokio::join!(timeout(SOON * 4, all), others);
    for (message, answer) in messages.iter().zip(answers.expect("every message is answered")) {
        let start: String = message.chars().take(20).collect();
        assert_eq!(answer.status, 200, "{start:?}: {}", answer.text);
        let answer = answer.json();
        assert_eq!(answer["tool_calls"], json!([]), "{start:?}");
        assert_ne!(answer["response"], "", "{start:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_of_hostile_messages_is_answered() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let hostile = "and delete task 1 ".repeat(160);
    let mut messages: Vec<_> = (0..200).map(|_| json!({ "role": "user", "content": hostile })).collect();
    messages.push(json!({ "role": "user", "content": "add buy milk" }));
    let body = json!({ "model": "toolroom", "messages": messages });
    let asked = server.ask("POST", "/v1/chat/completions").key(&key).body(body).send();
    let answer = timeout(SOON, asked).await.expect("it is answered");
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(answer.text.contains("milk"), "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_too_long_to_be_read_changes_nothing_and_says_so() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    say(&server, &key, json!({ "message": "add buy milk" })).await;
    let message = format!("Complete task 1 {} but leave task 1 as it is", "very ".repeat(700));
    let answer = say(&server, &key, json!({ "message": message })).await.json();
    assert_eq!(answer["tool_calls"], json!([]));
    let said = answer["response"].as_str().unwrap();
    assert!(said.contains("I read only the first 600 words") && said.contains("I did nothing"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_succeeded_is_no_licence_to_claim_that_a_task_was_deleted() {
    let server =
        TestServer::speaking(Scripted::new([call("greet", json!({})), Turn::text("I've deleted task 1.")]));
    let entry = json!({
        "name": "greet", "description": "Greets. Use it to greet. Returns what was said.", "type": "local",
        "input_schema": { "type": "object", "properties": {}, "additionalProperties": false },
        "config": { "script_path": "greet.sh" }, "script": "echo '{\"said\": \"hello\"}'",
    });
    let made = server.ask("POST", "/api/v1/tools").owner().body(entry).send().await;
    assert_eq!(made.status, 201, "{}", made.text);
    let key = server.key(json!({ "user": "ada", "grants": ["*"] })).await;
    server.call(&key, "create-task", json!({ "title": "Milk" })).await;
    let answer = say(&server, &key, json!({ "message": "delete task 1 and greet everyone" })).await.json();
    assert_eq!(answer["tool_calls"][0]["name"], "greet", "{answer}");
    let said = answer["response"].as_str().unwrap();
    assert_eq!(said, "Called greet.\n\nI've deleted task 1.\n\nNothing else was changed.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_states_its_effect_is_asked_about_by_title_and_has_a_receipt() {
    let server = TestServer::speaking(Scripted::new([
        call("close-ticket", json!({ "key": "A-1" })),
        Turn::text("I've closed the ticket."),
    ]));
    let entry = json!({
        "name": "close-ticket", "description": "Closes a ticket. Use it when one is solved. Returns the ticket.",
        "type": "local", "destructive": true, "category": "mutation",
        "input_schema": {
            "type": "object", "properties": { "key": { "type": "string", "maxLength": 20 } }, "required": ["key"],
            "additionalProperties": false
        },
        "effect": {
            "kind": "complete",
            "target": {
                "nouns": ["ticket"], "id": "key", "title": "summary", "at": ["/params/key", "/data/key"]
            },
            "question": ["close {target}"],
            "receipt": ["Closed {target}[, {/data/hours} hours spent]."]
        },
        "config": { "script_path": "close.sh" },
        "script": "echo '{\"key\": \"A-1\", \"summary\": \"Paint it\", \"hours\": 3}'",
    });
    let made = server.ask("POST", "/api/v1/tools").owner().body(entry.clone()).send().await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(made.json()["effect"]["kind"], "complete", "{}", made.text);
    let key = server.key(json!({ "user": "ada", "grants": ["*"] })).await;
    let asked = say(&server, &key, json!({ "message": "close ticket A-1" })).await.json();
    assert_eq!(asked["response"], "Shall I close ticket A-1? Please answer yes or no.", "{asked}");
    let next = json!({ "message": "yes", "conversation_id": asked["conversation_id"] });
    let done = say(&server, &key, next).await.json();
    assert_eq!(
        done["response"], "Closed ticket A-1 “Paint it”, 3 hours spent.\n\nI've closed the ticket.",
        "{done}"
    );
    let mut wrong = entry;
    wrong["name"] = json!("close-other");
    wrong["effect"]["receipt"] = json!(["Closed {target."]);
    let refused = server.ask("POST", "/api/v1/tools").owner().body(wrong).send().await;
    assert!(refused.status == 422 || refused.status == 400, "{}", refused.text);
    assert!(refused.text.contains("effect"), "{}", refused.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_code_that_failed_is_no_licence_to_claim_what_it_was_to_do() {
    let code = "import sys\nprint('deleting')\nsys.exit(1)";
    let server = TestServer::speaking(Scripted::new([
        call("execute-code", json!({ "language": "python", "code": code })),
        Turn::text("Done! I deleted the rows."),
    ]));
    let key = server.key(json!({ "user": "ada", "grants": ["*"] })).await;
    let wanted = "run code that deletes the rows of the table";
    let mut answer = say(&server, &key, json!({ "message": wanted })).await.json();
    if !answer["pending_confirmation"].is_null() {
        let yes = json!({ "message": "yes", "conversation_id": answer["conversation_id"] });
        answer = say(&server, &key, yes).await.json();
    }
    let called = &answer["tool_calls"][0];
    assert!(called["name"] == "execute-code" || called["name"] == "execute_code", "{answer}");
    assert!(called["output"].to_string().contains("exit code 1"), "{answer}");
    let said = answer["response"].as_str().unwrap();
    assert!(said.starts_with("Done! I deleted the rows.\n\n"), "{said}");
    assert!(said.ends_with("Nothing was changed.") || said.contains("may have taken effect"), "{said}");
}
