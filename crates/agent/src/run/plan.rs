//! What is to become of a call that a model asked for.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_contract::ids::PendingId;

use toolroom_model::{Message, ToolCall};

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It is made.
    Run(Planned),
    /// A person is asked first.
    Ask(Planned),
    /// It is not made, and the model is told why. Whether it was to change something, or may have been.
    Refuse(Message, bool),
    /// It is the client's own tool.
    Client,
}

/// A call that is to be made, exactly so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// As the model asked for it.
    pub call: ToolCall,
    /// The profile that publishes it.
    pub profile: String,
    /// The published name.
    pub name: String,
    /// The parameters.
    pub params: Value,
    /// Whether it may change something.
    pub changes: bool,
    /// Whether its answer may hold what anybody wrote.
    pub untrusted: bool,
    /// Whether others may run beside it.
    pub parallel: bool,
    /// When the person wrote, for dates in words: milliseconds since 1970.
    pub at: i64,
    /// The zone of dates in words.
    pub zone: Option<String>,
    /// The conversation to which what it leaves pending belongs.
    pub scope: String,
    /// The request that a person decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<PendingId>,
}

/// The next calls: as many as may run side by side, or the one that must run alone.
pub(super) fn next_batch(todo: &mut Vec<Planned>, most: usize) -> Vec<Planned> {
    let beside = todo.iter().take_while(|planned| planned.parallel).count();
    let count = beside.clamp(1, most.max(1)).min(todo.len());
    todo.drain(..count).collect()
}

pub(super) fn over_budget(call: &ToolCall) -> Message {
    told(call, json!({ "error": "This run has used up its calls. Answer with what is known." }))
}

pub(super) fn postponed(call: &ToolCall) -> Message {
    told(call, json!({ "confirmation": "postponed", "error": "The person is asked something else first." }))
}

pub(super) fn not_made(call: &ToolCall) -> Message {
    told(call, json!({ "error": "The run ended before this call had a result." }))
}

/// A result that no tool gave.
pub fn told(call: &ToolCall, structured: Value) -> Message {
    Message::Tool {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: structured.to_string(),
        structured: Some(structured),
        failed: true,
    }
}
