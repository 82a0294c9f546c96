//! What a person is asked: rendered from the call and from what the tools say of its targets.

use jiff::Timestamp;
use serde_json::{Map, Value};
use toolroom_contract::ids::PendingId;

use super::{PendingConfirmation, targets};
use crate::receipt::{line, quoted};
use crate::run::Planned;

/// A task by its id and, where it is known, its title.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The id.
    pub id: i64,
    /// The title.
    pub title: Option<String>,
}

/// One call in words, without a question mark: "delete task 5 “Buy milk”".
pub fn ask(planned: &Planned, named: &[Named]) -> String {
    let (canonical, params) = (planned.canonical.as_str(), inner(planned));
    let task = || targets(params).first().map_or_else(|| "the task".to_owned(), |id| task(*id, named));
    match canonical {
        "delete-task" => format!("delete {}", task()),
        "complete-task" if params.get("completed") == Some(&Value::Bool(false)) => {
            format!("mark {} as open again", task())
        }
        "complete-task" => format!("mark {} as complete", task()),
        "restore-task" => format!("restore {}", task()),
        "update-task" => format!("change {}{}", task(), fields(params, " to ", ": ")),
        "create-task" => {
            let title = params.get("title").and_then(Value::as_str).unwrap_or_default();
            let rest: Map<String, Value> = params.as_object().cloned().unwrap_or_default();
            let rest = rest.into_iter().filter(|(name, _)| name != "title").collect();
            format!("add the task {}{}", quoted(title), fields(&Value::Object(rest), " ", ", "))
        }
        "batch-tasks" => batch(params, named),
        _ => format!("call {} with {}", planned.name, line(&planned.params.to_string())),
    }
}

/// The whole question.
pub fn question(each: &[String]) -> String {
    match each {
        [one] => format!("Shall I {one}? Please answer yes or no."),
        many => {
            let lines: Vec<String> = many.iter().map(|one| format!("- {one}")).collect();
            format!(
                "Shall I make these {} changes?\n{}\nPlease answer yes or no.",
                many.len(),
                lines.join("\n")
            )
        }
    }
}

impl PendingConfirmation {
    /// As the answer shows it.
    pub fn of(
        id: PendingId,
        expires_at: Timestamp,
        calls: &[&Planned],
        named: &[Named],
        message: String,
    ) -> Self {
        let action = match calls {
            [first, rest @ ..] if rest.iter().all(|one| one.name == first.name) => first.name.clone(),
            _ => "several".to_owned(),
        };
        let mut ids: Vec<i64> = calls.iter().flat_map(|planned| targets(inner(planned))).collect();
        ids.dedup();
        let title = |id: &i64| named.iter().find(|one| one.id == *id).and_then(|one| one.title.clone());
        let new = calls.first().and_then(|planned| inner(planned).get("title")).cloned();
        let (task_id, task_title) = match ids.as_slice() {
            [] => (Value::Null, new.unwrap_or_default()),
            [id] => (Value::from(*id), title(id).map_or(Value::Null, Value::from)),
            many => (Value::from(many), many.iter().map(title).collect()),
        };
        Self { id, action, task_id, task_title, expires_at, message }
    }
}

/// The parameters of the tool that runs in the end.
fn inner(planned: &Planned) -> &Value {
    match planned.params.get("params") {
        Some(params) if planned.params.get("name").is_some() && params.is_object() => params,
        _ => &planned.params,
    }
}

fn task(id: i64, named: &[Named]) -> String {
    match named.iter().find(|one| one.id == id).and_then(|one| one.title.as_deref()) {
        Some(title) => format!("task {id} {}", quoted(title)),
        None => format!("task {id}"),
    }
}

/// The fields that a call names, without the task itself.
fn fields(params: &Value, is: &str, before: &str) -> String {
    let skipped = ["task_id", "taskId", "expectedVersion", "user_id", "op"];
    let each: Vec<String> = params
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !skipped.contains(&name.as_str()))
        .map(|(name, value)| {
            let shown = match value {
                Value::String(text) => quoted(text),
                Value::Null => "nothing".to_owned(),
                other => line(&other.to_string()),
            };
            format!("{}{is}{shown}", name.replace('_', " "))
        })
        .collect();
    if each.is_empty() { String::new() } else { format!("{before}{}", each.join(", ")) }
}

fn batch(params: &Value, named: &[Named]) -> String {
    let operations = params.get("operations").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let each: Vec<String> = operations
        .iter()
        .map(|operation| {
            let op = operation.get("op").and_then(Value::as_str).unwrap_or("change");
            match targets(operation).first() {
                Some(id) => format!("{op} {}{}", task(*id, named), fields(operation, " ", ": ")),
                None => format!("{op} a task{}", fields(operation, " ", ": ")),
            }
        })
        .collect();
    format!("make {} changes ({})", operations.len(), each.join("; "))
}
