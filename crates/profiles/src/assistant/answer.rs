//! What the profile `assistant` answers: task objects, search results, failures.

use serde_json::{Value, json};
use toolroom_contract::ErrorCode;
use toolroom_contract::error::ErrorBody;

use crate::canonical::Task;
use crate::profile::Published;
use crate::refusal::Refusal;
use crate::{dry_run, due};

/// A task with all its fields.
pub(super) fn task_object(call: &Published<'_>, task: Task<'_>) -> Value {
    json!({
        "id": task.id(),
        "user_id": call.user.id,
        "title": task.title(),
        "priority": task.get("priority"),
        "due_date": due::as_date_time(task.get("due"), call.time_zone),
        "description": task.get("description"),
        "completed": task.is_completed(),
        "created_at": task.created_at(),
        "updated_at": task.updated_at()
    })
}

/// The published names of what an update can change, in the order of its schema.
const CHANGEABLE: &[(&str, &str)] = &[
    ("title", "title"),
    ("priority", "priority"),
    ("due_date", "due"),
    ("description", "description"),
    ("completed", "status"),
];

/// An update that succeeded, though it may have changed nothing.
pub(super) fn updated(call: &Published<'_>) -> Value {
    let changed = call.result.data().and_then(|data| data.get("changed")).and_then(Value::as_array);
    let has_changed =
        |canonical: &str| changed.is_some_and(|names| names.iter().any(|name| name == canonical));
    let fields: Vec<&str> =
        CHANGEABLE.iter().filter(|(_, canonical)| has_changed(canonical)).map(|(name, _)| *name).collect();
    let task = Task::of(call).map(|task| task_object(call, task));
    if !fields.is_empty() {
        return json!({
            "success": true,
            "task": task,
            "message": "Task updated successfully",
            "fields_updated": fields
        });
    }
    let given = CHANGEABLE.iter().any(|(name, _)| call.params.get(name).is_some());
    let message = if given { "The task already has these values" } else { "No fields provided to update" };
    json!({ "success": true, "task": task, "message": message, "fields_updated": [], "code": "NO_CHANGES" })
}

/// The result of a search: one task, several to choose from, or none.
pub(super) fn found(call: &Published<'_>) -> Value {
    let data = call.result.data();
    let matches = data.and_then(|data| data.get("matches")).and_then(Value::as_array);
    let matches = matches.map(Vec::as_slice).unwrap_or_default();
    let single = data.is_some_and(|data| data.get("matchType").is_some_and(|kind| kind == "single"));
    match matches {
        [] => none_found(call),
        [best, ..] if single => one_found(call, best),
        several => several_found(several),
    }
}

fn one_found(call: &Published<'_>, found: &Value) -> Value {
    let task = found.get("task").map(Task).map(|task| {
        json!({
            "id": task.id(),
            "title": task.title(),
            "priority": task.get("priority"),
            "due_date": due::as_date_time(task.get("due"), call.time_zone),
            "description": task.get("description"),
            "completed": task.is_completed()
        })
    });
    json!({
        "success": true,
        "match_type": "single",
        "task": task,
        "confidence": found.get("confidence"),
        "message": "Found 1 matching task"
    })
}

fn several_found(matches: &[Value]) -> Value {
    let candidate = |found: &Value| {
        let task = found.get("task").map(Task);
        json!({
            "id": task.map(Task::id),
            "title": task.map(Task::title),
            "confidence": found.get("confidence")
        })
    };
    let tasks: Vec<Value> = matches.iter().map(candidate).collect();
    let message = format!("Found {} matching tasks. Please specify which one.", tasks.len());
    json!({ "success": true, "match_type": "multiple", "tasks": tasks, "message": message })
}

fn none_found(call: &Published<'_>) -> Value {
    let query = call.params.get("query").and_then(Value::as_str).unwrap_or_default().trim();
    json!({
        "success": false,
        "match_type": "none",
        "error": format!("No tasks found matching '{query}'"),
        "code": "NOT_FOUND",
        "suggestion": "Try listing all tasks with list_tasks()"
    })
}

/// A change that was made, unless it was a dry run. The contract has no code for that; what it did not foresee has
/// the one of bad input.
pub(super) fn done(call: &Published<'_>, success: impl FnOnce() -> Value) -> Value {
    match dry_run::said(call) {
        Some(said) => json!({ "success": false, "error": said, "code": "VALIDATION_ERROR" }),
        None => success(),
    }
}

/// A failure; a task that is not there is told in the tool's own words.
pub(super) fn failure(call: &Published<'_>, error: &ErrorBody, not_found: &str) -> Value {
    let text = match error.code {
        ErrorCode::NotFound => not_found.to_owned(),
        ErrorCode::InvalidInput => format!("Validation error: {}", refusal(call, error)),
        _ => error.message.clone(),
    };
    json!({ "success": false, "error": text, "code": code(error.code) })
}

fn refusal(call: &Published<'_>, error: &ErrorBody) -> String {
    match Refusal::of(error, call.params) {
        Some(refusal) if refusal.field.is_empty() => refusal.sentence("input"),
        // The schema's refusal says nothing of the offset and the range.
        Some(refusal) if refusal.predicate() == "must be a valid date-time" => {
            format!("{} {DUE_DATE}", refusal.field)
        }
        Some(refusal) => refusal.sentence(&refusal.field),
        None => error.message.clone(),
    }
}

const DUE_DATE: &str =
    "must be a valid date-time with an offset, such as 2031-01-28T23:59:59Z, from 1970-01-01 to 9999-12-30";

/// The published code. The contract prints seven; the others are those of calls that it does not foresee.
fn code(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::InvalidInput
        | ErrorCode::BodyTooLarge
        | ErrorCode::UnsupportedMediaType
        | ErrorCode::NotAcceptable
        | ErrorCode::RequestTimeout => "VALIDATION_ERROR",
        ErrorCode::NotFound | ErrorCode::ToolNotFound | ErrorCode::ToolRemoved => "NOT_FOUND",
        ErrorCode::NoChanges => "NO_CHANGES",
        ErrorCode::VersionConflict
        | ErrorCode::IdempotencyConflict
        | ErrorCode::AlreadyExists
        | ErrorCode::BreakingChange
        | ErrorCode::InProgress
        | ErrorCode::Ambiguous => "CONFLICT",
        ErrorCode::ApprovalRequired => "APPROVAL_REQUIRED",
        ErrorCode::InputRequired => "INPUT_REQUIRED",
        ErrorCode::ApprovalDenied => "APPROVAL_DENIED",
        ErrorCode::DefinitionPending => "DEFINITION_PENDING",
        ErrorCode::ApprovalExpired => "APPROVAL_EXPIRED",
        ErrorCode::Unauthenticated | ErrorCode::Forbidden => "UNAUTHORIZED",
        ErrorCode::RateLimited => "RATE_LIMITED",
        ErrorCode::Busy
        | ErrorCode::ToolTimeout
        | ErrorCode::ToolExecutionError
        | ErrorCode::InvalidOutput
        | ErrorCode::OutputTooLarge
        | ErrorCode::Cancelled
        | ErrorCode::ServiceUnavailable
        | ErrorCode::JournalUnavailable
        | ErrorCode::NotConfigured
        | ErrorCode::Internal => "DATABASE_ERROR",
    }
}
