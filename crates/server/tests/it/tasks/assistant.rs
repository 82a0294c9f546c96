//! The profile `assistant`: six tools that answer `{success, error, code}`.

use serde_json::{Value, json};

use super::databases::on_both;
use super::profile_client::{ProfileClient, same, titles};
use crate::test_server::TestServer;

async fn ada(server: &TestServer) -> ProfileClient<'_> {
    ProfileClient::new(server, "assistant", "ada").await
}

fn refused(error: &str, code: &str) -> Value {
    json!({ "success": false, "error": error, "code": code })
}

fn invalid(reason: &str) -> Value {
    refused(&format!("Validation error: {reason}"), "VALIDATION_ERROR")
}

/// The integer that names the user of a client.
async fn number_of(client: &ProfileClient<'_>) -> i64 {
    let made = client.ask("add_task", json!({ "title": "Who am I" })).await;
    client.ask("delete_task", json!({ "task_id": made["task"]["id"] })).await;
    made["task"]["user_id"].as_i64().unwrap()
}

#[tokio::test]
async fn add_task_answers_with_the_whole_task_and_the_users_number() {
    on_both(|server| async move {
        let (ada, bob) = (ada(&server).await, ProfileClient::new(&server, "assistant", "bob").await);
        let (me, other) = (number_of(&ada).await, number_of(&bob).await);
        assert_ne!(me, other);
        let params = json!({ "title": "Buy milk", "priority": "high", "due_date": "2031-01-28T23:59:59Z" });
        same(
            &ada.ask("add_task", params).await,
            json!({
                "success": true,
                "task": {
                    "id": 3, "user_id": me, "title": "Buy milk", "priority": "high",
                    "due_date": "2031-01-28T23:59:59Z", "description": null, "completed": false,
                    "created_at": "<time>", "updated_at": "<time>"
                },
                "message": "Task created successfully"
            }),
        );
        let plain = ada.ask("add_task", json!({ "title": "Plain", "description": "More" })).await;
        assert_eq!(
            (&plain["task"]["priority"], &plain["task"]["due_date"]),
            (&json!("medium"), &json!(null))
        );
        assert_eq!(plain["task"]["description"], "More");
    })
    .await;
}

#[tokio::test]
async fn add_task_refuses_by_name_and_limit_and_writes_nothing() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        for (params, reason) in [
            (json!({ "title": "", "priority": "high" }), "title cannot be empty"),
            (json!({ "title": "\u{a0}\n" }), "title cannot be empty"),
            (json!({}), "title is required"),
            (json!({ "title": "x".repeat(201) }), "title cannot exceed 200 characters"),
            (
                json!({ "title": "Buy milk", "priority": "urgent" }),
                "priority must be one of: high, medium, low",
            ),
            (
                json!({ "title": "x", "description": "x".repeat(1001) }),
                "description cannot exceed 1000 characters",
            ),
            (json!({ "title": "x", "user_id": 1 }), "'user_id' is not a known field"),
            (json!({ "title": null }), "title must be of type string, not null"),
        ] {
            same(&ada.ask("add_task", params).await, invalid(reason));
        }
        same(&ada.ask("list_tasks", json!({})).await, json!({ "success": true, "tasks": [], "count": 0 }));
        let longest = json!({ "title": "x".repeat(200), "description": "y".repeat(1000) });
        assert_eq!(ada.ask("add_task", longest).await["success"], true);
    })
    .await;
}

#[tokio::test]
async fn without_a_credential_that_is_known_nothing_is_answered() {
    on_both(|server| async move {
        ada(&server).await;
        for key in ["", "tr_wrong"] {
            let mut ask =
                server.ask("POST", "/api/v1/profiles/assistant/functions/list_tasks").body(json!({}));
            if !key.is_empty() {
                ask = ask.key(key);
            }
            let answer = ask.send().await;
            assert_eq!((answer.status.as_u16(), answer.code().as_str()), (401, "unauthenticated"));
        }
    })
    .await;
}

#[tokio::test]
async fn list_tasks_filters_by_status_and_by_id_newest_first() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("add_task", json!({ "title": "Open" })).await;
        ada.ask("add_task", json!({ "title": "Done" })).await;
        ada.ask("complete_task", json!({ "task_id": 2 })).await;
        for (params, expected) in [
            (json!({}), vec!["Done", "Open"]),
            (json!({ "status": "all" }), vec!["Done", "Open"]),
            (json!({ "status": "pending" }), vec!["Open"]),
            (json!({ "status": "completed" }), vec!["Done"]),
            (json!({ "task_id": 1 }), vec!["Open"]),
            (json!({ "task_id": 1, "status": "pending" }), vec!["Open"]),
            (json!({ "task_id": 1, "status": "completed" }), vec![]),
        ] {
            let list = ada.ask("list_tasks", params).await;
            assert_eq!((&list["success"], &list["count"]), (&json!(true), &json!(expected.len())));
            assert_eq!(titles(&list["tasks"]), expected);
        }
        same(&ada.ask("list_tasks", json!({ "task_id": 99 })).await, refused("Task not found", "NOT_FOUND"));
        same(
            &ada.ask("list_tasks", json!({ "status": "open" })).await,
            invalid("status must be one of: all, pending, completed"),
        );
    })
    .await;
}

#[tokio::test]
async fn update_task_says_which_fields_changed() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        let me = number_of(&ada).await;
        ada.ask("add_task", json!({ "title": "Buy milk", "due_date": "2031-01-28T23:59:59Z" })).await;
        let params = json!({ "task_id": 2, "title": "Buy milk", "priority": "high", "description": "From Whole Foods" });
        same(
            &ada.ask("update_task", params).await,
            json!({
                "success": true,
                "task": {
                    "id": 2, "user_id": me, "title": "Buy milk", "priority": "high",
                    "due_date": "2031-01-28T23:59:59Z", "description": "From Whole Foods", "completed": false,
                    "created_at": "<time>", "updated_at": "<time>"
                },
                "message": "Task updated successfully",
                "fields_updated": ["priority", "description"]
            }),
        );
        let all = json!({
            "task_id": 2, "completed": true, "description": "d", "due_date": "2032-01-28T23:59:59Z",
            "priority": "low", "title": "t"
        });
        let fields = json!(["title", "priority", "due_date", "description", "completed"]);
        assert_eq!(ada.ask("update_task", all).await["fields_updated"], fields);
    })
    .await;
}

#[tokio::test]
async fn null_removes_a_due_date_and_a_description_and_absence_leaves_them() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        let params = json!({ "title": "A", "description": "d", "due_date": "2031-01-28T23:59:59Z" });
        ada.ask("add_task", params).await;
        let kept = ada.ask("update_task", json!({ "task_id": 1, "priority": "low" })).await;
        assert_eq!(kept["task"]["due_date"], "2031-01-28T23:59:59Z");
        assert_eq!(kept["task"]["description"], "d");
        for field in ["due_date", "description"] {
            let cleared = ada.ask("update_task", json!({ "task_id": 1, field: null })).await;
            assert_eq!(
                (&cleared["task"][field], &cleared["fields_updated"]),
                (&json!(null), &json!([field]))
            );
        }
        // Elsewhere null reads as absent: nothing is left to change.
        for field in ["title", "priority", "completed"] {
            let answer = ada.ask("update_task", json!({ "task_id": 1, field: null })).await;
            assert_eq!(
                (&answer["success"], &answer["code"]),
                (&json!(true), &json!("NO_CHANGES")),
                "{answer}"
            );
            assert_eq!(answer["task"]["title"], "A");
        }
    })
    .await;
}

#[tokio::test]
async fn an_update_without_a_change_is_a_success_that_says_so() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("add_task", json!({ "title": "A" })).await;
        let before = ada.call("get-task", json!({ "taskId": 1 })).await.1["data"].clone();
        for (params, message) in [
            (json!({ "task_id": 1 }), "No fields provided to update"),
            (json!({ "task_id": 1, "title": "A" }), "The task already has these values"),
        ] {
            let answer = ada.ask("update_task", params).await;
            assert_eq!((&answer["success"], &answer["code"]), (&json!(true), &json!("NO_CHANGES")));
            assert_eq!((&answer["fields_updated"], &answer["message"]), (&json!([]), &json!(message)));
            assert_eq!(answer["task"]["title"], "A");
        }
        assert_eq!(ada.call("get-task", json!({ "taskId": 1 })).await.1["data"], before);
    })
    .await;
}

#[tokio::test]
async fn update_task_refuses_and_leaves_the_task() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("add_task", json!({ "title": "A" })).await;
        let before = ada.call("get-task", json!({ "taskId": 1 })).await.1["data"].clone();
        for (params, expected) in [
            (json!({ "task_id": 1, "title": "" }), invalid("title cannot be empty")),
            (
                json!({ "task_id": 1, "title": "x".repeat(201) }),
                invalid("title cannot exceed 200 characters"),
            ),
            (
                json!({ "task_id": 1, "description": "x".repeat(1001) }),
                invalid("description cannot exceed 1000 characters"),
            ),
            (
                json!({ "task_id": 1, "priority": "High" }),
                invalid("priority must be one of: high, medium, low"),
            ),
            (json!({ "title": "B" }), invalid("task_id is required")),
            (
                json!({ "task_id": 99, "title": "B" }),
                refused("Task not found or you don't have permission", "NOT_FOUND"),
            ),
            (json!({ "task_id": 99 }), refused("Task not found or you don't have permission", "NOT_FOUND")),
        ] {
            same(&ada.ask("update_task", params).await, expected);
        }
        assert_eq!(ada.call("get-task", json!({ "taskId": 1 })).await.1["data"], before);
    })
    .await;
}

#[tokio::test]
async fn delete_task_deletes_at_once_and_gives_the_id() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("add_task", json!({ "title": "A" })).await;
        same(
            &ada.ask("delete_task", json!({ "task_id": 1 })).await,
            json!({ "success": true, "message": "Task deleted successfully", "deleted_task_id": 1 }),
        );
        let gone = refused("Task not found or you don't have permission", "NOT_FOUND");
        for name in ["delete_task", "update_task", "complete_task"] {
            same(&ada.ask(name, json!({ "task_id": 1 })).await, gone.clone());
        }
        same(&ada.ask("list_tasks", json!({ "task_id": 1 })).await, refused("Task not found", "NOT_FOUND"));
    })
    .await;
}

#[tokio::test]
async fn complete_task_marks_done_by_default_and_open_if_told() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("add_task", json!({ "title": "Buy milk" })).await;
        for (params, completed, message) in [
            (json!({ "task_id": 1 }), true, "Task marked as complete"),
            (json!({ "task_id": 1, "completed": true }), true, "Task marked as complete"),
            (json!({ "task_id": 1, "completed": false }), false, "Task marked as incomplete"),
        ] {
            same(
                &ada.ask("complete_task", params).await,
                json!({
                    "success": true,
                    "task": { "id": 1, "title": "Buy milk", "completed": completed, "updated_at": "<time>" },
                    "message": message
                }),
            );
        }
        same(
            &ada.ask("complete_task", json!({ "task_id": 1, "completed": "no" })).await,
            invalid("completed must be of type boolean, not a string"),
        );
    })
    .await;
}
