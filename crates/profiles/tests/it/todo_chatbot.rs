//! `todo-chatbot`: every answer that its contract prints, to the character.

use serde_json::{Value, json};
use toolroom_contract::{ErrorCode, ToolError};

use crate::published::{PublishedClient, client, compact, not_found, task};

fn tool(name: &str) -> PublishedClient {
    client("todo-chatbot", name)
}

fn groceries(with: Value) -> Value {
    let mut groceries = task(json!({
        "taskId": 42, "title": "Buy groceries", "description": "Milk, eggs, bread", "due": "2026-11-20",
        "createdAt": "2026-02-02T14:00:00.123456Z", "updatedAt": "2026-02-02T14:00:00.123456Z"
    }));
    for (name, value) in with.as_object().unwrap() {
        groceries[name] = value.clone();
    }
    groceries
}

#[test]
fn create_task_answers_as_printed() {
    let answer =
        tool("create_task").answer(json!({"title": "Buy groceries"}), json!({"task": groceries(json!({}))}));
    assert_eq!(
        answer,
        compact(r#"{ "task_id": 42, "success": true, "message": "Created task: Buy groceries" }"#)
    );
    assert_eq!(
        tool("create_task").refusal(json!({"title": "   "})),
        compact(r#"{ "success": false, "message": "Failed to create task: Title cannot be empty" }"#)
    );
}

#[test]
fn list_tasks_answers_as_printed() {
    let mom = task(json!({
        "taskId": 43, "title": "Call mom", "createdAt": "2026-02-02T14:05:00Z", "updatedAt": "2026-02-02T14:05:00Z"
    }));
    let data = json!({"tasks": [groceries(json!({})), mom], "total": 2, "nextCursor": null});
    assert_eq!(
        tool("list_tasks").answer(json!({}), data),
        compact(
            r#"{
  "tasks": [
    {
      "id": 42,
      "title": "Buy groceries",
      "description": "Milk, eggs, bread",
      "completed": false,
      "created_at": "2026-02-02T14:00:00Z",
      "updated_at": "2026-02-02T14:00:00Z"
    },
    {
      "id": 43,
      "title": "Call mom",
      "description": null,
      "completed": false,
      "created_at": "2026-02-02T14:05:00Z",
      "updated_at": "2026-02-02T14:05:00Z"
    }
  ],
  "count": 2,
  "success": true
}"#
        )
    );
    assert_eq!(
        tool("list_tasks").answer(json!({}), json!({"tasks": [], "total": 0, "nextCursor": null})),
        compact(r#"{ "tasks": [], "count": 0, "success": true }"#)
    );
    let down = ToolError::new(ErrorCode::ServiceUnavailable, "The database cannot be reached.");
    assert_eq!(
        tool("list_tasks").failure(json!({}), &down),
        compact(r#"{ "success": false, "message": "Failed to retrieve tasks: Database connection error" }"#)
    );
}

#[test]
fn get_task_answers_as_printed() {
    let get = tool("get_task");
    assert_eq!(
        get.answer(json!({"task_id": 42}), json!({"task": groceries(json!({}))})),
        compact(
            r#"{
  "task": {
    "id": 42,
    "title": "Buy groceries",
    "description": "Milk, eggs, bread",
    "completed": false,
    "created_at": "2026-02-02T14:00:00Z",
    "updated_at": "2026-02-02T14:00:00Z"
  },
  "success": true
}"#
        )
    );
    let gone = compact(r#"{ "success": false, "message": "Task not found with ID: 42" }"#);
    assert_eq!(get.failure(json!({"task_id": 42}), &not_found()), gone);
    assert_eq!(get.failure(json!({"task_id": 42.0}), &not_found()), gone);
    let down = ToolError::new(ErrorCode::ServiceUnavailable, "The database cannot be reached.");
    assert_eq!(
        get.failure(json!({"task_id": 42}), &down),
        compact(r#"{ "success": false, "message": "Failed to retrieve task: Database connection error" }"#)
    );
}

#[test]
fn update_task_answers_as_printed() {
    let update = tool("update_task");
    let after = groceries(json!({
        "description": "Milk, eggs, bread, cheese", "status": "completed", "updatedAt": "2026-02-02T14:30:00.5Z"
    }));
    assert_eq!(
        update.answer(json!({"task_id": 42}), json!({"task": after, "changed": ["description", "status"]})),
        compact(
            r#"{
  "task": {
    "id": 42,
    "title": "Buy groceries",
    "description": "Milk, eggs, bread, cheese",
    "completed": true,
    "created_at": "2026-02-02T14:00:00Z",
    "updated_at": "2026-02-02T14:30:00Z"
  },
  "success": true,
  "message": "Updated task successfully"
}"#
        )
    );
    assert_eq!(
        update.failure(json!({"task_id": 42}), &not_found()),
        compact(r#"{ "success": false, "message": "Task not found with ID: 42" }"#)
    );
    assert_eq!(
        update.refusal(json!({"task_id": 42, "title": ""})),
        compact(r#"{ "success": false, "message": "Failed to update task: Title cannot be empty" }"#)
    );
}

#[test]
fn an_update_with_nothing_in_it_succeeds() {
    let update = tool("update_task");
    assert_eq!(update.input(json!({"task_id": 42})).unwrap().params, json!({"taskId": 42}));
    let answer = update.answer(json!({"task_id": 42}), json!({"task": groceries(json!({})), "changed": []}));
    assert!(answer.ends_with(r#""success":true,"message":"Updated task successfully"}"#), "{answer}");
}

#[test]
fn delete_task_answers_as_printed() {
    let delete = tool("delete_task");
    let data = json!({"deleted": true, "taskId": 42, "title": "Buy groceries"});
    assert_eq!(
        delete.answer(json!({"task_id": 42}), data),
        compact(r#"{ "success": true, "message": "Deleted task: Buy groceries" }"#)
    );
    assert_eq!(
        delete.failure(json!({"task_id": 42}), &not_found()),
        compact(r#"{ "success": false, "message": "Task not found with ID: 42" }"#)
    );
    let down = ToolError::new(ErrorCode::ServiceUnavailable, "The database cannot be reached.");
    assert_eq!(
        delete.failure(json!({"task_id": 42}), &down),
        compact(r#"{ "success": false, "message": "Failed to delete task: Database connection error" }"#)
    );
}

#[test]
fn refusals_are_told_in_plain_words() {
    let long = |length: usize| "é".repeat(length);
    for (name, params, reason) in [
        ("create_task", json!({}), "create task: Title is required"),
        ("create_task", json!({"title": long(201)}), "create task: Title cannot exceed 200 characters"),
        (
            "create_task",
            json!({"title": "a", "description": long(2001)}),
            "create task: Description cannot exceed 2000 characters",
        ),
        (
            "create_task",
            json!({"title": "a", "status": "done"}),
            "create task: Invalid status value: must be one of: pending, completed",
        ),
        (
            "list_tasks",
            json!({"status": "done"}),
            "retrieve tasks: Invalid status value: must be one of: all, pending, completed",
        ),
        ("create_task", json!({"title": "a", "colour": 1}), "create task: 'colour' is not a known field"),
        ("create_task", json!({"title": 7}), "create task: Title must be of type string, not a number"),
        ("get_task", json!({}), "retrieve task: Task ID is required"),
        (
            "delete_task",
            json!({"task_id": "42"}),
            "delete task: Task ID must be of type integer, not a string",
        ),
        ("update_task", json!([1]), "update task: Input must be of type object, not an array"),
    ] {
        let expected = json!({"success": false, "message": format!("Failed to {reason}")}).to_string();
        assert_eq!(tool(name).refusal(params), expected);
    }
}

#[test]
fn limits_count_characters_after_trimming() {
    let create = tool("create_task");
    let input = create.input(json!({"title": format!("  {} ", "é".repeat(200))})).unwrap();
    assert_eq!(input.params["title"], "é".repeat(200));
    assert!(create.input(json!({"title": "a", "description": "é".repeat(2000)})).is_ok());
}

#[test]
fn parameters_become_canonical_ones() {
    for (name, given, canonical) in [
        ("create_task", json!({"title": " a "}), json!({"title": "a", "status": "pending"})),
        (
            "create_task",
            json!({"title": "a", "description": "b", "status": "completed"}),
            json!({"title": "a", "description": "b", "status": "completed"}),
        ),
        ("list_tasks", json!({}), json!({"status": "all", "whole": true})),
        ("list_tasks", json!({"status": "pending"}), json!({"status": "pending", "whole": true})),
        ("get_task", json!({"task_id": 42}), json!({"taskId": 42})),
        ("get_task", json!({"task_id": 42.0}), json!({"taskId": 42})),
        (
            "update_task",
            json!({"task_id": 42, "status": "completed", "title": "b"}),
            json!({"title": "b", "status": "completed", "taskId": 42}),
        ),
        ("delete_task", json!({"task_id": 42}), json!({"taskId": 42})),
    ] {
        let input = tool(name).input(given).unwrap();
        assert_eq!((input.params, input.user_key, input.tool), (canonical, None, None));
    }
}

#[test]
fn a_number_that_no_task_can_have_is_not_found() {
    for id in [json!(0), json!(-1), json!(u64::MAX), json!(1e300)] {
        let error = tool("get_task").input(json!({"task_id": id})).unwrap_err();
        assert_eq!(error.code, ErrorCode::NotFound);
    }
    assert_eq!(
        tool("get_task").refusal(json!({"task_id": -1})),
        r#"{"success":false,"message":"Task not found with ID: -1"}"#
    );
}
