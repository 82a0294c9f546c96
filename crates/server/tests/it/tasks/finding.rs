//! `find_task`: the figures of the published contract, and what follows from them.

use serde_json::{Value, json};

use super::databases::on_both;
use super::profile_client::{ProfileClient, same};
use crate::test_server::TestServer;

async fn ada<'a>(server: &'a TestServer, titles: &[&str]) -> ProfileClient<'a> {
    let ada = ProfileClient::new(server, "assistant", "ada").await;
    for title in titles {
        ada.ask("add_task", json!({ "title": title })).await;
    }
    ada
}

fn candidates(answer: &Value) -> Vec<(&str, f64)> {
    assert_eq!(answer["match_type"], "multiple", "{answer}");
    let tasks = answer["tasks"].as_array().unwrap();
    tasks.iter().map(|task| (task["title"].as_str().unwrap(), task["confidence"].as_f64().unwrap())).collect()
}

#[tokio::test]
async fn one_match_comes_with_the_task_and_its_confidence() {
    on_both(|server| async move {
        let ada = ada(&server, &["Buy milk from store"]).await;
        same(
            &ada.ask("find_task", json!({ "query": "milk" })).await,
            json!({
                "success": true,
                "match_type": "single",
                "task": {
                    "id": 1, "title": "Buy milk from store", "priority": "medium", "due_date": null,
                    "description": null, "completed": false
                },
                "confidence": 0.87,
                "message": "Found 1 matching task"
            }),
        );
    })
    .await;
}

#[tokio::test]
async fn several_matches_come_best_first_and_nothing_is_guessed() {
    on_both(|server| async move {
        let ada = ada(&server, &["Milk delivery subscription", "Buy milk from store"]).await;
        same(
            &ada.ask("find_task", json!({ "query": "milk" })).await,
            json!({
                "success": true,
                "match_type": "multiple",
                "tasks": [
                    { "id": 2, "title": "Buy milk from store", "confidence": 0.87 },
                    { "id": 1, "title": "Milk delivery subscription", "confidence": 0.78 }
                ],
                "message": "Found 2 matching tasks. Please specify which one."
            }),
        );
    })
    .await;
}

#[tokio::test]
async fn no_match_is_not_found_with_a_suggestion() {
    on_both(|server| async move {
        let ada = ada(&server, &["Call mom"]).await;
        same(
            &ada.ask("find_task", json!({ "query": "milk" })).await,
            json!({
                "success": false,
                "match_type": "none",
                "error": "No tasks found matching 'milk'",
                "code": "NOT_FOUND",
                "suggestion": "Try listing all tasks with list_tasks()"
            }),
        );
    })
    .await;
}

#[tokio::test]
async fn the_published_figures_hold() {
    on_both(|server| async move {
        let ada = ada(&server, &["Call dentist", "Call mom", "Buy milk from store"]).await;
        let find = |query: &'static str| ada.ask("find_task", json!({ "query": query }));
        assert_eq!(candidates(&find("call").await), [("Call mom", 0.95), ("Call dentist", 0.92)]);
        assert_eq!(find("milk").await["confidence"], 0.87);
        assert_eq!(find("Buy milk from store").await["confidence"], 1.0);
        assert_eq!(find("  buy MILK, from store! ").await["confidence"], 1.0, "case and punctuation aside");
        assert_eq!(find("store from milk buy").await["confidence"], 0.99);
        let typo = find("mlik").await;
        assert_eq!(typo["task"]["title"], "Buy milk from store");
        assert!(typo["confidence"].as_f64().unwrap() >= 0.6, "{typo}");
        assert_eq!(find("renew passport").await["match_type"], "none", "an unrelated title is below 0.6");
    })
    .await;
}

#[tokio::test]
async fn one_exact_title_among_several_is_meant() {
    on_both(|server| async move {
        let ada = ada(&server, &["Call mom", "Call mom about the party"]).await;
        let exact = ada.ask("find_task", json!({ "query": "call mom" })).await;
        assert_eq!((&exact["match_type"], &exact["confidence"]), (&json!("single"), &json!(1.0)));
        ada.ask("add_task", json!({ "title": "CALL MOM" })).await;
        let twice = ada.ask("find_task", json!({ "query": "call mom" })).await;
        assert_eq!(candidates(&twice)[..2], [("CALL MOM", 1.0), ("Call mom", 1.0)], "{twice}");
    })
    .await;
}

#[tokio::test]
async fn the_threshold_is_kept_at_both_ends() {
    on_both(|server| async move {
        let ada = ada(&server, &["Buy milk from store"]).await;
        for (threshold, found) in
            [(json!(0), true), (json!(0.6), true), (json!(0.87), true), (json!(0.88), false), (json!(1), false)]
        {
            let answer = ada.ask("find_task", json!({ "query": "milk", "threshold": threshold })).await;
            assert_eq!(answer["success"], found, "{threshold}: {answer}");
        }
        for threshold in [json!(-0.1), json!(1.1), json!("0.6")] {
            let answer = ada.ask("find_task", json!({ "query": "milk", "threshold": threshold })).await;
            assert_eq!(answer["code"], "VALIDATION_ERROR", "{answer}");
            assert!(answer["error"].as_str().unwrap().contains("threshold"), "{answer}");
        }
        for query in ["", "   "] {
            same(
                &ada.ask("find_task", json!({ "query": query })).await,
                json!({ "success": false, "error": "Validation error: query cannot be empty", "code": "VALIDATION_ERROR" }),
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_search_is_right_after_every_write_through_any_profile() {
    on_both(|server| async move {
        let ada = ada(&server, &["Buy milk"]).await;
        let found =
            || async { ada.ask("find_task", json!({ "query": "milk" })).await["task"]["title"].clone() };
        assert_eq!(found().await, "Buy milk");
        ada.at("todo-chatbot").ask("update_task", json!({ "task_id": 1, "title": "Drink milk" })).await;
        assert_eq!(found().await, "Drink milk");
        ada.at("todo_tasks").ask("delete_task", json!({ "task_id": "1", "user_id": "ada" })).await;
        assert_eq!(found().await, Value::Null);
        ada.call("restore-task", json!({ "taskId": 1 })).await;
        assert_eq!(found().await, "Drink milk");
    })
    .await;
}

#[tokio::test]
async fn a_search_sees_only_the_callers_tasks() {
    on_both(|server| async move {
        ada(&server, &["Buy milk from store"]).await;
        let bob = ProfileClient::new(&server, "assistant", "bob").await;
        assert_eq!(bob.ask("find_task", json!({ "query": "milk" })).await["match_type"], "none");
        let canonical = bob.call("find-tasks", json!({ "query": "Buy milk from store" })).await.1;
        assert_eq!(canonical["data"], json!({ "matchType": "none", "matches": [] }));
    })
    .await;
}

#[tokio::test]
async fn all_candidates_come_however_many_there_are() {
    on_both(|server| async move {
        let titles: Vec<String> = (0..230).map(|at| format!("Call number {at}")).collect();
        let ada = ada(&server, &titles.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let answer = ada.ask("find_task", json!({ "query": "call" })).await;
        assert_eq!(candidates(&answer).len(), 230);
        assert_eq!(answer["message"], "Found 230 matching tasks. Please specify which one.");
        // Models are shown the best of them, unless they ask for all.
        let (_, canonical) = ada.call("find-tasks", json!({ "query": "call" })).await;
        assert_eq!(canonical["data"]["matches"].as_array().unwrap().len(), 50);
        let (_, whole) = ada.call("find-tasks", json!({ "query": "call", "whole": true })).await;
        assert_eq!(whole["data"]["matches"].as_array().unwrap().len(), 230);
        let all = json!({ "query": "call", "whole": true, "status": "pending" });
        let (_, pending) = ada.call("find-tasks", all).await;
        assert_eq!(pending["data"]["matches"].as_array().unwrap().len(), 230);
    })
    .await;
}
