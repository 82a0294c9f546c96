//! The canonical side of the task tools: parameters to build, tasks to read.

use serde_json::{Map, Value};
use toolroom_contract::{ErrorCode, ToolError};

use crate::due;
use crate::profile::Published;

static NULL: Value = Value::Null;

/// Copies the published fields that are there, each under its canonical name.
pub(crate) fn carry(params: &Value, names: &[(&str, &str)]) -> Map<String, Value> {
    names
        .iter()
        .filter_map(|(published, canonical)| Some(((*canonical).to_owned(), params.get(published)?.clone())))
        .collect()
}

/// Ids are whole numbers that every JSON parser reads exactly.
pub(crate) fn can_be_an_id(id: &i64) -> bool {
    (1..=9_007_199_254_740_991).contains(id)
}

/// The task that an integer `task_id` names. What cannot be the id of any task is not found, like one
/// that never existed.
pub(crate) fn task_id(params: &Value) -> Result<i64, ToolError> {
    params.get("task_id").and_then(whole_number).filter(can_be_an_id).ok_or_else(not_found)
}

/// There is no such task, or it is not the caller's.
pub(crate) fn not_found() -> ToolError {
    ToolError::new(ErrorCode::NotFound, "Task not found")
}

/// A number without a fraction: JSON Schema counts `42.0` as an integer too.
pub(crate) fn whole_number(value: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.as_i64().or_else(|| {
        let number = value.as_f64()?;
        (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i64)
    })
}

/// `completed` as a canonical status.
pub(crate) fn status(completed: bool) -> Value {
    if completed { "completed".into() } else { "pending".into() }
}

/// A canonical task, read field by field.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a>(pub(crate) &'a Value);

impl<'a> Task<'a> {
    /// The task of a success, or the one that a failure carries along.
    pub(crate) fn of(published: &Published<'a>) -> Option<Self> {
        let carrier = match published.result.error() {
            Some(error) => error.data.as_ref(),
            None => published.result.data(),
        };
        carrier?.get("task").map(Self)
    }

    /// The tasks of a list.
    pub(crate) fn list(published: &Published<'a>) -> impl Iterator<Item = Self> {
        let tasks = published.result.data().and_then(|data| data.get("tasks")).and_then(Value::as_array);
        tasks.into_iter().flatten().map(Self)
    }

    pub(crate) fn get(self, field: &str) -> &'a Value {
        self.0.get(field).unwrap_or(&NULL)
    }

    pub(crate) fn id(self) -> &'a Value {
        self.get("taskId")
    }

    pub(crate) fn title(self) -> &'a str {
        self.get("title").as_str().unwrap_or_default()
    }

    pub(crate) fn is_completed(self) -> bool {
        self.get("status") == "completed"
    }

    pub(crate) fn created_at(self) -> Value {
        due::time(self.get("createdAt"))
    }

    pub(crate) fn updated_at(self) -> Value {
        due::time(self.get("updatedAt"))
    }
}
