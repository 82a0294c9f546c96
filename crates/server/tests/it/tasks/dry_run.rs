//! A dry run on the profiles with a contract of their own never claims that something was done.

use serde_json::{Value, json};

use super::databases::on_both;
use super::profile_client::ProfileClient;
use crate::test_server::TestServer;

async fn dry(server: &TestServer, client: &ProfileClient<'_>, function: &str, params: Value) -> Value {
    let path = format!("/api/v1/profiles/{}/functions/{function}", client.profile);
    let answer =
        server.ask("POST", path).key(&client.key).header("x-dry-run", "true").body(params).send().await;
    assert_eq!(answer.status, 200, "{function}: {}", answer.text);
    answer.json()
}

const DONE: &str = "This was a dry run: nothing was changed.";

#[tokio::test]
async fn a_dry_run_is_answered_in_the_failure_form_of_the_profile_and_says_what_would_be_done() {
    on_both(|server| async move {
        let one = ProfileClient::new(&server, "todo-chatbot", "ada").await;
        let (two, three) = (one.at("todo_tasks"), one.at("assistant"));
        one.ask("create_task", json!({ "title": "Buy milk" })).await;
        for (function, attempt, params, would) in [
            ("create_task", "create", json!({ "title": "New" }), "Task \"New\" would have been created."),
            (
                "update_task",
                "update",
                json!({ "task_id": 1, "title": "New" }),
                "Task 1 would have been updated (title).",
            ),
            ("delete_task", "delete", json!({ "task_id": 1 }), "Task 1 would have been deleted."),
        ] {
            let message = format!("Failed to {attempt} task: {DONE} {would}");
            let expected = json!({ "success": false, "message": message });
            assert_eq!(dry(&server, &one, function, params).await, expected);
        }
        for (function, params, would) in [
            ("add_task", json!({ "title": "New" }), "Task \"New\" would have been created."),
            ("complete_task", json!({ "task_id": "1" }), "Task 1 would have been marked as complete."),
            ("delete_task", json!({ "task_id": "1" }), "Task 1 would have been deleted."),
            (
                "update_task",
                json!({ "task_id": "1", "priority": "Low" }),
                "Task 1 would have been updated (priority).",
            ),
        ] {
            let mut params = params;
            params["user_id"] = "ada".into();
            let message = format!("{DONE} {would}");
            let error = json!({ "code": "processing_error", "message": message, "details": {} });
            assert_eq!(
                dry(&server, &two, function, params).await,
                json!({ "success": false, "error": error })
            );
        }
        for (function, params, would) in [
            ("add_task", json!({ "title": "New" }), "Task \"New\" would have been created."),
            (
                "update_task",
                json!({ "task_id": 1, "title": "New" }),
                "Task 1 would have been updated (title).",
            ),
            ("delete_task", json!({ "task_id": 1 }), "Task 1 would have been deleted."),
            (
                "complete_task",
                json!({ "task_id": 1, "completed": false }),
                "Task 1 would have been marked as incomplete.",
            ),
        ] {
            let error = format!("{DONE} {would}");
            let expected = json!({ "success": false, "error": error, "code": "VALIDATION_ERROR" });
            assert_eq!(dry(&server, &three, function, params).await, expected);
        }
        let tasks = one.ask("list_tasks", json!({})).await["tasks"].clone();
        assert_eq!(tasks.as_array().unwrap().len(), 1);
        assert_eq!((&tasks[0]["title"], &tasks[0]["completed"]), (&json!("Buy milk"), &json!(false)));
    })
    .await;
}

#[tokio::test]
async fn a_dry_run_is_refused_in_the_words_of_the_call_that_would_be() {
    on_both(|server| async move {
        let one = ProfileClient::new(&server, "todo-chatbot", "ada").await;
        let (two, three) = (one.at("todo_tasks"), one.at("assistant"));
        let mut calls = 0;
        for (client, function, params) in [
            (&one, "update_task", json!({ "task_id": 9, "title": "New" })),
            (&one, "delete_task", json!({ "task_id": 9 })),
            (&one, "create_task", json!({ "title": "with\u{7}bell" })),
            (&two, "complete_task", json!({ "task_id": "9", "user_id": "ada" })),
            (&two, "delete_task", json!({ "task_id": "9", "user_id": "ada" })),
            (&two, "delete_task", json!({ "task_id": "none", "user_id": "ada" })),
            (&two, "update_task", json!({ "task_id": "9", "user_id": "ada", "title": "New" })),
            (&three, "update_task", json!({ "task_id": 9, "title": "New" })),
            (&three, "delete_task", json!({ "task_id": 9 })),
            (&three, "complete_task", json!({ "task_id": 9 })),
        ] {
            let rehearsed = dry(&server, client, function, params.clone()).await;
            assert_eq!(rehearsed, client.ask(function, params).await, "{function}");
            assert_eq!(rehearsed["success"], false);
            calls += 1;
        }
        assert_eq!(calls, 10);
    })
    .await;
}
