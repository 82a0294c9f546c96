//! What a client sends for a response. How the model is to choose its words is passed on to it, in the names that chat
//! completions have; other fields that do not matter here are given back as they came.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolroom_model::{Sampling, ToolChoice, ToolSpec};

use super::input::Input;
use crate::middleware::Problem;
use crate::openai::tools::{self, Function, not_a_function};
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

    pub(super) fn tool_choice(&self) -> Result<ToolChoice, Problem> {
        tools::choice(self.tool_choice.as_ref())
    }

    pub(super) fn sampling(&self) -> Result<Sampling, Problem> {
        let mut sent = self.others.clone();
        let text = self.others.get("text");
        let renamed = [
            ("max_completion_tokens", self.others.get("max_output_tokens").cloned()),
            ("reasoning_effort", self.others.get("reasoning").and_then(|one| one.get("effort")).cloned()),
            ("verbosity", text.and_then(|text| text.get("verbosity")).cloned()),
            ("response_format", text.and_then(|text| text.get("format")).and_then(format)),
        ];
        sent.extend(renamed.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        tools::sampling(&sent)
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

/// The format of the answer, as chat completions have it; nothing for plain text.
fn format(format: &Value) -> Option<Value> {
    match format["type"].as_str()? {
        "text" => None,
        "json_schema" => {
            let mut schema = format.clone();
            schema.as_object_mut()?.shift_remove("type");
            Some(json!({ "type": "json_schema", "json_schema": schema }))
        }
        _ => Some(format.clone()),
    }
}
