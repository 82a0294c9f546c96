//! The profile `todo_tasks`: five task tools with an explicit `user_id`, answering `{success, data | error}`.

use serde_json::{Map, Value, json};
use toolroom_contract::error::ErrorBody;
use toolroom_contract::{ErrorCode, ToolError};

use crate::canonical::{Task, can_be_an_id, carry, not_found, status};
use crate::profile::{Binding, Caller, ChatRules, Input, Profile, Published, Show, Tools};
use crate::refusal::Refusal;
use crate::{dry_run, due};

/// The name in paths and requests.
pub const NAME: &str = "todo_tasks";

/// The profile.
pub fn profile() -> Profile {
    Profile {
        name: NAME.into(),
        description: "Five task tools that name the user in every call.".into(),
        requires_approval: false,
        show: Show::List,
        chat: ChatRules::default(),
        tools: Tools::Listed(vec![add_task(), list_tasks(), complete_task(), delete_task(), update_task()]),
    }
}

fn add_task() -> Binding {
    Binding {
        name: "add_task".into(),
        canonical: "create-task".into(),
        description: "Create a new task for the user. Returns the created task with its ID.".into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "user_id": { "type": "string", "description": "ID of the user creating the task" },
                "title": {
                    "type": "string",
                    "description": "Task title (1-255 characters)",
                    "minLength": 1,
                    "maxLength": 255
                },
                "description": {
                    "type": "string",
                    "description": "Optional task description",
                    "maxLength": 1000
                },
                "priority": {
                    "type": "string",
                    "enum": ["Low", "Medium", "High"],
                    "description": "Priority level (default: Medium)"
                },
                "due_date": { "type": "string", "description": "Due date in YYYY-MM-DD format" }
            },
            "required": ["user_id", "title"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &["title", "description"],
        input: |params, _| {
            let mut task = fields(params)?;
            task.entry("priority").or_insert_with(|| "medium".into());
            Ok(for_user(params, task))
        },
        output: |call| answer(call, || owned_task(call)),
    }
}

fn list_tasks() -> Binding {
    Binding {
        name: "list_tasks".into(),
        canonical: "list-tasks".into(),
        description: "List all tasks for the user, ordered by creation time (newest first)".into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "user_id": { "type": "string", "description": "ID of the user whose tasks to list" }
            },
            "required": ["user_id"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &[],
        input: |params, _| Ok(for_user(params, json!({ "status": "all", "whole": true }))),
        output: |call| {
            answer(call, || {
                let tasks: Vec<Value> =
                    Task::list(call).map(|task| Value::Object(task_object(call, task))).collect();
                let total = tasks.len();
                json!({ "tasks": tasks, "total": total })
            })
        },
    }
}

fn complete_task() -> Binding {
    Binding {
        name: "complete_task".into(),
        canonical: "complete-task".into(),
        description: "Mark a task as completed. Idempotent - completing an already-completed task succeeds."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "task_id": { "type": "string", "description": "ID of the task to complete" },
                "user_id": { "type": "string", "description": "ID of the user (for ownership verification)" }
            },
            "required": ["task_id", "user_id"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &[],
        input: |params, _| Ok(for_user(params, json!({ "taskId": task_id(params)?, "completed": true }))),
        output: |call| {
            answer(call, || {
                Task::of(call).map_or(Value::Null, |task| {
                    json!({
                        "id": task.id(),
                        "title": task.title(),
                        "completed": task.is_completed(),
                        "updated_at": task.updated_at()
                    })
                })
            })
        },
    }
}

fn delete_task() -> Binding {
    Binding {
        name: "delete_task".into(),
        canonical: "delete-task".into(),
        description: "Permanently delete a task. Cannot be undone.".into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "task_id": { "type": "string", "description": "ID of the task to delete" },
                "user_id": { "type": "string", "description": "ID of the user (for ownership verification)" }
            },
            "required": ["task_id", "user_id"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &[],
        input: |params, _: &Caller<'_>| Ok(for_user(params, json!({ "taskId": task_id(params)? }))),
        output: |call| answer(call, || json!({ "deleted": true, "task_id": call.params.get("task_id") })),
    }
}

fn update_task() -> Binding {
    Binding {
        name: "update_task".into(),
        canonical: "update-task".into(),
        description: "Update task attributes. Only provided fields are modified.".into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "task_id": { "type": "string", "description": "ID of the task to update" },
                "user_id": { "type": "string", "description": "ID of the user (for ownership verification)" },
                "title": {
                    "type": "string",
                    "description": "New title (1-255 characters)",
                    "minLength": 1,
                    "maxLength": 255
                },
                "description": { "type": "string", "description": "New description", "maxLength": 1000 },
                "priority": {
                    "type": "string",
                    "enum": ["Low", "Medium", "High"],
                    "description": "New priority level"
                },
                "due_date": { "type": "string", "description": "New due date in YYYY-MM-DD format" },
                "completed": { "type": "boolean", "description": "New completion status" }
            },
            "required": ["task_id", "user_id"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &["title", "description"],
        input: |params, _| {
            let mut change = fields(params)?;
            if let Some(completed) = params.get("completed").and_then(Value::as_bool) {
                change.insert("status".into(), status(completed));
            }
            // Before the id is looked at: an empty update is refused alike whether or not the task exists.
            if change.is_empty() {
                return Err(ToolError::new(ErrorCode::InvalidInput, NO_FIELDS));
            }
            change.insert("taskId".into(), task_id(params)?.into());
            Ok(for_user(params, change))
        },
        output: |call| answer(call, || owned_task(call)),
    }
}

const NO_FIELDS: &str = "At least one field must be provided for update";
const BAD_PRIORITY: &str = "Priority must be one of: Low, Medium, High";
const BAD_DATE: &str = "Due date must be a real date in YYYY-MM-DD format, from 1970-01-01 to 9999-12-31";

/// Parameters on behalf of the user whom `user_id` names.
fn for_user(params: &Value, canonical: impl Into<Value>) -> Input {
    let user_key = params.get("user_id").and_then(Value::as_str).map(str::to_owned);
    Input { user_key, ..Input::of(canonical) }
}

/// A task's id is a string here. Only the spelling that the store's number has names a task.
fn task_id(params: &Value) -> Result<i64, ToolError> {
    let text = params.get("task_id").and_then(Value::as_str).unwrap_or_default();
    let id = text.parse().ok().filter(|id: &i64| can_be_an_id(id) && id.to_string() == text);
    id.ok_or_else(not_found)
}

fn fields(params: &Value) -> Result<Map<String, Value>, ToolError> {
    let mut task = carry(params, &[("title", "title"), ("description", "description")]);
    if let Some(priority) = params.get("priority").and_then(Value::as_str) {
        task.insert("priority".into(), priority.to_ascii_lowercase().into());
    }
    if let Some(text) = params.get("due_date").and_then(Value::as_str) {
        let date = due::date(text).ok_or_else(|| ToolError::invalid("/due_date", BAD_DATE))?;
        task.insert("due".into(), date.to_string().into());
    }
    Ok(task)
}

fn answer(call: &Published<'_>, data: impl FnOnce() -> Value) -> Value {
    match (call.result.error(), dry_run::said(call)) {
        (Some(error), _) => json!({ "success": false, "error": failure(call, error) }),
        (None, Some(message)) => json!({
            "success": false,
            "error": { "code": "processing_error", "message": message, "details": {} }
        }),
        (None, None) => json!({ "success": true, "data": data() }),
    }
}

/// A task as lists show it.
fn task_object(call: &Published<'_>, task: Task<'_>) -> Map<String, Value> {
    let priority = match task.get("priority").as_str() {
        Some("low") => "Low",
        Some("high") => "High",
        _ => "Medium",
    };
    [
        ("id", task.id().clone()),
        ("title", task.title().into()),
        ("description", task.get("description").clone()),
        ("completed", task.is_completed().into()),
        ("priority", priority.into()),
        ("due_date", due::as_date(task.get("due"), call.time_zone)),
        ("created_at", task.created_at()),
        ("updated_at", task.updated_at()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into_iter()
    .collect()
}

/// A task with its user, as the tools that write it show it.
fn owned_task(call: &Published<'_>) -> Value {
    let Some(task) = Task::of(call) else { return Value::Null };
    let mut object = task_object(call, task);
    object.shift_insert(1, "user_id".into(), call.user.key.as_ref().into());
    Value::Object(object)
}

fn failure(call: &Published<'_>, error: &ErrorBody) -> Value {
    let (code, message, details) = match error.code {
        ErrorCode::InvalidInput => return refusal(call, error),
        ErrorCode::NoChanges => ("invalid_input", NO_FIELDS, json!({})),
        ErrorCode::NotFound => ("not_found", "Task not found", carry(call.params, TASK_ID).into()),
        _ => ("processing_error", error.message.as_str(), json!({})),
    };
    json!({ "code": code, "message": message, "details": details })
}

const TASK_ID: &[(&str, &str)] = &[("task_id", "task_id")];

fn refusal(call: &Published<'_>, error: &ErrorBody) -> Value {
    let Some(refusal) = Refusal::of(error, call.params) else {
        return json!({ "code": "invalid_input", "message": error.message, "details": {} });
    };
    match refusal.field.as_str() {
        "" => json!({ "code": "invalid_input", "message": refusal.sentence("Input"), "details": {} }),
        "priority" => json!({
            "code": "invalid_priority",
            "message": BAD_PRIORITY,
            "details": { "field": "priority", "value": call.params.get("priority") }
        }),
        "due_date" => {
            json!({ "code": "invalid_date", "message": BAD_DATE, "details": { "field": "due_date" } })
        }
        field => json!({
            "code": "invalid_input",
            "message": refusal.sentence(&refusal.label()),
            "details": { "field": field }
        }),
    }
}
