//! A task as the tools show it.

use std::borrow::Cow;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolroom_contract::ToolError;
use toolroom_store::tasks as stored;

/// A task, with all its fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Task {
    /// The number that names the task.
    pub task_id: i64,
    /// What is to be done.
    pub title: String,
    /// Details.
    pub description: Option<String>,
    /// How important it is.
    pub priority: Priority,
    /// A civil date (2026-11-20) or an instant in UTC (2026-11-20T15:00:00Z).
    pub due: Option<String>,
    /// Whether it is done.
    pub status: Status,
    /// Labels.
    pub tags: Vec<String>,
    /// 1 at first, one more with every change.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was completed.
    pub completed_at: Option<Timestamp>,
}

impl From<stored::Task> for Task {
    fn from(task: stored::Task) -> Self {
        Self {
            task_id: task.id.0,
            title: task.title,
            description: task.description,
            priority: task.priority.into(),
            due: task.due.map(due_text),
            status: if task.completed { Status::Completed } else { Status::Pending },
            tags: task.tags,
            version: task.version,
            created_at: task.created_at,
            updated_at: task.updated_at,
            completed_at: task.completed_at,
        }
    }
}

/// A due date as it is written on the wire.
pub(super) fn due_text(due: stored::Due) -> String {
    match due {
        stored::Due::Date(date) => date.to_string(),
        stored::Due::Instant(at) => at.to_string(),
    }
}

/// How important a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Priority {
    Low,
    Medium,
    High,
}

impl From<stored::Priority> for Priority {
    fn from(priority: stored::Priority) -> Self {
        match priority {
            stored::Priority::Low => Self::Low,
            stored::Priority::Medium => Self::Medium,
            stored::Priority::High => Self::High,
        }
    }
}

impl From<Priority> for stored::Priority {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::Low => Self::Low,
            Priority::Medium => Self::Medium,
            Priority::High => Self::High,
        }
    }
}

/// Whether a task is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Pending,
    Completed,
}

/// Which tasks are meant, by whether they are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum StatusFilter {
    #[default]
    All,
    Pending,
    Completed,
}

impl StatusFilter {
    /// `None` lets every task through.
    pub(super) fn completed(self) -> Option<bool> {
        match self {
            Self::All => None,
            Self::Pending => Some(false),
            Self::Completed => Some(true),
        }
    }
}

/// A field that a caller can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum FieldName {
    TaskId,
    Title,
    Description,
    Priority,
    Due,
    Status,
    Tags,
    Version,
    CreatedAt,
    UpdatedAt,
    CompletedAt,
}

/// The name of a changed field: to callers, completion is a status.
pub(super) fn changed_name(field: stored::Field) -> String {
    match field {
        stored::Field::Completed => "status".to_owned(),
        other => other.as_str().to_owned(),
    }
}

/// A task, or the fields of it that were asked for. The id is always among them.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct PickedTask(Map<String, Value>);

impl PickedTask {
    /// All fields, or those named.
    pub(super) fn new(task: stored::Task, fields: Option<&[FieldName]>) -> Result<Self, ToolError> {
        let Value::Object(mut whole) = serde_json::to_value(Task::from(task)).map_err(ToolError::internal)?
        else {
            return Err(ToolError::internal("a task is not an object"));
        };
        if let Some(fields) = fields {
            let wanted = serde_json::to_value(fields).map_err(ToolError::internal)?;
            let wanted: Vec<&str> =
                wanted.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            whole.retain(|name, _| name == "taskId" || wanted.contains(&name.as_str()));
        }
        Ok(Self(whole))
    }
}

impl JsonSchema for PickedTask {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PickedTask".into()
    }

    /// That of a task, with nothing required but the id.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Task::json_schema(generator);
        schema.insert("required".into(), json!(["taskId"]));
        schema.insert("description".into(), "A task, or the fields of it that were asked for.".into());
        schema
    }
}
