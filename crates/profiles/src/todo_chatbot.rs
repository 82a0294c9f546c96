//! The profile `todo-chatbot`: five task tools that answer `{success, message, …}`.

use serde_json::{Value, json};
use toolroom_contract::error::ErrorBody;
use toolroom_contract::{ErrorCode, ToolError};

use crate::canonical::{Task, carry, task_id, whole_number};
use crate::dry_run;
use crate::profile::{Binding, Caller, ChatRules, Input, Profile, Published, Show, Tools};
use crate::refusal::Refusal;

/// The name in paths and requests.
pub const NAME: &str = "todo-chatbot";

/// The profile.
pub fn profile() -> Profile {
    Profile {
        name: NAME.into(),
        description: "Five task tools for a todo chatbot that asks before it deletes.".into(),
        requires_approval: false,
        show: Show::List,
        chat: ChatRules {
            notes: "These tools know no dates: a date in words stays in the title or the description.",
            ..ChatRules::default()
        },
        tools: Tools::Listed(vec![create_task(), list_tasks(), get_task(), update_task(), delete_task()]),
    }
}

fn create_task() -> Binding {
    Binding {
        name: "create_task".into(),
        canonical: "create-task".into(),
        description: "Create a new todo task for the user. Use this when the user wants to add a task, \
            create a reminder, or add something to their todo list."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "title": {
                    "type": "string",
                    "description": "Task title (required, 1-200 characters). Should be concise and \
                        descriptive.",
                    "minLength": 1,
                    "maxLength": 200
                },
                "description": {
                    "type": "string",
                    "description": "Optional task description with additional details (max 2000 characters)",
                    "maxLength": 2000
                },
                "status": {
                    "type": "string",
                    "enum": ["pending", "completed"],
                    "description": "Task status. Default is 'pending'. Use 'completed' only if user \
                        explicitly says the task is already done."
                }
            },
            "required": ["title"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &["title", "description"],
        input: |params, _| {
            let mut task = carry(params, FIELDS);
            task.entry("status").or_insert_with(|| "pending".into());
            Ok(Input::of(task))
        },
        output: |call| {
            written(call, "create task", || {
                let task = Task::of(call);
                json!({
                    "task_id": task.map(Task::id),
                    "success": true,
                    "message": format!("Created task: {}", task.map(Task::title).unwrap_or_default())
                })
            })
        },
    }
}

fn list_tasks() -> Binding {
    Binding {
        name: "list_tasks".into(),
        canonical: "list-tasks".into(),
        description: "List all tasks or filter by status. Use this when the user wants to see their tasks, \
            check what's pending, or review completed items."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "status": {
                    "type": "string",
                    "enum": ["all", "pending", "completed"],
                    "description": "Filter tasks by status. 'all' returns all tasks, 'pending' returns only \
                        incomplete tasks, 'completed' returns only finished tasks. Default is 'all'."
                }
            },
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &[],
        input: |params, _| {
            let status = params.get("status").and_then(Value::as_str).unwrap_or("all");
            Ok(Input::of(json!({ "status": status, "whole": true })))
        },
        output: |call| {
            if let Some(error) = call.result.error() {
                return failure(call, error, "retrieve tasks");
            }
            let tasks: Vec<Value> = Task::list(call).map(task_object).collect();
            let count = tasks.len();
            json!({ "tasks": tasks, "count": count, "success": true })
        },
    }
}

fn get_task() -> Binding {
    Binding {
        name: "get_task".into(),
        canonical: "get-task".into(),
        description: "Get details of a specific task by ID. Use this when you need to retrieve information \
            about a particular task."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "task_id": {
                    "type": "integer",
                    "description": "The unique ID of the task to retrieve"
                }
            },
            "required": ["task_id"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &[],
        input: by_id,
        output: |call| match call.result.error() {
            Some(error) => failure(call, error, "retrieve task"),
            None => json!({ "task": Task::of(call).map(task_object), "success": true }),
        },
    }
}

fn update_task() -> Binding {
    Binding {
        name: "update_task".into(),
        canonical: "update-task".into(),
        description: "Update task details or mark as complete/incomplete. Use this when the user wants to \
            change task information or mark a task as done."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "task_id": {
                    "type": "integer",
                    "description": "The unique ID of the task to update"
                },
                "title": {
                    "type": "string",
                    "description": "New task title (1-200 characters)",
                    "minLength": 1,
                    "maxLength": 200
                },
                "description": {
                    "type": "string",
                    "description": "New task description (max 2000 characters)",
                    "maxLength": 2000
                },
                "status": {
                    "type": "string",
                    "enum": ["pending", "completed"],
                    "description": "New task status. Use 'completed' to mark as done, 'pending' to mark as \
                        incomplete."
                }
            },
            "required": ["task_id"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &["title", "description"],
        input: |params, _| {
            let mut change = carry(params, FIELDS);
            change.insert("taskId".into(), task_id(params)?.into());
            Ok(Input::of(change))
        },
        output: |call| {
            let updated = || {
                json!({
                    "task": Task::of(call).map(task_object),
                    "success": true,
                    "message": "Updated task successfully"
                })
            };
            match call.result.error() {
                Some(error) if error.code == ErrorCode::NoChanges => updated(),
                _ => written(call, "update task", updated),
            }
        },
    }
}

fn delete_task() -> Binding {
    Binding {
        name: "delete_task".into(),
        canonical: "delete-task".into(),
        description: "Delete a task permanently. IMPORTANT: Always ask for user confirmation before calling \
            this tool, as deletion cannot be undone."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "task_id": {
                    "type": "integer",
                    "description": "The unique ID of the task to delete"
                }
            },
            "required": ["task_id"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &[],
        input: by_id,
        output: |call| {
            written(call, "delete task", || {
                let title = call.result.data().map(Task).map(Task::title).unwrap_or_default();
                json!({ "success": true, "message": format!("Deleted task: {title}") })
            })
        },
    }
}

const FIELDS: &[(&str, &str)] = &[("title", "title"), ("description", "description"), ("status", "status")];

fn by_id(params: &Value, _: &Caller<'_>) -> Result<Input, ToolError> {
    Ok(Input::of(json!({ "taskId": task_id(params)? })))
}

/// A task as the profile shows it. It has no word for a due date, so that none is shown.
fn task_object(task: Task<'_>) -> Value {
    json!({
        "id": task.id(),
        "title": task.title(),
        "description": task.get("description"),
        "completed": task.is_completed(),
        "created_at": task.created_at(),
        "updated_at": task.updated_at()
    })
}

/// The answer of a tool that writes.
fn written(call: &Published<'_>, attempt: &str, success: impl FnOnce() -> Value) -> Value {
    match (call.result.error(), dry_run::said(call)) {
        (Some(error), _) => failure(call, error, attempt),
        (None, Some(said)) => json!({ "success": false, "message": format!("Failed to {attempt}: {said}") }),
        (None, None) => success(),
    }
}

/// A number as people write it: `1e21`, not `1e+21`.
fn as_sent(id: &Value) -> String {
    match (whole_number(id), id.as_f64().filter(|_| id.is_f64())) {
        (Some(id), _) => id.to_string(),
        (None, Some(id)) => format!("{id:e}"),
        (None, None) => id.to_string(),
    }
}

fn failure(call: &Published<'_>, error: &ErrorBody, attempt: &str) -> Value {
    let message = match (error.code, call.params.get("task_id")) {
        (ErrorCode::NotFound, Some(id)) => {
            let id = as_sent(id);
            format!("Task not found with ID: {id}")
        }
        _ => format!("Failed to {attempt}: {}", reason(call, error)),
    };
    json!({ "success": false, "message": message })
}

fn reason(call: &Published<'_>, error: &ErrorBody) -> String {
    match (Refusal::of(error, call.params), error.code) {
        (Some(refusal), _) if refusal.field == "status" => {
            format!("Invalid status value: {}", refusal.predicate())
        }
        (Some(refusal), _) => refusal.sentence(&refusal.label()),
        (None, ErrorCode::ServiceUnavailable) => "Database connection error".into(),
        (None, ErrorCode::Internal) => "Unexpected error".into(),
        (None, _) => error.message.clone(),
    }
}
