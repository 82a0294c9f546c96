//! The profile `assistant`: six task tools, fuzzy search among them, answering `{success, error, code}`.

use serde_json::{Value, json};
use toolroom_contract::{ErrorCode, ToolError};

use crate::canonical::{Task, carry, status, task_id};
use crate::due;
use crate::profile::{Binding, ChatRules, Confirm, Input, Profile, Show, Tools};

mod answer;

use answer::{done, failure, found, task_object, updated};

/// The name in paths and requests.
pub const NAME: &str = "assistant";

/// The profile.
pub fn profile() -> Profile {
    let tools = vec![add_task(), list_tasks(), update_task(), delete_task(), complete_task(), find_task()];
    Profile {
        name: NAME.into(),
        description: "Six task tools for an assistant that asks before it changes, with search by name."
            .into(),
        requires_approval: false,
        show: Show::List,
        chat: ChatRules {
            confirm: Confirm::Changes,
            find_first: true,
            notes: "\"urgent\" and \"ASAP\" mean high priority; \"someday\" and \"later\" mean low. Dates are RFC 3339 \
                    with an offset. Before you delete a task by its id, show it with list_tasks; when a task is named \
                    in words, use find_task, never list_tasks.",
        },
        tools: Tools::Listed(tools),
    }
}

fn add_task() -> Binding {
    Binding {
        name: "add_task".into(),
        canonical: "create-task".into(),
        description: "Create a new task for the user. Use after collecting title, priority (optional), \
            due_date (optional), and description (optional)."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "title": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 200,
                    "description": "Task title (required)"
                },
                "priority": {
                    "type": "string",
                    "enum": ["high", "medium", "low"],
                    "default": "medium",
                    "description": "Task priority level"
                },
                "due_date": {
                    "type": "string",
                    "format": "date-time",
                    "description": "ISO 8601 datetime string (optional)"
                },
                "description": {
                    "type": "string",
                    "maxLength": 1000,
                    "description": "Additional task details (optional)"
                }
            },
            "required": ["title"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &["title", "description"],
        input: |params, _| {
            let mut task = carry(params, FIELDS);
            task.entry("priority").or_insert_with(|| "medium".into());
            if let Some(due) = due_of(params)? {
                task.insert("due".into(), due);
            }
            Ok(Input::of(task))
        },
        output: |call| match call.result.error() {
            Some(error) => failure(call, error, NOT_FOUND),
            None => done(call, || {
                json!({
                    "success": true,
                    "task": Task::of(call).map(|task| task_object(call, task)),
                    "message": "Task created successfully"
                })
            }),
        },
    }
}

fn list_tasks() -> Binding {
    Binding {
        name: "list_tasks".into(),
        canonical: "list-tasks".into(),
        description: "Retrieve user's tasks. Use when user asks to 'show my tasks' or when you need to \
            display a specific task before deletion/update."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "status": {
                    "type": "string",
                    "enum": ["all", "pending", "completed"],
                    "default": "all",
                    "description": "Filter tasks by completion status"
                },
                "task_id": { "type": "integer", "description": "Get specific task by ID (optional)" }
            },
            "required": [],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &[],
        input: |params, _| {
            if params.get("task_id").is_some() {
                let one = Input::of(json!({ "taskId": task_id(params)? }));
                return Ok(Input { tool: Some("get-task"), ..one });
            }
            Ok(Input::of(json!({ "status": wanted_status(params), "whole": true })))
        },
        output: |call| {
            if let Some(error) = call.result.error() {
                return failure(call, error, NOT_FOUND);
            }
            let fits = |task: &Task<'_>| {
                let wanted = wanted_status(call.params);
                wanted == "all" || task.get("status") == wanted
            };
            let one = Task::of(call).filter(fits);
            let tasks: Vec<Value> =
                one.into_iter().chain(Task::list(call)).map(|task| task_object(call, task)).collect();
            let count = tasks.len();
            json!({ "success": true, "tasks": tasks, "count": count })
        },
    }
}

fn update_task() -> Binding {
    Binding {
        name: "update_task".into(),
        canonical: "update-task".into(),
        description: "Update one or more fields of an existing task. Use after getting confirmation from \
            user."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "task_id": { "type": "integer", "description": "ID of task to update (required)" },
                "title": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 200,
                    "description": "New task title (optional)"
                },
                "priority": {
                    "type": "string",
                    "enum": ["high", "medium", "low"],
                    "description": "New priority level (optional)"
                },
                "due_date": {
                    "type": ["string", "null"],
                    "format": "date-time",
                    "description": "New due date or null to remove (optional)"
                },
                "description": {
                    "type": ["string", "null"],
                    "maxLength": 1000,
                    "description": "New description or null to remove (optional)"
                },
                "completed": { "type": "boolean", "description": "Mark task as complete/incomplete \
                    (optional)" }
            },
            "required": ["task_id"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &["title", "description"],
        input: |params, _| {
            let mut change = carry(params, FIELDS);
            change.insert("taskId".into(), task_id(params)?.into());
            if let Some(due) = due_of(params)? {
                change.insert("due".into(), due);
            }
            if let Some(completed) = params.get("completed").and_then(Value::as_bool) {
                change.insert("status".into(), status(completed));
            }
            Ok(Input::of(change))
        },
        output: |call| match call.result.error() {
            Some(error) if error.code != ErrorCode::NoChanges => failure(call, error, NOT_YOURS),
            _ => done(call, || updated(call)),
        },
    }
}

fn delete_task() -> Binding {
    Binding {
        name: "delete_task".into(),
        canonical: "delete-task".into(),
        description: "Permanently delete a task. ALWAYS ask for confirmation before calling this \
            tool."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "task_id": { "type": "integer", "description": "ID of task to delete (required)" }
            },
            "required": ["task_id"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &[],
        input: |params, _| Ok(Input::of(json!({ "taskId": task_id(params)? }))),
        output: |call| match call.result.error() {
            Some(error) => failure(call, error, NOT_YOURS),
            None => done(call, || {
                json!({
                    "success": true,
                    "message": "Task deleted successfully",
                    "deleted_task_id": call.result.data().and_then(|data| data.get("taskId"))
                })
            }),
        },
    }
}

fn complete_task() -> Binding {
    Binding {
        name: "complete_task".into(),
        canonical: "complete-task".into(),
        description: "Mark a task as complete or incomplete. Use when user says 'mark done', 'complete', \
            'finished', etc."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "task_id": {
                    "type": "integer",
                    "description": "ID of task to mark complete/incomplete (required)"
                },
                "completed": {
                    "type": "boolean",
                    "default": true,
                    "description": "true to mark complete, false to mark incomplete"
                }
            },
            "required": ["task_id"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &[],
        input: |params, _| {
            let completed = params.get("completed").and_then(Value::as_bool).unwrap_or(true);
            Ok(Input::of(json!({ "taskId": task_id(params)?, "completed": completed })))
        },
        output: |call| match (call.result.error(), Task::of(call)) {
            (Some(error), _) => failure(call, error, NOT_YOURS),
            (None, task) => done(call, || {
                let completed = task.is_some_and(Task::is_completed);
                json!({
                    "success": true,
                    "task": {
                        "id": task.map(Task::id),
                        "title": task.map(Task::title),
                        "completed": completed,
                        "updated_at": task.map(Task::updated_at)
                    },
                    "message": if completed { "Task marked as complete" } else { "Task marked as incomplete" }
                })
            }),
        },
    }
}

fn find_task() -> Binding {
    Binding {
        name: "find_task".into(),
        canonical: "find-tasks".into(),
        description: "Search for tasks by partial title or keywords using fuzzy matching. Use when user \
            mentions a task by name instead of ID (e.g., 'the milk task', 'update shopping')."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "minLength": 1,
                    "description": "Search query (partial title, keywords, etc.)"
                },
                "threshold": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": 1,
                    "default": 0.6,
                    "description": "Minimum similarity score (0-1) to return match"
                }
            },
            "required": ["query"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &["query"],
        input: |params, _| {
            let mut search = carry(params, &[("query", "query"), ("threshold", "threshold")]);
            search.entry("threshold").or_insert_with(|| 0.6.into());
            search.insert("whole".into(), true.into());
            Ok(Input::of(search))
        },
        output: |call| match call.result.error() {
            Some(error) => failure(call, error, NOT_FOUND),
            None => found(call),
        },
    }
}

const NOT_FOUND: &str = "Task not found";
const NOT_YOURS: &str = "Task not found or you don't have permission";

const FIELDS: &[(&str, &str)] =
    &[("title", "title"), ("priority", "priority"), ("description", "description")];

fn wanted_status(params: &Value) -> &str {
    params.get("status").and_then(Value::as_str).unwrap_or("all")
}

/// The due date of the parameters as canonical tools take it: an instant in UTC, or `null` to clear it.
fn due_of(params: &Value) -> Result<Option<Value>, ToolError> {
    let Some(given) = params.get("due_date") else { return Ok(None) };
    let Some(text) = given.as_str() else { return Ok(Some(Value::Null)) };
    let instant = due::instant(text);
    let instant = instant.ok_or_else(|| ToolError::invalid("/due_date", "must be a valid date-time"))?;
    Ok(Some(instant.to_string().into()))
}
