//! What a client sends for a response. Fields that do not matter here are given back as they came.

use serde::Deserialize;
use serde_json::{Map, Value};
use toolroom_model::ToolSpec;

use super::input::Input;
use crate::middleware::Problem;
use crate::openai::tools::{Function, forbidden, not_a_function};
use crate::openai::wrong;

/// The body of a request for a response.
#[derive(Deserialize)]
pub(crate) struct Request {
    pub(super) model: String,
    #[serde(default)]
    pub(super) input: Input,
    pub(super) instructions: Option<String>,
    pub(super) previous_response_id: Option<String>,
    pub(super) stream: Option<bool>,
    store: Option<bool>,
    background: Option<bool>,
    conversation: Option<Value>,
    prompt: Option<Value>,
    pub(super) tools: Option<Vec<Value>>,
    pub(super) tool_choice: Option<Value>,
    #[serde(flatten)]
    pub(super) others: Map<String, Value>,
}

impl Request {
    /// What can be told before anything is looked up.
    pub(super) fn check(&self) -> Result<(), Problem> {
        if self.background.unwrap_or_default() {
            return Err(wrong("background", "A response is not made in the background; stream it instead."));
        }
        if self.conversation.is_some() {
            let detail = "There are no conversations of that kind here; use previous_response_id.";
            return Err(wrong("conversation", detail));
        }
        if self.prompt.is_some() {
            return Err(wrong("prompt", "There are no stored prompts here; use instructions."));
        }
        if self.input.is_empty() {
            return Err(wrong("input", "There must be a text or at least one item."));
        }
        Ok(())
    }

    /// Whether a later request may go on from the answer.
    pub(super) fn store(&self) -> bool {
        self.store.unwrap_or(true)
    }

    pub(super) fn forbids_tools(&self) -> bool {
        forbidden(self.tool_choice.as_ref())
    }

    /// The client's own tools.
    pub(super) fn client_tools(&self) -> Result<Vec<ToolSpec>, Problem> {
        let spec = |tool: &Value| {
            let function = Function::deserialize(tool).ok().filter(|_| tool["type"] == "function");
            function.ok_or_else(not_a_function)?.spec()
        };
        self.tools.iter().flatten().map(spec).collect()
    }
}
