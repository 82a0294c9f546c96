//! A database that fails or is gone: each profile says so in its own words, and nothing of its inside.

use serde_json::{Value, json};

use super::databases::Database;
use super::desk::Desk;
use crate::house::House;

const INSIDE: [&str; 6] = ["postgres", "select", "relation", "127.0.0.1", "toolroom_server_", ".rs"];

/// One call of each profile, and whether its answer is the failure that the profile publishes.
type Case = (&'static str, &'static str, Value, fn(&Value) -> bool);

fn cases() -> [Case; 5] {
    let chatbot: fn(&Value) -> bool = |answer| {
        let message = answer["message"].as_str().unwrap_or_default();
        message.starts_with("Failed to retrieve tasks: ") || message.starts_with("Failed to create task: ")
    };
    let tasks: fn(&Value) -> bool = |answer| answer["error"]["code"] == "processing_error";
    let assistant: fn(&Value) -> bool = |answer| answer["code"] == "DATABASE_ERROR";
    [
        ("todo-chatbot", "list_tasks", json!({}), chatbot),
        ("todo-chatbot", "create_task", json!({ "title": "B" }), chatbot),
        ("todo_tasks", "list_tasks", json!({ "user_id": "ada" }), tasks),
        ("assistant", "list_tasks", json!({}), assistant),
        ("assistant", "add_task", json!({ "title": "B" }), assistant),
    ]
}

fn shows_nothing_of_the_inside(text: &str) {
    let said = text.to_lowercase();
    for inside in INSIDE {
        assert!(!said.contains(inside), "{text}");
    }
}

#[tokio::test]
async fn each_profile_tells_of_a_database_that_fails_in_its_own_words() {
    let database = Database::postgres();
    let house = House::on(&database.url);
    let ada = Desk::new(&house, "assistant", "ada").await;
    ada.ask("add_task", json!({ "title": "A" })).await;
    database.run_sql("ALTER TABLE tasks RENAME TO lost");
    for (profile, tool, params, fits) in cases() {
        let answer = ada.at(profile).ask(tool, params).await;
        assert_eq!(answer["success"], false);
        assert!(fits(&answer), "{profile} {tool}: {answer}");
        shows_nothing_of_the_inside(&answer.to_string());
    }
    database.run_sql("ALTER TABLE lost RENAME TO tasks");
    assert_eq!(ada.ask("list_tasks", json!({})).await["count"], 1, "and all is well again");
}

/// While the key itself cannot be looked up, no profile is reached: the answer is a problem document.
#[tokio::test]
async fn a_lost_database_is_told_in_the_profiles_words_or_as_unavailable() {
    let database = Database::postgres();
    let house = House::on(&database.url);
    let ada = Desk::new(&house, "assistant", "ada").await;
    ada.ask("add_task", json!({ "title": "A" })).await;
    drop(database);
    for (profile, tool, params, fits) in cases() {
        let answer = house.function(&ada.key, profile, tool, params).await;
        match answer.status.as_u16() {
            200 => assert!(fits(&answer.json()), "{profile} {tool}: {}", answer.text),
            status => {
                assert_eq!((status, answer.code().as_str()), (503, "service_unavailable"), "{}", answer.text)
            }
        }
        shows_nothing_of_the_inside(&answer.text);
    }
}
