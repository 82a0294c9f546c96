//! What a chat answers with.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_contract::ids::{ChatRunId, ConversationId, ExecutionId};

use crate::confirm::{PendingConfirmation, PendingQuestion};
use crate::receipt::Receipt;
use toolroom_model::{ToolCall, Usage};

/// The answer to a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The conversation; `None` where the client keeps it.
    pub conversation_id: Option<ConversationId>,
    /// The run that gave it.
    pub run_id: ChatRunId,
    /// What the person is shown: receipts, the model's words, questions.
    pub response: String,
    /// The calls that were made, in order.
    pub tool_calls: Vec<CallShown>,
    /// What was changed.
    pub receipts: Vec<Receipt>,
    /// The confirmation that is pending.
    pub pending_confirmation: Option<PendingConfirmation>,
    /// The question that is pending.
    pub pending_question: Option<PendingQuestion>,
    /// Calls that the client is to make itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_calls: Vec<ToolCall>,
    /// Whether the model reached its limit of length.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The model.
    pub model: String,
    /// What the model's turns cost.
    pub usage: Usage,
    /// When it was given.
    pub timestamp: Timestamp,
}

impl Answer {
    /// An answer without anything in it yet.
    pub(super) fn new(
        run_id: ChatRunId,
        conversation_id: Option<ConversationId>,
        timestamp: Timestamp,
    ) -> Self {
        Self {
            conversation_id,
            run_id,
            response: String::new(),
            tool_calls: Vec::new(),
            receipts: Vec::new(),
            pending_confirmation: None,
            pending_question: None,
            client_calls: Vec::new(),
            cut: false,
            model: String::new(),
            usage: Usage::default(),
            timestamp,
        }
    }
}

/// A call, as the answer shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallShown {
    /// The call.
    pub tool_call_id: String,
    /// The published name.
    pub name: String,
    /// The parameters.
    pub input: Value,
    /// The published answer: on `default` the data, or `{"error": …}`.
    pub output: Value,
    /// The call's row in the journal, if it reached one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<ExecutionId>,
}

impl CallShown {
    /// As a conversation keeps it: a large output only by its start.
    pub(super) fn bounded(mut self) -> Self {
        let text = self.output.to_string();
        if text.len() > KEPT_OUTPUT {
            let start: String = text.chars().take(KEPT_OUTPUT / 8).collect();
            self.output = json!({ "cut": true, "bytes": text.len(), "start": start });
        }
        self
    }
}

/// Bytes of an output that a conversation keeps.
pub(crate) const KEPT_OUTPUT: usize = 64 << 10;
