//! Which calls need a person's yes, what the person is asked, and what they said. Worked out from the contract and
//! the profile, whatever a model says.

mod question;
mod words;

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_contract::ids::PendingId;
use toolroom_runtime::catalogue::Tool;

use crate::toolset::asks;

pub use question::{Named, ask, question};
pub use words::{Utterance, read};

/// A confirmation that waits, as the chat's answer shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingConfirmation {
    /// The request; the first, where several calls are asked about at once.
    pub id: PendingId,
    /// The published name of the tool; `several` where they differ.
    pub action: String,
    /// The task, or the list of tasks.
    pub task_id: Value,
    /// Its title, or the list of titles.
    pub task_title: Value,
    /// When the question expires.
    pub expires_at: Timestamp,
    /// What the person was asked.
    pub message: String,
}

/// A question that waits, as the chat's answer shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingQuestion {
    /// The request.
    pub id: PendingId,
    /// What the person is asked.
    pub question: String,
    /// What they may choose from.
    pub choices: Vec<String>,
    /// When the question expires.
    pub expires_at: Timestamp,
}

/// Whether a call of this tool changes something, as opposed to asking a person.
pub fn changes(tool: &Tool) -> bool {
    !tool.policy.read_only && !asks(tool)
}

/// Whether a call must have a yes for what its tool is, bulk aside.
pub fn needs_yes(profile: &str, tool: &Tool) -> bool {
    tool.policy.needs_approval || (profile == toolroom_profiles::assistant::NAME && changes(tool))
}

/// Whether the calls of a run touch enough tasks to be a bulk change.
pub fn is_bulk(touched: &BTreeSet<i64>) -> bool {
    touched.len() > 1
}

/// The tasks that a call would change. New ones do not count.
pub fn targets(params: &Value) -> Vec<i64> {
    let id = |value: &Value| {
        let id = value.get("taskId").or_else(|| value.get("task_id"))?;
        id.as_i64()
            .or_else(|| id.as_f64().filter(|id| id.fract() == 0.0).map(|id| id as i64))
            .or_else(|| id.as_str()?.trim().parse().ok())
    };
    let many = params.get("operations").and_then(Value::as_array);
    id(params).into_iter().chain(many.into_iter().flatten().filter_map(id)).collect()
}
