//! `assistant`: every answer that its contract prints, to the character.

use serde_json::{Value, json};
use toolroom_contract::ErrorCode;

use crate::published::{PublishedClient, client, compact, not_found, task};

fn tool(name: &str) -> PublishedClient {
    client("assistant", name)
}

fn milk(with: Value) -> Value {
    let mut milk = task(json!({"priority": "high", "due": "2026-01-28T23:59:59Z"}));
    for (name, value) in with.as_object().unwrap() {
        milk[name] = value.clone();
    }
    milk
}

#[test]
fn add_task_answers_as_printed() {
    let add = tool("add_task");
    assert_eq!(
        add.answer(json!({"title": "Buy milk"}), json!({"task": milk(json!({}))})),
        compact(
            r#"{
  "success": true,
  "task": {
    "id": 123,
    "user_id": 456,
    "title": "Buy milk",
    "priority": "high",
    "due_date": "2026-01-28T23:59:59Z",
    "description": null,
    "completed": false,
    "created_at": "2026-01-27T10:00:00Z",
    "updated_at": "2026-01-27T10:00:00Z"
  },
  "message": "Task created successfully"
}"#
        )
    );
    assert_eq!(
        add.refusal(json!({"title": "\t"})),
        compact(
            r#"{
  "success": false,
  "error": "Validation error: title cannot be empty",
  "code": "VALIDATION_ERROR"
}"#
        )
    );
}

#[test]
fn list_tasks_answers_as_printed_with_the_user_in_every_task() {
    let mom = task(json!({
        "taskId": 124, "title": "Call mom", "description": "Discuss weekend plans", "status": "completed",
        "createdAt": "2026-01-26T14:00:00Z", "updatedAt": "2026-01-27T09:00:00Z"
    }));
    let list = tool("list_tasks");
    assert_eq!(
        list.answer(json!({}), json!({"tasks": [milk(json!({})), mom], "total": 2, "nextCursor": null})),
        compact(
            r#"{
  "success": true,
  "tasks": [
    {
      "id": 123,
      "user_id": 456,
      "title": "Buy milk",
      "priority": "high",
      "due_date": "2026-01-28T23:59:59Z",
      "description": null,
      "completed": false,
      "created_at": "2026-01-27T10:00:00Z",
      "updated_at": "2026-01-27T10:00:00Z"
    },
    {
      "id": 124,
      "user_id": 456,
      "title": "Call mom",
      "priority": "medium",
      "due_date": null,
      "description": "Discuss weekend plans",
      "completed": true,
      "created_at": "2026-01-26T14:00:00Z",
      "updated_at": "2026-01-27T09:00:00Z"
    }
  ],
  "count": 2
}"#
        )
    );
    assert_eq!(
        list.failure(json!({"task_id": 5}), &not_found()),
        compact(r#"{ "success": false, "error": "Task not found", "code": "NOT_FOUND" }"#)
    );
}

#[test]
fn list_tasks_with_an_id_asks_for_that_task_alone() {
    let list = tool("list_tasks");
    let input = list.input(json!({"task_id": 5})).unwrap();
    assert_eq!((input.params, input.tool), (json!({"taskId": 5}), Some("get-task")));

    let one = json!({"task": milk(json!({}))});
    for (status, count) in [(json!("all"), 1), (json!("pending"), 1), (json!("completed"), 0)] {
        let answer = list.answer(json!({"task_id": 123, "status": status}), one.clone());
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["success"], true);
        assert_eq!(answer["count"], count);
        assert_eq!(answer["tasks"].as_array().unwrap().len(), count);
    }
}

#[test]
fn update_task_answers_as_printed() {
    let after = milk(json!({"description": "From Whole Foods", "updatedAt": "2026-01-27T11:30:00.1Z"}));
    let update = tool("update_task");
    let data = json!({"task": after, "changed": ["description", "priority"]});
    assert_eq!(
        update.answer(json!({"task_id": 123, "priority": "high", "description": "From Whole Foods"}), data),
        compact(
            r#"{
  "success": true,
  "task": {
    "id": 123,
    "user_id": 456,
    "title": "Buy milk",
    "priority": "high",
    "due_date": "2026-01-28T23:59:59Z",
    "description": "From Whole Foods",
    "completed": false,
    "created_at": "2026-01-27T10:00:00Z",
    "updated_at": "2026-01-27T11:30:00Z"
  },
  "message": "Task updated successfully",
  "fields_updated": ["priority", "description"]
}"#
        )
    );
    let gone = compact(
        r#"{
  "success": false,
  "error": "Task not found or you don't have permission",
  "code": "NOT_FOUND"
}"#,
    );
    for name in ["update_task", "delete_task", "complete_task"] {
        assert_eq!(tool(name).failure(json!({"task_id": 123}), &not_found()), gone);
    }
}

#[test]
fn fields_updated_have_their_published_names_in_the_order_of_the_schema() {
    let data = json!({
        "task": milk(json!({})), "changed": ["status", "due", "tags", "title", "description", "priority"]
    });
    let answer = tool("update_task").answer(json!({"task_id": 123, "title": "a"}), data);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(
        answer["fields_updated"],
        json!(["title", "priority", "due_date", "description", "completed"])
    );
}

#[test]
fn an_update_that_changes_nothing_is_a_success_with_a_code() {
    let update = tool("update_task");
    for (params, message) in [
        (json!({"task_id": 123}), "No fields provided to update"),
        (json!({"task_id": 123, "priority": "high"}), "The task already has these values"),
    ] {
        let answer = update.answer(params, json!({"task": milk(json!({})), "changed": []}));
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let fields: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, ["success", "task", "message", "fields_updated", "code"]);
        assert_eq!(answer["success"], true);
        assert_eq!(answer["task"]["id"], 123);
        assert_eq!(answer["message"], message);
        assert_eq!(answer["fields_updated"], json!([]));
        assert_eq!(answer["code"], "NO_CHANGES");
    }
}

#[test]
fn delete_task_answers_as_printed() {
    let data = json!({"deleted": true, "taskId": 123, "title": "Buy milk"});
    assert_eq!(
        tool("delete_task").answer(json!({"task_id": 123}), data),
        compact(r#"{ "success": true, "message": "Task deleted successfully", "deleted_task_id": 123 }"#)
    );
}

#[test]
fn complete_task_answers_as_printed() {
    let complete = tool("complete_task");
    let done = milk(json!({"status": "completed", "updatedAt": "2026-01-27T12:00:00.7Z"}));
    assert_eq!(
        complete.answer(json!({"task_id": 123}), json!({"task": done, "changed": ["status"]})),
        compact(
            r#"{
  "success": true,
  "task": {
    "id": 123,
    "title": "Buy milk",
    "completed": true,
    "updated_at": "2026-01-27T12:00:00Z"
  },
  "message": "Task marked as complete"
}"#
        )
    );
    let undone =
        complete.answer(json!({"task_id": 123, "completed": false}), json!({"task": milk(json!({}))}));
    assert!(undone.ends_with(r#""message":"Task marked as incomplete"}"#), "{undone}");
}

#[test]
fn find_task_answers_as_printed() {
    let find = tool("find_task");
    let store = milk(json!({"title": "Buy milk from store", "due": null}));
    let delivery = task(json!({"taskId": 124, "title": "Milk delivery subscription"}));
    let single = json!({"matchType": "single", "matches": [{"task": store, "confidence": 0.87}]});
    assert_eq!(
        find.answer(json!({"query": "milk"}), single),
        compact(
            r#"{
  "success": true,
  "match_type": "single",
  "task": {
    "id": 123,
    "title": "Buy milk from store",
    "priority": "high",
    "due_date": null,
    "description": null,
    "completed": false
  },
  "confidence": 0.87,
  "message": "Found 1 matching task"
}"#
        )
    );
    let multiple = json!({"matchType": "multiple", "matches": [
        {"task": store, "confidence": 0.87}, {"task": delivery, "confidence": 0.78}
    ]});
    assert_eq!(
        find.answer(json!({"query": "milk"}), multiple),
        compact(
            r#"{
  "success": true,
  "match_type": "multiple",
  "tasks": [
    {
      "id": 123,
      "title": "Buy milk from store",
      "confidence": 0.87
    },
    {
      "id": 124,
      "title": "Milk delivery subscription",
      "confidence": 0.78
    }
  ],
  "message": "Found 2 matching tasks. Please specify which one."
}"#
        )
    );
    let none = find.answer(json!({"query": " milk "}), json!({"matchType": "none", "matches": []}));
    assert_eq!(
        none,
        compact(
            r#"{
  "success": false,
  "match_type": "none",
  "error": "No tasks found matching 'milk'",
  "code": "NOT_FOUND",
  "suggestion": "Try listing all tasks with list_tasks()"
}"#
        )
    );
    assert!(toolroom_profiles::is_failure(&serde_json::from_str(&none).unwrap()));
}

#[test]
fn an_exact_match_among_others_is_shown_alone() {
    let matches = json!([
        {"task": milk(json!({})), "confidence": 1.0}, {"task": milk(json!({})), "confidence": 0.7}
    ]);
    let answer = tool("find_task")
        .answer(json!({"query": "Buy milk"}), json!({"matchType": "single", "matches": matches}));
    assert!(
        answer.contains(r#""match_type":"single""#) && answer.contains(r#""confidence":1.0"#),
        "{answer}"
    );
}

const BAD_DUE: &str = "due_date must be a valid date-time with an offset, such as 2031-01-28T23:59:59Z, from \
    1970-01-01 to 9999-12-30";

#[test]
fn refusals_are_told_as_validation_errors() {
    for (name, params, reason) in [
        ("add_task", json!({}), "title is required"),
        ("add_task", json!({"title": "a".repeat(201)}), "title cannot exceed 200 characters"),
        (
            "add_task",
            json!({"title": "a", "priority": "urgent"}),
            "priority must be one of: high, medium, low",
        ),
        ("add_task", json!({"title": "a", "due_date": "2026-01-28"}), BAD_DUE),
        ("add_task", json!({"title": "a", "due_date": "2026-01-28T10:00:00"}), BAD_DUE),
        ("add_task", json!({"title": "a", "due_date": "9999-12-31T23:59:59-23:00"}), BAD_DUE),
        (
            "update_task",
            json!({"task_id": 1, "description": "a".repeat(1001)}),
            "description cannot exceed 1000 characters",
        ),
        ("update_task", json!({"task_id": 1, "user_id": 2}), "'user_id' is not a known field"),
        ("delete_task", json!({"task_id": "1"}), "task_id must be of type integer, not a string"),
        ("find_task", json!({"query": " "}), "query cannot be empty"),
        ("find_task", json!({"query": "a", "threshold": 2}), "threshold must be at most 1"),
        ("find_task", json!(null), "input must be of type object, not null"),
    ] {
        let error = format!("Validation error: {reason}");
        let expected = json!({"success": false, "error": error, "code": "VALIDATION_ERROR"});
        assert_eq!(tool(name).refusal(params), expected.to_string());
    }
}

#[test]
fn parameters_become_canonical_ones() {
    for (name, given, canonical) in [
        ("add_task", json!({"title": " a "}), json!({"title": "a", "priority": "medium"})),
        (
            "add_task",
            json!({"title": "a", "priority": "low", "due_date": "2026-01-28T23:59:59+01:00", "description": "b"}),
            json!({"title": "a", "priority": "low", "due": "2026-01-28T22:59:59Z", "description": "b"}),
        ),
        ("list_tasks", json!({}), json!({"status": "all", "whole": true})),
        ("list_tasks", json!({"status": "completed"}), json!({"status": "completed", "whole": true})),
        ("update_task", json!({"task_id": 5}), json!({"taskId": 5})),
        (
            "update_task",
            json!({"task_id": 5, "due_date": null, "description": null}),
            json!({"taskId": 5, "due": null, "description": null}),
        ),
        (
            "update_task",
            json!({"task_id": 5, "completed": true, "due_date": "2026-01-28t10:00:00z"}),
            json!({"taskId": 5, "status": "completed", "due": "2026-01-28T10:00:00Z"}),
        ),
        ("delete_task", json!({"task_id": 5}), json!({"taskId": 5})),
        ("complete_task", json!({"task_id": 5}), json!({"taskId": 5, "completed": true})),
        (
            "complete_task",
            json!({"task_id": 5, "completed": false}),
            json!({"taskId": 5, "completed": false}),
        ),
        ("find_task", json!({"query": " milk "}), json!({"query": "milk", "threshold": 0.6, "whole": true})),
        (
            "find_task",
            json!({"query": "milk", "threshold": 0.8}),
            json!({"query": "milk", "threshold": 0.8, "whole": true}),
        ),
    ] {
        let input = tool(name).input(given).unwrap();
        assert_eq!((input.params, input.user_key, input.tool), (canonical, None, None));
    }
}

#[test]
fn a_number_that_no_task_can_have_is_not_found() {
    for name in ["list_tasks", "update_task", "delete_task", "complete_task"] {
        let error = tool(name).input(json!({"task_id": 0})).unwrap_err();
        assert_eq!(error.code, ErrorCode::NotFound);
    }
}
