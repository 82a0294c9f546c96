//! The profile `todo-chatbot`: five tools that answer `{success, message, …}`.

use serde_json::{Value, json};

use super::databases::on_both;
use super::profile_client::{ProfileClient, same, titles};
use crate::test_server::TestServer;

async fn ada(server: &TestServer) -> ProfileClient<'_> {
    ProfileClient::new(server, "todo-chatbot", "ada").await
}

fn refused(message: &str) -> Value {
    json!({ "success": false, "message": message })
}

fn task(id: i64, title: &str, description: Option<&str>, completed: bool) -> Value {
    json!({
        "id": id, "title": title, "description": description, "completed": completed,
        "created_at": "<time>", "updated_at": "<time>"
    })
}

#[tokio::test]
async fn create_task_answers_with_the_id_and_the_title() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        let made = ada.ask("create_task", json!({ "title": "Buy groceries" })).await;
        same(&made, json!({ "task_id": 1, "success": true, "message": "Created task: Buy groceries" }));
        let more = json!({ "title": "Call mom at 3pm", "description": "Phone number: 555-1234" });
        let made = ada.ask("create_task", more).await;
        same(&made, json!({ "task_id": 2, "success": true, "message": "Created task: Call mom at 3pm" }));
        let read = ada.ask("get_task", json!({ "task_id": 2 })).await;
        assert_eq!(read["task"]["description"], "Phone number: 555-1234");
    })
    .await;
}

#[tokio::test]
async fn create_task_is_pending_unless_it_says_completed() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        for (params, completed) in [
            (json!({ "title": "A" }), false),
            (json!({ "title": "B", "status": "pending" }), false),
            (json!({ "title": "C", "status": "completed" }), true),
        ] {
            let id = ada.ask("create_task", params).await["task_id"].clone();
            assert_eq!(ada.ask("get_task", json!({ "task_id": id })).await["task"]["completed"], completed);
        }
    })
    .await;
}

#[tokio::test]
async fn create_task_refuses_by_name_and_limit_and_writes_nothing() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        for (params, reason) in [
            (json!({ "title": "" }), "Title cannot be empty"),
            (json!({ "title": " \t " }), "Title cannot be empty"),
            (json!({}), "Title is required"),
            (json!({ "title": "x".repeat(201) }), "Title cannot exceed 200 characters"),
            (
                json!({ "title": "x", "description": "x".repeat(2001) }),
                "Description cannot exceed 2000 characters",
            ),
            (
                json!({ "title": "x", "status": "done" }),
                "Invalid status value: must be one of: pending, completed",
            ),
            (json!({ "title": "x", "user_id": "bob" }), "'user_id' is not a known field"),
        ] {
            same(&ada.ask("create_task", params).await, refused(&format!("Failed to create task: {reason}")));
        }
        same(&ada.ask("list_tasks", json!({})).await, json!({ "tasks": [], "count": 0, "success": true }));
        let longest = json!({ "title": "x".repeat(200), "description": "y".repeat(2000) });
        assert_eq!(ada.ask("create_task", longest).await["success"], true);
    })
    .await;
}

#[tokio::test]
async fn list_tasks_shows_whole_tasks_newest_first() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        same(&ada.ask("list_tasks", json!({})).await, json!({ "tasks": [], "count": 0, "success": true }));
        ada.ask("create_task", json!({ "title": "Buy groceries", "description": "Milk, eggs, bread" })).await;
        ada.ask("create_task", json!({ "title": "Call mom" })).await;
        let expected = json!({
            "tasks": [task(2, "Call mom", None, false), task(1, "Buy groceries", Some("Milk, eggs, bread"), false)],
            "count": 2,
            "success": true
        });
        same(&ada.ask("list_tasks", json!({})).await, expected.clone());
        same(&ada.ask("list_tasks", json!({ "status": "all" })).await, expected);
    })
    .await;
}

#[tokio::test]
async fn list_tasks_filters_by_status_and_refuses_an_unknown_one() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("create_task", json!({ "title": "Open" })).await;
        ada.ask("create_task", json!({ "title": "Done", "status": "completed" })).await;
        for (status, expected) in
            [("all", vec!["Done", "Open"]), ("pending", vec!["Open"]), ("completed", vec!["Done"])]
        {
            let list = ada.ask("list_tasks", json!({ "status": status })).await;
            assert_eq!(titles(&list["tasks"]), expected);
            assert_eq!(list["count"], expected.len());
        }
        same(
            &ada.ask("list_tasks", json!({ "status": "open" })).await,
            refused(
                "Failed to retrieve tasks: Invalid status value: must be one of: all, pending, completed",
            ),
        );
    })
    .await;
}

#[tokio::test]
async fn a_list_of_hundreds_is_whole() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        for batch in 0..3 {
            let operations: Vec<Value> = (0..100)
                .map(|n| json!({ "op": "create", "title": format!("Task {}", batch * 100 + n) }))
                .collect();
            assert_eq!(ada.call("batch-tasks", json!({ "operations": operations })).await.0, 200);
        }
        let list = ada.ask("list_tasks", json!({})).await;
        assert_eq!(list["count"], 300);
        let expected: Vec<String> = (0..300).rev().map(|n| format!("Task {n}")).collect();
        assert_eq!(titles(&list["tasks"]), expected, "newest first, ties by the higher id");
    })
    .await;
}

#[tokio::test]
async fn get_task_shows_the_task_or_says_that_there_is_none() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("create_task", json!({ "title": "Buy groceries", "description": "Milk, eggs, bread" })).await;
        same(
            &ada.ask("get_task", json!({ "task_id": 1 })).await,
            json!({ "task": task(1, "Buy groceries", Some("Milk, eggs, bread"), false), "success": true }),
        );
        same(&ada.ask("get_task", json!({ "task_id": 42 })).await, refused("Task not found with ID: 42"));
        same(&ada.ask("get_task", json!({})).await, refused("Failed to retrieve task: Task ID is required"));
    })
    .await;
}

#[tokio::test]
async fn update_task_changes_what_it_names_and_leaves_the_rest() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("create_task", json!({ "title": "Buy groceries", "description": "Milk" })).await;
        for (change, expected) in [
            (json!({ "status": "completed" }), task(1, "Buy groceries", Some("Milk"), true)),
            (json!({ "title": "Cook" }), task(1, "Cook", Some("Milk"), true)),
            (json!({ "description": "Milk, cheese" }), task(1, "Cook", Some("Milk, cheese"), true)),
            (json!({ "status": "pending" }), task(1, "Cook", Some("Milk, cheese"), false)),
            (json!({}), task(1, "Cook", Some("Milk, cheese"), false)),
        ] {
            let mut params = change;
            params["task_id"] = json!(1);
            same(
                &ada.ask("update_task", params).await,
                json!({ "task": expected, "success": true, "message": "Updated task successfully" }),
            );
        }
    })
    .await;
}

#[tokio::test]
async fn update_task_moves_updated_at_and_not_created_at() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        let id = ada.ask("create_task", json!({ "title": "A" })).await["task_id"].clone();
        let before = ada.call("get-task", json!({ "taskId": id })).await.1["data"]["task"].clone();
        ada.ask("update_task", json!({ "task_id": id, "title": "B" })).await;
        let after = ada.call("get-task", json!({ "taskId": id })).await.1["data"]["task"].clone();
        assert_eq!(before["createdAt"], after["createdAt"]);
        let time = |task: &Value| task["updatedAt"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        assert!(time(&after) > time(&before));
    })
    .await;
}

#[tokio::test]
async fn update_task_refuses_and_leaves_the_task() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("create_task", json!({ "title": "A" })).await;
        for (params, message) in [
            (json!({ "task_id": 1, "title": " " }), "Failed to update task: Title cannot be empty"),
            (
                json!({ "task_id": 1, "title": "x".repeat(201) }),
                "Failed to update task: Title cannot exceed 200 characters",
            ),
            (
                json!({ "task_id": 1, "description": "x".repeat(2001) }),
                "Failed to update task: Description cannot exceed 2000 characters",
            ),
            (
                json!({ "task_id": 1, "status": "all" }),
                "Failed to update task: Invalid status value: must be one of: pending, completed",
            ),
            (json!({ "task_id": 42, "title": "B" }), "Task not found with ID: 42"),
        ] {
            same(&ada.ask("update_task", params).await, refused(message));
        }
        same(
            &ada.ask("get_task", json!({ "task_id": 1 })).await,
            json!({ "task": task(1, "A", None, false), "success": true }),
        );
    })
    .await;
}

#[tokio::test]
async fn delete_task_deletes_at_once_and_says_the_title() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("create_task", json!({ "title": "Buy groceries" })).await;
        same(
            &ada.ask("delete_task", json!({ "task_id": 1 })).await,
            json!({ "success": true, "message": "Deleted task: Buy groceries" }),
        );
        for name in ["delete_task", "get_task", "update_task"] {
            same(&ada.ask(name, json!({ "task_id": 1 })).await, refused("Task not found with ID: 1"));
        }
        assert_eq!(ada.ask("list_tasks", json!({})).await["count"], 0);
    })
    .await;
}
