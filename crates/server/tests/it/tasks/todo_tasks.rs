//! The profile `todo_tasks`: five tools that name the user and answer `{success, data | error}`.

use serde_json::{Value, json};

use super::databases::on_both;
use super::profile_client::{ProfileClient, same, titles};
use crate::test_server::TestServer;

async fn ada(server: &TestServer) -> ProfileClient<'_> {
    ProfileClient::new(server, "todo_tasks", "ada").await
}

fn refused(code: &str, message: &str, details: Value) -> Value {
    json!({ "success": false, "error": { "code": code, "message": message, "details": details } })
}

#[tokio::test]
async fn add_task_answers_with_the_whole_task() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        let params = json!({
            "user_id": "ada", "title": "Buy groceries", "description": "Milk, eggs, bread", "due_date": "2031-01-30"
        });
        same(
            &ada.ask("add_task", params).await,
            json!({ "success": true, "data": {
                "id": 1, "user_id": "ada", "title": "Buy groceries", "description": "Milk, eggs, bread",
                "completed": false, "priority": "Medium", "due_date": "2031-01-30",
                "created_at": "<time>", "updated_at": "<time>"
            } }),
        );
        for priority in ["Low", "Medium", "High"] {
            let params = json!({ "user_id": "ada", "title": "T", "priority": priority });
            assert_eq!(ada.ask("add_task", params).await["data"]["priority"], priority);
        }
    })
    .await;
}

#[tokio::test]
async fn add_task_refuses_with_the_published_codes_and_writes_nothing() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        let field = |name: &str| json!({ "field": name });
        let urgent = json!({ "field": "priority", "value": "Urgent" });
        for (mut params, expected) in [
            (json!({ "title": "" }), refused("invalid_input", "Title cannot be empty", field("title"))),
            (json!({ "title": "  " }), refused("invalid_input", "Title cannot be empty", field("title"))),
            (json!({}), refused("invalid_input", "Title is required", field("title"))),
            (
                json!({ "title": "x".repeat(256) }),
                refused("invalid_input", "Title cannot exceed 255 characters", field("title")),
            ),
            (
                json!({ "title": "x", "description": "x".repeat(1001) }),
                refused("invalid_input", "Description cannot exceed 1000 characters", field("description")),
            ),
            (
                json!({ "title": "x", "priority": "Urgent" }),
                refused("invalid_priority", "Priority must be one of: Low, Medium, High", urgent),
            ),
            (
                json!({ "title": "x", "colour": "red" }),
                refused("invalid_input", "'colour' is not a known field", field("colour")),
            ),
        ] {
            params["user_id"] = json!("ada");
            same(&ada.ask("add_task", params).await, expected);
        }
        same(
            &ada.ask("add_task", json!({ "title": "x" })).await,
            refused("invalid_input", "User ID is required", field("user_id")),
        );
        assert_eq!(ada.ask("list_tasks", json!({ "user_id": "ada" })).await["data"]["total"], 0);
        let longest = json!({ "user_id": "ada", "title": "x".repeat(255), "description": "y".repeat(1000) });
        assert_eq!(ada.ask("add_task", longest).await["success"], true);
    })
    .await;
}

#[tokio::test]
async fn list_tasks_shows_whole_tasks_newest_first() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        let mine = || json!({ "user_id": "ada" });
        same(&ada.ask("list_tasks", mine()).await, json!({ "success": true, "data": { "tasks": [], "total": 0 } }));
        ada.ask("add_task", json!({ "user_id": "ada", "title": "Call dentist", "priority": "High" })).await;
        ada.ask("complete_task", json!({ "user_id": "ada", "task_id": "1" })).await;
        ada.ask("add_task", json!({ "user_id": "ada", "title": "Buy", "description": "Milk", "due_date": "2031-01-30" }))
            .await;
        same(
            &ada.ask("list_tasks", mine()).await,
            json!({ "success": true, "data": {
                "tasks": [
                    {
                        "id": 2, "title": "Buy", "description": "Milk", "completed": false, "priority": "Medium",
                        "due_date": "2031-01-30", "created_at": "<time>", "updated_at": "<time>"
                    },
                    {
                        "id": 1, "title": "Call dentist", "description": null, "completed": true,
                        "priority": "High", "due_date": null, "created_at": "<time>", "updated_at": "<time>"
                    }
                ],
                "total": 2
            } }),
        );
    })
    .await;
}

#[tokio::test]
async fn complete_task_succeeds_again_and_changes_nothing_then() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("add_task", json!({ "user_id": "ada", "title": "Buy groceries" })).await;
        let done = json!({ "success": true, "data": {
            "id": 1, "title": "Buy groceries", "completed": true, "updated_at": "<time>"
        } });
        let params = || json!({ "task_id": "1", "user_id": "ada" });
        same(&ada.ask("complete_task", params()).await, done.clone());
        let first = ada.call("get-task", json!({ "taskId": 1 })).await.1["data"].clone();
        same(&ada.ask("complete_task", params()).await, done);
        assert_eq!(
            ada.call("get-task", json!({ "taskId": 1 })).await.1["data"],
            first,
            "version and times stay"
        );
    })
    .await;
}

#[tokio::test]
async fn a_task_id_is_a_string_and_what_names_no_task_is_not_found() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("add_task", json!({ "user_id": "ada", "title": "A" })).await;
        for name in ["complete_task", "delete_task", "update_task"] {
            for id in ["999", "0", "-1", "01", "+1", "1.0", " 1", "abc", ""] {
                let params = json!({ "task_id": id, "user_id": "ada" });
                let params = if name == "update_task" { with(params, "title", "B") } else { params };
                same(
                    &ada.ask(name, params).await,
                    refused("not_found", "Task not found", json!({ "task_id": id })),
                );
            }
            let params = with(json!({ "user_id": "ada", "task_id": 1 }), "title", "B");
            let params =
                if name == "update_task" { params } else { json!({ "user_id": "ada", "task_id": 1 }) };
            same(
                &ada.ask(name, params).await,
                refused(
                    "invalid_input",
                    "Task ID must be of type string, not a number",
                    json!({ "field": "task_id" }),
                ),
            );
            same(
                &ada.ask(name, json!({ "user_id": "ada" })).await,
                refused("invalid_input", "Task ID is required", json!({ "field": "task_id" })),
            );
            same(
                &ada.ask(name, json!({ "task_id": "1" })).await,
                refused("invalid_input", "User ID is required", json!({ "field": "user_id" })),
            );
        }
    })
    .await;
}

fn with(mut params: Value, name: &str, value: &str) -> Value {
    params[name] = json!(value);
    params
}

#[tokio::test]
async fn delete_task_deletes_at_once() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("add_task", json!({ "user_id": "ada", "title": "A" })).await;
        let params = || json!({ "task_id": "1", "user_id": "ada" });
        same(
            &ada.ask("delete_task", params()).await,
            json!({ "success": true, "data": { "deleted": true, "task_id": "1" } }),
        );
        for name in ["delete_task", "complete_task"] {
            same(
                &ada.ask(name, params()).await,
                refused("not_found", "Task not found", json!({ "task_id": "1" })),
            );
        }
    })
    .await;
}

#[tokio::test]
async fn update_task_changes_what_it_names_and_answers_with_the_whole_task() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask(
            "add_task",
            json!({ "user_id": "ada", "title": "Buy", "description": "Milk", "due_date": "2031-01-30" }),
        )
        .await;
        let mut expected = json!({
            "id": 1, "user_id": "ada", "title": "Buy", "description": "Milk", "completed": false,
            "priority": "Medium", "due_date": "2031-01-30", "created_at": "<time>", "updated_at": "<time>"
        });
        for (field, value) in [
            ("title", json!("Buy snacks")),
            ("description", json!("Chips")),
            ("priority", json!("High")),
            ("due_date", json!("2031-02-01")),
            ("completed", json!(true)),
            ("completed", json!(false)),
            ("completed", json!(false)),
        ] {
            expected[field] = value.clone();
            let mut params = json!({ "task_id": "1", "user_id": "ada" });
            params[field] = value;
            same(&ada.ask("update_task", params).await, json!({ "success": true, "data": expected }));
        }
    })
    .await;
}

#[tokio::test]
async fn update_task_refuses_with_the_published_codes_and_leaves_the_task() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        ada.ask("add_task", json!({ "user_id": "ada", "title": "A" })).await;
        let none = || refused("invalid_input", "At least one field must be provided for update", json!({}));
        for id in ["1", "999"] {
            same(&ada.ask("update_task", json!({ "task_id": id, "user_id": "ada" })).await, none());
        }
        let before = ada.call("get-task", json!({ "taskId": 1 })).await.1["data"].clone();
        for (field, value, code) in [
            ("title", json!(""), "invalid_input"),
            ("title", json!("x".repeat(256)), "invalid_input"),
            ("description", json!("x".repeat(1001)), "invalid_input"),
            ("priority", json!("high"), "invalid_priority"),
            ("due_date", json!("30.01.2031"), "invalid_date"),
            ("completed", json!("yes"), "invalid_input"),
        ] {
            let mut params = json!({ "task_id": "1", "user_id": "ada" });
            params[field] = value;
            let answer = ada.ask("update_task", params).await;
            assert_eq!(
                (&answer["success"], &answer["error"]["code"]),
                (&json!(false), &json!(code)),
                "{answer}"
            );
            assert_eq!(answer["error"]["details"]["field"], field);
        }
        // Null for a field that takes none reads as absent.
        let absent = json!({ "task_id": "1", "user_id": "ada", "description": null });
        same(&ada.ask("update_task", absent).await, none());
        assert_eq!(ada.call("get-task", json!({ "taskId": 1 })).await.1["data"], before);
    })
    .await;
}

#[tokio::test]
async fn only_who_may_act_for_others_can_name_another_user() {
    on_both(|server| async move {
        let agent = ProfileClient {
            key: server.key(json!({ "user": "agent", "grants": ["tasks:*", "users:act-as"] })).await,
            ..ProfileClient::new(&server, "todo_tasks", "agent").await
        };
        let list = |user: &str| json!({ "user_id": user });
        same(
            &agent.ask("list_tasks", list("zoe")).await,
            json!({ "success": true, "data": { "tasks": [], "total": 0 } }),
        );
        let made = agent.ask("add_task", json!({ "user_id": "zoe", "title": "For Zoe" })).await;
        assert_eq!(made["data"]["user_id"], "zoe");
        let id = made["data"]["id"].to_string();
        let zoe = ProfileClient::new(&server, "todo_tasks", "zoe").await;
        assert_eq!(titles(&zoe.ask("list_tasks", list("zoe")).await["data"]["tasks"]), ["For Zoe"]);
        let own = agent.ask("complete_task", json!({ "user_id": "agent", "task_id": id })).await;
        assert_eq!(own["error"]["code"], "not_found", "acting for oneself, another's task does not exist");
        let done = agent.ask("complete_task", json!({ "user_id": "zoe", "task_id": id })).await;
        assert_eq!(done["data"]["completed"], true);

        let task = |user: &str| json!({ "user_id": user, "title": "Not mine" });
        let nothing = refused("not_found", "Task not found", json!({}));
        for user in ["agent", "nobody", "1", ""] {
            same(&zoe.ask("list_tasks", list(user)).await, nothing.clone());
            same(&zoe.ask("add_task", task(user)).await, nothing.clone());
        }
        assert_eq!(agent.ask("list_tasks", list("nobody")).await["data"]["total"], 0);
    })
    .await;
}
