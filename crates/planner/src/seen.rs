//! What tools answered: tasks and failures, out of whatever shape the profile publishes. Only data, never a wish.

use serde_json::Value;

/// A task, as far as a result shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Task {
    pub id: i64,
    pub title: String,
    pub done: Option<bool>,
    pub priority: Option<String>,
    /// As it is written on the wire: a date or an instant.
    pub due: Option<String>,
    pub description: Option<String>,
    pub tags: Vec<String>,
}

/// The tasks of a result.
pub(crate) fn tasks(result: &Value) -> Vec<Task> {
    let result = result.get("data").filter(|data| data.is_object()).unwrap_or(result);
    let listed = |key: &str| result.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let many: Vec<Task> = listed("tasks")
        .iter()
        .chain(listed("matches"))
        .filter_map(|one| task(one.get("task").unwrap_or(one)))
        .collect();
    if !many.is_empty() {
        return many;
    }
    let one = result.get("task").unwrap_or(result);
    task(one).into_iter().collect()
}

/// How many tasks there are in all, if the result is a part of them.
pub(crate) fn total(result: &Value) -> Option<usize> {
    let total = result.get("total").or_else(|| result.get("count"))?;
    usize::try_from(total.as_u64()?).ok()
}

/// Whether a search found several tasks of which one must be chosen.
pub(crate) fn is_multiple(result: &Value) -> bool {
    let kind = result.get("matchType").or_else(|| result.get("match_type"));
    kind.and_then(Value::as_str) == Some("multiple")
}

fn task(value: &Value) -> Option<Task> {
    let id = ["taskId", "id", "task_id", "deleted_task_id"]
        .iter()
        .find_map(|key| value.get(*key).and_then(number))?;
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let done = value.get("completed").and_then(Value::as_bool);
    let done = done.or_else(|| Some(value.get("status")?.as_str()? == "completed"));
    let tags = value.get("tags").and_then(Value::as_array).into_iter().flatten();
    Some(Task {
        id,
        title: text("title").unwrap_or_default(),
        done,
        priority: text("priority").map(|priority| priority.to_lowercase()),
        due: text("due").or_else(|| text("due_date")),
        description: text("description").filter(|text| !text.is_empty()),
        tags: tags.filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// Why a call failed, in the tool's words; `None` if it did not.
pub(crate) fn failure(result: &Value, failed: bool) -> Option<String> {
    let refused = result.get("success").and_then(Value::as_bool) == Some(false)
        || result.get("status").and_then(Value::as_str) == Some("error");
    if !failed && !refused {
        return None;
    }
    let error = result.get("error");
    let said = error
        .and_then(|error| error.as_str().or_else(|| error.get("message").and_then(Value::as_str)))
        .or_else(|| result.get("message").and_then(Value::as_str));
    Some(said.unwrap_or("it failed").to_owned())
}

/// Whether the failure is that there is no such task.
pub(crate) fn is_not_found(result: &Value) -> bool {
    let code = result.get("code").or_else(|| result.get("error").and_then(|error| error.get("code")));
    code.and_then(Value::as_str).is_some_and(|code| code.eq_ignore_ascii_case("not_found"))
        || result
            .get("message")
            .and_then(Value::as_str)
            .is_some_and(|text| text.starts_with("Task not found"))
}

/// Whether the person was asked for a yes, or a question was put to them, and the call waits for that.
pub(crate) fn is_asked(result: &Value) -> bool {
    let asked = |key: &str| result.get(key).and_then(Value::as_str).is_some();
    asked("confirmation") || result.get("question").and_then(Value::as_str) == Some("asked")
}
