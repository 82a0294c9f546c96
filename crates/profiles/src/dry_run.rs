//! A dry run in the words of a profile that has none for it: a failure that says what would have been done.

use serde_json::Value;

use crate::profile::Published;

/// What would have been done; `None` if the call was not a dry run.
pub(crate) fn said(call: &Published<'_>) -> Option<String> {
    if !call.result.metadata.dry_run {
        return None;
    }
    let data = call.result.data()?;
    let params = data.get("params").unwrap_or(&Value::Null);
    let id = params.get("taskId").map(Value::to_string).unwrap_or_default();
    let would = match data.get("tool").and_then(Value::as_str) {
        Some("create-task") => {
            let title = params.get("title").and_then(Value::as_str).unwrap_or_default();
            format!("Task \"{title}\" would have been created")
        }
        Some("delete-task") => format!("Task {id} would have been deleted"),
        Some("complete-task") if params.get("completed") == Some(&Value::Bool(false)) => {
            format!("Task {id} would have been marked as incomplete")
        }
        Some("complete-task") => format!("Task {id} would have been marked as complete"),
        _ => format!("Task {id} would have been updated ({})", fields(params)),
    };
    Some(format!("This was a dry run: nothing was changed. {would}."))
}

fn fields(params: &Value) -> String {
    let names: Vec<&str> = params
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .filter(|name| !matches!(*name, "taskId" | "expectedVersion"))
        .collect();
    if names.is_empty() { "with no changes".to_owned() } else { names.join(", ") }
}
