//! What a change is shown as: rendered from the tool's result, never from a model's words.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_contract::{ErrorCode, ToolResult};

use crate::guard::Kind;

/// The proof of a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// One line for each thing that was changed.
    pub text: String,
    /// What kind of change.
    pub kind: Kind,
    /// The tasks that it touched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub task_ids: Vec<i64>,
}

/// The receipt of a call that may change something; `None` if it failed.
pub fn receipt(name: &str, canonical: &str, result: &ToolResult) -> Option<Receipt> {
    let kind = Kind::of_tool(canonical);
    if let Some(error) = result.error() {
        let task = error.data.as_ref().and_then(|data| data.get("task"));
        return match (error.code, task) {
            (ErrorCode::NoChanges, Some(task)) => {
                Some(one(kind, task, format!("{} is so already.", capital(&named(task)))))
            }
            _ => None,
        };
    }
    let data = result.data()?;
    let task = &data["task"];
    Some(match canonical {
        "create-task" => one(kind, task, format!("Added {}{}.", named(task), details(task, data))),
        "update-task" => one(kind, task, changed(task, data)),
        "complete-task" => one(kind, task, completed(task, data)),
        "restore-task" => one(kind, task, format!("Restored {}.", named(task))),
        "delete-task" => one(kind, data, format!("Deleted {}.", named(data))),
        "batch-tasks" => batch(data),
        _ => Receipt { text: format!("Called {name}."), kind, task_ids: Vec::new() },
    })
}

fn one(kind: Kind, task: &Value, text: String) -> Receipt {
    Receipt { text, kind, task_ids: task["taskId"].as_i64().into_iter().collect() }
}

fn named(task: &Value) -> String {
    format!("task {} {}", task["taskId"], quoted(task["title"].as_str().unwrap_or_default()))
}

/// What a new task has in addition to its title.
fn details(task: &Value, data: &Value) -> String {
    let mut text = String::new();
    if let Some(due) = due(task, data) {
        text += &format!(", due {due}");
    }
    if let Some(priority @ ("high" | "low")) = task["priority"].as_str() {
        text += &format!(", {priority} priority");
    }
    text
}

/// The due date as it was understood.
fn due(task: &Value, data: &Value) -> Option<String> {
    let due = task["due"].as_str()?;
    Some(data["dueEcho"].as_str().unwrap_or(due).to_owned())
}

fn changed(task: &Value, data: &Value) -> String {
    let fields: Vec<&str> =
        data["changed"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if fields.is_empty() {
        return format!("{} is so already; nothing was changed.", capital(&named(task)));
    }
    let each: Vec<String> = fields.iter().map(|field| field_now(field, task, data)).collect();
    format!("Changed {}: {}.", named(task), each.join(", "))
}

fn field_now(field: &str, task: &Value, data: &Value) -> String {
    match (field, &task[field]) {
        ("due", Value::Null) => "no due date".to_owned(),
        ("due", _) => format!("due {}", due(task, data).unwrap_or_default()),
        ("title", _) => "new title".to_owned(),
        ("description", Value::Null) => "no description".to_owned(),
        ("description", _) => "new description".to_owned(),
        ("tags", Value::Array(tags)) => {
            let tags: Vec<&str> = tags.iter().filter_map(Value::as_str).collect();
            format!("tags {}", if tags.is_empty() { "none".to_owned() } else { line(&tags.join(", ")) })
        }
        (field, Value::String(now)) => format!("{field} {}", line(now)),
        (field, now) => format!("{field} {now}"),
    }
}

fn completed(task: &Value, data: &Value) -> String {
    let open = task["status"] != "completed";
    let state = if open { "open" } else { "complete" };
    if data["changed"].as_array().is_some_and(Vec::is_empty) {
        return format!("{} is {state} already.", capital(&named(task)));
    }
    format!("Marked {} as {state}{}.", named(task), if open { " again" } else { "" })
}

fn batch(data: &Value) -> Receipt {
    let results = data["results"].as_array().map_or(&[][..], Vec::as_slice);
    let mut lines = Vec::new();
    let mut task_ids = Vec::new();
    for item in results {
        let task = &item["task"];
        if item["ok"] != true {
            let why = item["error"]["message"].as_str().unwrap_or("it failed");
            lines.push(format!("Not done: {}", line(why)));
            continue;
        }
        task_ids.extend(task["taskId"].as_i64());
        lines.push(match item.get("changed") {
            None | Some(Value::Null) => format!("Added or restored {}{}.", named(task), details(task, item)),
            Some(_) => changed(task, item),
        });
    }
    let kind = if task_ids.is_empty() { Kind::Update } else { Kind::Any };
    Receipt { text: lines.join("\n"), kind, task_ids }
}

/// Somebody's words in quotes, on one line and not too long.
pub fn quoted(text: &str) -> String {
    format!("“{}”", line(text).replace(['“', '”', '"'], "'"))
}

/// Somebody's words on one line and not too long.
pub fn line(text: &str) -> String {
    const MOST: usize = 120;
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let text = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
