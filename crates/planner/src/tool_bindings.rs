//! The tools of a profile, as the planner needs them: which tool serves what, and how its parameters are named.

use serde_json::{Map, Value, json};
use toolroom_when::Due;

use super::read::Here;
use super::wish::Priority;
use toolroom_model::{Prompt, ToolSpec};

/// The tools that a person may use, by what they are for.
#[derive(Clone, Copy)]
pub(crate) struct ToolBindings<'a> {
    pub tools: &'a [ToolSpec],
    pub profile: &'a str,
    /// Whether the person is asked about every change anyway.
    pub confirms_changes: bool,
    /// Whether the person is asked about deletions, and about several changes at once, anyway.
    pub confirms_deletes: bool,
}

/// A call that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub name: String,
    pub arguments: Value,
}

impl<'a> ToolBindings<'a> {
    pub(crate) fn of(prompt: &'a Prompt) -> Self {
        let Prompt { tools, profile, confirms_changes, confirms_deletes, .. } = prompt;
        let (confirms_changes, confirms_deletes) = (*confirms_changes, *confirms_deletes);
        Self { tools, profile, confirms_changes, confirms_deletes }
    }

    /// The tool behind which a canonical one is.
    pub(crate) fn tool(&self, canonical: &str) -> Option<&'a ToolSpec> {
        self.tools.iter().find(|tool| tool.canonical == canonical)
    }

    pub(crate) fn keeps_tasks(&self) -> bool {
        self.tool("create-task").is_some() || self.tool("list-tasks").is_some()
    }

    /// A call with the parameters that the tool knows; what it does not know is left out.
    pub(crate) fn call(&self, canonical: &str, arguments: Map<String, Value>) -> Option<Call> {
        let tool = self.tool(canonical)?;
        let known = arguments.into_iter().filter(|(name, _)| has(tool, name)).collect();
        Some(Call { name: tool.name.clone(), arguments: Value::Object(known) })
    }

    /// A call about one task.
    pub(crate) fn about(&self, canonical: &str, id: i64, mut arguments: Map<String, Value>) -> Option<Call> {
        let tool = self.tool(canonical)?;
        let (name, value) = id_field(tool, id);
        let mut all = Map::new();
        all.insert(name.to_owned(), value);
        all.append(&mut arguments);
        self.call(canonical, all)
    }

    /// Reads one task: by the tool for that, or by the list if it can.
    pub(crate) fn read_one(&self, id: i64) -> Option<Call> {
        if self.tool("get-task").is_some() {
            return self.about("get-task", id, Map::new());
        }
        let list = self.tool("list-tasks").filter(|tool| has(tool, "task_id"))?;
        Some(Call { name: list.name.clone(), arguments: json!({ "task_id": id }) })
    }

    /// Marks a task as done, or as open.
    pub(crate) fn complete(&self, id: i64, done: bool) -> Option<Call> {
        if let Some(tool) = self.tool("complete-task") {
            let mut more = Map::new();
            if !done {
                if !has(tool, "completed") {
                    return self.update(id, status(self, done));
                }
                more.insert("completed".into(), false.into());
            }
            return self.about("complete-task", id, more);
        }
        self.update(id, status(self, done))
    }

    pub(crate) fn update(&self, id: i64, fields: Map<String, Value>) -> Option<Call> {
        self.about("update-task", id, fields)
    }

    /// Whether the tool takes a field.
    pub(crate) fn takes(&self, canonical: &str, field: &str) -> bool {
        self.tool(canonical).is_some_and(|tool| has(tool, field))
    }

    /// Whether due dates can be said.
    pub(crate) fn takes_dates(&self, canonical: &str) -> bool {
        self.takes(canonical, "due") || self.takes(canonical, "due_date")
    }

    /// A due date as the tool takes it.
    pub(crate) fn due(&self, canonical: &str, due: &Due, here: &Here<'_>) -> Option<(String, Value)> {
        if self.takes(canonical, "due") {
            return Some(("due".into(), due.to_string().into()));
        }
        let field = self.tool(canonical)?.parameters.get("properties")?.get("due_date")?;
        let text = match field.get("format").and_then(Value::as_str) {
            Some("date-time") => due.instant_in(here.zone).to_string(),
            _ => due.date_in(here.zone).to_string(),
        };
        Some(("due_date".into(), text.into()))
    }

    /// What clears a due date.
    pub(crate) fn no_due(&self, canonical: &str) -> Option<(String, Value)> {
        let name = if self.takes(canonical, "due") { "due" } else { "due_date" };
        let field = self.tool(canonical)?.parameters.get("properties")?.get(name)?;
        // Some profiles cannot say "none".
        field.to_string().contains("null").then(|| (name.to_owned(), Value::Null))
    }

    /// A priority, spelled as the tool does.
    pub(crate) fn priority(&self, canonical: &str, priority: Priority) -> Option<Value> {
        let field = self.tool(canonical)?.parameters.get("properties")?.get("priority")?;
        let spelled = field.get("enum").and_then(Value::as_array).and_then(|names| {
            names.iter().filter_map(Value::as_str).find(|name| name.eq_ignore_ascii_case(priority.as_str()))
        });
        Some(spelled.unwrap_or(priority.as_str()).into())
    }
}

/// The fields that say whether a task is done.
fn status(bindings: &ToolBindings<'_>, done: bool) -> Map<String, Value> {
    let mut fields = Map::new();
    if bindings.takes("update-task", "status") {
        fields.insert("status".into(), if done { "completed" } else { "pending" }.into());
    } else {
        fields.insert("completed".into(), done.into());
    }
    fields
}

pub(crate) fn has(tool: &ToolSpec, field: &str) -> bool {
    tool.parameters.get("properties").is_some_and(|fields| fields.get(field).is_some())
}

fn id_field(tool: &ToolSpec, id: i64) -> (&'static str, Value) {
    let name = if has(tool, "taskId") { "taskId" } else { "task_id" };
    let kind = tool.parameters.get("properties").and_then(|fields| fields.get(name)?.get("type")?.as_str());
    (name, if kind == Some("string") { id.to_string().into() } else { id.into() })
}
