//! `todo_tasks`: every answer that its contract prints, to the character.

use serde_json::{Value, json};
use toolroom_contract::{ErrorCode, ToolError};

use crate::published::{PublishedClient, client, compact, not_found, task};

const USER: &str = "user-abc-123";

fn tool(name: &str) -> PublishedClient {
    client("todo_tasks", name)
}

fn groceries() -> Value {
    task(json!({
        "title": "Buy groceries", "description": "Milk, eggs, bread", "due": "2025-01-30",
        "createdAt": "2025-01-25T10:30:00.000001Z", "updatedAt": "2025-01-25T10:30:00.000001Z"
    }))
}

#[test]
fn add_task_answers_as_printed() {
    let add = tool("add_task");
    assert_eq!(
        add.answer(json!({"user_id": USER, "title": "Buy groceries"}), json!({"task": groceries()})),
        compact(
            r#"{
  "success": true,
  "data": {
    "id": 123,
    "user_id": "user-abc-123",
    "title": "Buy groceries",
    "description": "Milk, eggs, bread",
    "completed": false,
    "priority": "Medium",
    "due_date": "2025-01-30",
    "created_at": "2025-01-25T10:30:00Z",
    "updated_at": "2025-01-25T10:30:00Z"
  }
}"#
        )
    );
    assert_eq!(
        add.refusal(json!({"user_id": USER, "title": " "})),
        compact(
            r#"{
  "success": false,
  "error": {
    "code": "invalid_input",
    "message": "Title cannot be empty",
    "details": {"field": "title"}
  }
}"#
        )
    );
    assert_eq!(
        add.refusal(json!({"user_id": USER, "title": "a", "priority": "Urgent"})),
        compact(
            r#"{
  "success": false,
  "error": {
    "code": "invalid_priority",
    "message": "Priority must be one of: Low, Medium, High",
    "details": {"field": "priority", "value": "Urgent"}
  }
}"#
        )
    );
}

#[test]
fn list_tasks_answers_as_printed() {
    let dentist = task(json!({
        "taskId": 122, "title": "Call dentist", "status": "completed", "priority": "high",
        "createdAt": "2025-01-24T09:00:00Z", "updatedAt": "2025-01-25T08:00:00Z"
    }));
    let list = tool("list_tasks");
    assert_eq!(
        list.answer(json!({"user_id": USER}), json!({"tasks": [groceries(), dentist], "total": 2})),
        compact(
            r#"{
  "success": true,
  "data": {
    "tasks": [
      {
        "id": 123,
        "title": "Buy groceries",
        "description": "Milk, eggs, bread",
        "completed": false,
        "priority": "Medium",
        "due_date": "2025-01-30",
        "created_at": "2025-01-25T10:30:00Z",
        "updated_at": "2025-01-25T10:30:00Z"
      },
      {
        "id": 122,
        "title": "Call dentist",
        "description": null,
        "completed": true,
        "priority": "High",
        "due_date": null,
        "created_at": "2025-01-24T09:00:00Z",
        "updated_at": "2025-01-25T08:00:00Z"
      }
    ],
    "total": 2
  }
}"#
        )
    );
    assert_eq!(
        list.answer(json!({"user_id": USER}), json!({"tasks": [], "total": 0})),
        compact(r#"{ "success": true, "data": { "tasks": [], "total": 0 } }"#)
    );
}

#[test]
fn complete_task_answers_as_printed() {
    let done = task(json!({
        "title": "Buy groceries", "status": "completed", "updatedAt": "2025-01-25T14:00:00.25Z"
    }));
    let complete = tool("complete_task");
    assert_eq!(
        complete
            .answer(json!({"task_id": "123", "user_id": USER}), json!({"task": done, "changed": ["status"]})),
        compact(
            r#"{
  "success": true,
  "data": {
    "id": 123,
    "title": "Buy groceries",
    "completed": true,
    "updated_at": "2025-01-25T14:00:00Z"
  }
}"#
        )
    );
}

#[test]
fn delete_task_answers_as_printed() {
    let data = json!({"deleted": true, "taskId": 123, "title": "Buy groceries"});
    assert_eq!(
        tool("delete_task").answer(json!({"task_id": "123", "user_id": USER}), data),
        compact(r#"{ "success": true, "data": { "deleted": true, "task_id": "123" } }"#)
    );
}

#[test]
fn update_task_answers_as_printed() {
    let after = task(json!({
        "title": "Buy groceries and snacks", "description": "Milk, eggs, bread, chips", "priority": "high",
        "due": "2025-01-30", "createdAt": "2025-01-25T10:30:00Z", "updatedAt": "2025-01-25T15:00:00Z"
    }));
    let update = tool("update_task");
    assert_eq!(
        update.answer(
            json!({"task_id": "123", "user_id": USER, "priority": "High"}),
            json!({"task": after, "changed": []})
        ),
        compact(
            r#"{
  "success": true,
  "data": {
    "id": 123,
    "user_id": "user-abc-123",
    "title": "Buy groceries and snacks",
    "description": "Milk, eggs, bread, chips",
    "completed": false,
    "priority": "High",
    "due_date": "2025-01-30",
    "created_at": "2025-01-25T10:30:00Z",
    "updated_at": "2025-01-25T15:00:00Z"
  }
}"#
        )
    );
    let empty = compact(
        r#"{
  "success": false,
  "error": {
    "code": "invalid_input",
    "message": "At least one field must be provided for update",
    "details": {}
  }
}"#,
    );
    assert_eq!(update.refusal(json!({"task_id": "123", "user_id": USER})), empty);
    assert_eq!(update.refusal(json!({"task_id": "no-such", "user_id": USER})), empty);
}

#[test]
fn a_missing_task_and_another_users_task_read_alike() {
    let expected = compact(
        r#"{
  "success": false,
  "error": {
    "code": "not_found",
    "message": "Task not found",
    "details": {"task_id": "999"}
  }
}"#,
    );
    let stranger = ToolError::new(ErrorCode::NotFound, "You have nothing with that name.");
    for name in ["complete_task", "delete_task", "update_task"] {
        assert_eq!(tool(name).failure(json!({"task_id": "999", "user_id": USER}), &not_found()), expected);
        assert_eq!(tool(name).failure(json!({"task_id": "999", "user_id": "bob"}), &stranger), expected);
    }
    for name in ["add_task", "list_tasks"] {
        assert_eq!(
            tool(name).failure(json!({"user_id": "bob"}), &stranger),
            r#"{"success":false,"error":{"code":"not_found","message":"Task not found","details":{}}}"#
        );
    }
}

#[test]
fn a_task_id_that_is_no_number_is_not_found() {
    for id in ["abc", "", "-1", "0", "007", "+5", " 5", "5.0", "99999999999999999999"] {
        for name in ["complete_task", "delete_task"] {
            let expected = json!({"success": false, "error": {
                "code": "not_found", "message": "Task not found", "details": {"task_id": id}
            }});
            let answer = tool(name).refusal(json!({"task_id": id, "user_id": USER}));
            assert_eq!(answer, expected.to_string());
        }
    }
}

#[test]
fn bad_fields_are_named() {
    for (name, params, code, message, details) in [
        ("list_tasks", json!({}), "invalid_input", "User ID is required", json!({"field": "user_id"})),
        (
            "delete_task",
            json!({"task_id": 123, "user_id": USER}),
            "invalid_input",
            "Task ID must be of type string, not a number",
            json!({"field": "task_id"}),
        ),
        (
            "list_tasks",
            json!({"user_id": 456}),
            "invalid_input",
            "User ID must be of type string, not a number",
            json!({"field": "user_id"}),
        ),
        (
            "add_task",
            json!({"user_id": USER, "title": "a".repeat(256)}),
            "invalid_input",
            "Title cannot exceed 255 characters",
            json!({"field": "title"}),
        ),
        (
            "update_task",
            json!({"user_id": USER, "task_id": "1", "description": null}),
            "invalid_input",
            "Description must be of type string, not null",
            json!({"field": "description"}),
        ),
        (
            "update_task",
            json!({"user_id": USER, "task_id": "1", "tags": []}),
            "invalid_input",
            "'tags' is not a known field",
            json!({"field": "tags"}),
        ),
        (
            "update_task",
            json!({"user_id": USER, "task_id": "1", "priority": 3}),
            "invalid_priority",
            "Priority must be one of: Low, Medium, High",
            json!({"field": "priority", "value": 3}),
        ),
        ("add_task", json!("x"), "invalid_input", "Input must be of type object, not a string", json!({})),
    ] {
        let error = json!({"code": code, "message": message, "details": details});
        assert_eq!(tool(name).refusal(params), json!({"success": false, "error": error}).to_string());
    }
}

#[test]
fn a_due_date_is_a_real_date_in_one_spelling() {
    let add = tool("add_task");
    for bad in [
        "2025-02-29",
        "2025-13-01",
        "2025-1-30",
        "20250130",
        "2025-01-30T10:00:00Z",
        "30.01.2025",
        "tomorrow",
        "",
        " 2025-01-30",
        "２０２５-01-30",
    ] {
        assert_eq!(
            add.refusal(json!({"user_id": USER, "title": "a", "due_date": bad})),
            r#"{"success":false,"error":{"code":"invalid_date","message":"Due date must be a real date in YYYY-MM-DD format, from 1970-01-01 to 9999-12-31","details":{"field":"due_date"}}}"#,
            "{bad}"
        );
    }
    let leap = add.input(json!({"user_id": USER, "title": "a", "due_date": "2028-02-29"})).unwrap();
    assert_eq!(leap.params["due"], "2028-02-29");
}

#[test]
fn parameters_become_canonical_ones_for_the_named_user() {
    for (name, given, canonical) in [
        ("add_task", json!({"title": " a "}), json!({"title": "a", "priority": "medium"})),
        (
            "add_task",
            json!({"title": "a", "description": "b", "priority": "High", "due_date": "2025-01-30"}),
            json!({"title": "a", "description": "b", "priority": "high", "due": "2025-01-30"}),
        ),
        ("list_tasks", json!({}), json!({"status": "all", "whole": true})),
        ("complete_task", json!({"task_id": "7"}), json!({"taskId": 7, "completed": true})),
        ("delete_task", json!({"task_id": "7"}), json!({"taskId": 7})),
        (
            "update_task",
            json!({"task_id": "7", "priority": "Low", "completed": false}),
            json!({"priority": "low", "status": "pending", "taskId": 7}),
        ),
        (
            "update_task",
            json!({"task_id": "7", "completed": true}),
            json!({"status": "completed", "taskId": 7}),
        ),
    ] {
        let mut given = given;
        given["user_id"] = "someone".into();
        let input = tool(name).input(given).unwrap();
        assert_eq!((input.params, input.user_key.as_deref(), input.tool), (canonical, Some("someone"), None));
    }
}
