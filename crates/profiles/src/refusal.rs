//! The first bad field of a refused call, in the plain words of the published contracts.

use serde_json::Value;
use toolroom_contract::error::ErrorBody;
use toolroom_contract::{ErrorCode, pointer};

/// A bad field, and what is wrong with it.
pub(crate) struct Refusal {
    /// The published name of the field; empty if the parameters as a whole are wrong.
    pub(crate) field: String,
    fault: Fault,
}

enum Fault {
    Missing,
    Unknown,
    Empty,
    TooLong(String),
    NotOneOf(String),
    Other(String),
}

impl Refusal {
    /// The first bad field, if the call was refused for one.
    pub(crate) fn of(error: &ErrorBody, params: &Value) -> Option<Self> {
        if error.code != ErrorCode::InvalidInput {
            return None;
        }
        let detail = error.details.first()?;
        Some(Self { field: published_name(&detail.pointer, params), fault: Fault::read(&detail.message) })
    }

    /// A sentence that calls the field by this label.
    pub(crate) fn sentence(&self, label: &str) -> String {
        match &self.fault {
            Fault::Missing => format!("{label} is required"),
            Fault::Unknown => format!("'{}' is not a known field", self.field),
            Fault::Empty => format!("{label} cannot be empty"),
            Fault::TooLong(limit) => format!("{label} cannot exceed {limit} characters"),
            Fault::NotOneOf(options) => format!("{label} must be one of: {options}"),
            Fault::Other(message) if message.starts_with("must ") => format!("{label} {message}"),
            Fault::Other(message) => format!("{label}: {message}"),
        }
    }

    /// What is wrong, without naming the field.
    pub(crate) fn predicate(&self) -> String {
        self.sentence("").trim_start_matches([' ', ':']).to_owned()
    }

    /// The field's name for people.
    pub(crate) fn label(&self) -> String {
        match self.field.as_str() {
            "" => "Input".into(),
            "task_id" => "Task ID".into(),
            "user_id" => "User ID".into(),
            "due_date" => "Due date".into(),
            other => capitalised(other),
        }
    }
}

impl Fault {
    /// Reads the messages of the contract's validator; the tests run it, so that the two cannot part.
    fn read(message: &str) -> Self {
        let limit = |text: &str| text.strip_suffix(" characters").map(str::to_owned);
        if message.ends_with(" is required") {
            Self::Missing
        } else if message.starts_with("unknown field ") {
            Self::Unknown
        } else if message == "must not be empty" {
            Self::Empty
        } else if let Some(limit) = message.strip_prefix("must have at most ").and_then(limit) {
            Self::TooLong(limit)
        } else if let Some(options) = message.strip_prefix("must be one of ").and_then(listed) {
            Self::NotOneOf(options)
        } else {
            Self::Other(message.to_owned())
        }
    }
}

fn listed(options: &str) -> Option<String> {
    let words: Vec<String> = serde_json::from_str(options).ok()?;
    Some(words.join(", "))
}

/// The field that a pointer leads to. A refusal by the canonical tool names the canonical field.
fn published_name(pointer: &str, params: &Value) -> String {
    let path = pointer.strip_prefix('/').unwrap_or(pointer);
    let name = pointer::name(path.split('/').next().unwrap_or_default());
    if params.get(&name).is_some() {
        return name;
    }
    match name.as_str() {
        "taskId" => "task_id".into(),
        "due" => "due_date".into(),
        "status" if params.get("completed").is_some() => "completed".into(),
        _ => name,
    }
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}
