//! Every canonical error has a published form on every tool of every profile.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolroom_contract::{ErrorCode, FieldError, ToolError};
use toolroom_profiles::Caller;

use crate::published::{PublishedClient, bindings, client};

const PROFILES: [&str; 3] = ["todo-chatbot", "todo_tasks", "assistant"];

/// Every tool of every profile.
static DESKS: LazyLock<Vec<(&str, PublishedClient)>> = LazyLock::new(|| {
    let clients =
        |profile| bindings(profile).into_iter().map(move |each| (profile, client(profile, &each.name)));
    PROFILES.into_iter().flat_map(clients).collect()
});

fn published(profile: &str, tool: &str, code: ErrorCode) -> Value {
    let params = json!({"task_id": 42, "user_id": "user-abc-123", "title": "a", "query": "a"});
    let text = client(profile, tool).failure(params, &ToolError::new(code, "It went wrong."));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn todo_tasks_has_five_codes() {
    for &code in ErrorCode::ALL {
        let expected = match code {
            ErrorCode::InvalidInput | ErrorCode::NoChanges => "invalid_input",
            ErrorCode::NotFound => "not_found",
            _ => "processing_error",
        };
        for binding in bindings("todo_tasks") {
            let answer = published("todo_tasks", &binding.name, code);
            assert_eq!(answer["error"]["code"], expected, "{code} on {}", binding.name);
            if expected == "processing_error" {
                assert_eq!(answer["error"]["message"], "It went wrong.");
                assert_eq!(answer["error"]["details"], json!({}));
            }
        }
    }
}

#[test]
fn assistant_has_a_code_for_each_row_of_the_error_table() {
    use ErrorCode as Code;
    for (code, expected) in [
        (Code::InvalidInput, "VALIDATION_ERROR"),
        (Code::NotFound, "NOT_FOUND"),
        (Code::ToolNotFound, "NOT_FOUND"),
        (Code::ToolRemoved, "NOT_FOUND"),
        (Code::NoChanges, "NO_CHANGES"),
        (Code::VersionConflict, "CONFLICT"),
        (Code::IdempotencyConflict, "CONFLICT"),
        (Code::AlreadyExists, "CONFLICT"),
        (Code::BreakingChange, "CONFLICT"),
        (Code::InProgress, "CONFLICT"),
        (Code::Ambiguous, "CONFLICT"),
        (Code::ApprovalRequired, "APPROVAL_REQUIRED"),
        (Code::ApprovalDenied, "APPROVAL_DENIED"),
        (Code::DefinitionPending, "DEFINITION_PENDING"),
        (Code::ApprovalExpired, "APPROVAL_EXPIRED"),
        (Code::Unauthenticated, "UNAUTHORIZED"),
        (Code::Forbidden, "UNAUTHORIZED"),
        (Code::RateLimited, "RATE_LIMITED"),
        (Code::Busy, "DATABASE_ERROR"),
        (Code::ToolTimeout, "DATABASE_ERROR"),
        (Code::ToolExecutionError, "DATABASE_ERROR"),
        (Code::InvalidOutput, "DATABASE_ERROR"),
        (Code::OutputTooLarge, "DATABASE_ERROR"),
        (Code::Cancelled, "DATABASE_ERROR"),
        (Code::ServiceUnavailable, "DATABASE_ERROR"),
        (Code::JournalUnavailable, "DATABASE_ERROR"),
        (Code::NotConfigured, "DATABASE_ERROR"),
        (Code::Internal, "DATABASE_ERROR"),
    ] {
        for binding in bindings("assistant") {
            let answer = published("assistant", &binding.name, code);
            assert_eq!(answer["code"], expected, "{code} on {}", binding.name);
        }
    }
}

#[test]
fn todo_chatbot_says_what_it_failed_to_do_and_why() {
    for (tool, attempt) in [
        ("create_task", "create task"),
        ("list_tasks", "retrieve tasks"),
        ("get_task", "retrieve task"),
        ("update_task", "update task"),
        ("delete_task", "delete task"),
    ] {
        for &code in ErrorCode::ALL {
            let answer = published("todo-chatbot", tool, code);
            let reason = match code {
                ErrorCode::NotFound => {
                    assert_eq!(answer["message"], "Task not found with ID: 42");
                    continue;
                }
                ErrorCode::NoChanges if tool == "update_task" => {
                    assert_eq!(answer["success"], true);
                    continue;
                }
                ErrorCode::ServiceUnavailable => "Database connection error",
                ErrorCode::Internal => "Unexpected error",
                _ => "It went wrong.",
            };
            assert_eq!(
                answer,
                json!({"success": false, "message": format!("Failed to {attempt}: {reason}")})
            );
        }
    }
}

#[test]
fn refusals_by_the_canonical_tool_name_the_published_field() {
    let refused = |pointer: &str| ToolError::invalid(pointer, "must be in the future");
    let due = client("assistant", "update_task").failure(json!({"due_date": "x"}), &refused("/due"));
    assert!(due.contains("Validation error: due_date must be in the future"), "{due}");
    let done = client("assistant", "update_task").failure(json!({"completed": true}), &refused("/status"));
    assert!(done.contains("Validation error: completed must be in the future"), "{done}");
    let date = client("todo_tasks", "add_task").failure(json!({"due_date": "x"}), &refused("/due"));
    assert!(date.contains(r#""code":"invalid_date""#), "{date}");
    let id = client("todo-chatbot", "get_task").failure(json!({"task_id": 5}), &refused("/taskId"));
    assert!(id.contains("Task ID must be in the future"), "{id}");
}

fn any_error() -> impl Strategy<Value = ToolError> {
    let detail = (
        prop_oneof![
            Just(String::new()),
            Just("/title".into()),
            Just("/due".into()),
            Just("/priority".into()),
            ".*"
        ],
        prop_oneof![
            Just("must not be empty".to_owned()),
            Just("must have at most  characters".into()),
            Just("must be one of [1,".into()),
            ".*"
        ],
    );
    let details = proptest::collection::vec(detail, 0..3);
    (0..ErrorCode::ALL.len(), ".*", details).prop_map(|(code, message, details)| {
        let mut error = ToolError::new(ErrorCode::ALL[code], message);
        error.details = details
            .into_iter()
            .map(|(pointer, message)| FieldError { pointer, message, expected: None, example: None })
            .collect();
        error
    })
}

fn any_params() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    let object = proptest::collection::btree_map(
        prop_oneof![Just("task_id".to_owned()), Just("priority".into()), Just("query".into()), ".*"],
        value.clone(),
        0..4,
    );
    prop_oneof![object.prop_map(|fields| Value::Object(fields.into_iter().collect())), value]
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|fields| fields.keys().map(String::as_str).collect()).unwrap_or_default()
}

proptest! {
    #[test]
    fn any_failure_has_the_shape_of_its_profile(error in any_error(), params in any_params()) {
        for (profile, client) in DESKS.iter() {
            let answer: Value = serde_json::from_str(&client.failure(params.clone(), &error)).unwrap();
            let nothing_to_do = error.code == ErrorCode::NoChanges && client.binding.name == "update_task";
            if nothing_to_do && *profile != "todo_tasks" {
                prop_assert_eq!(&answer["success"], &json!(true));
                continue;
            }
            prop_assert_eq!(&answer["success"], &json!(false));
            match *profile {
                "todo-chatbot" => prop_assert_eq!(keys(&answer), ["success", "message"]),
                "todo_tasks" => {
                    prop_assert_eq!(keys(&answer), ["success", "error"]);
                    prop_assert_eq!(keys(&answer["error"]), ["code", "message", "details"]);
                    prop_assert!(answer["error"]["details"].is_object());
                }
                _ => prop_assert_eq!(keys(&answer), ["success", "error", "code"]),
            }
        }
    }

    #[test]
    fn no_parameters_make_an_input_map_panic(params in any_params()) {
        for (_, client) in DESKS.iter() {
            let caller = Caller { user: &client.user, time_zone: &client.time_zone };
            let _ = (client.binding.input)(&params, &caller);
        }
    }

    #[test]
    fn no_data_makes_an_output_map_panic(params in any_params(), data in any_params()) {
        for (_, client) in DESKS.iter() {
            client.answer(params.clone(), data.clone());
            client.answer(params.clone(), json!({"task": data, "matches": [data], "tasks": [data]}));
        }
    }
}
