//! What an OpenAI client sends. How the model is to choose its words is passed on to it; other fields that do not matter
//! here are ignored.

use serde::Deserialize;
use serde_json::{Map, Value};
use toolroom_model::{Sampling, ToolChoice, ToolSpec};

use super::messages::Wire;
use crate::middleware::Problem;
use crate::openai::tools::{self, Function, not_a_function};
use crate::openai::wrong;

/// The body of a request for a completion.
#[derive(Deserialize)]
pub(crate) struct Request {
    pub(super) model: String,
    pub(super) messages: Vec<Wire>,
    pub(super) stream: Option<bool>,
    pub(super) stream_options: Option<StreamOptions>,
    tools: Option<Vec<Tool>>,
    tool_choice: Option<Value>,
    n: Option<u32>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Deserialize)]
pub(crate) struct StreamOptions {
    pub(super) include_usage: Option<bool>,
}

#[derive(Deserialize)]
struct Tool {
    r#type: String,
    function: Option<Function>,
}

impl Request {
    /// What can be told before anything is looked up.
    pub(super) fn check(&self) -> Result<(), Problem> {
        if self.n.is_some_and(|n| n != 1) {
            return Err(wrong("n", "n must be 1: tools run on the server, and they run once."));
        }
        if self.messages.is_empty() {
            return Err(wrong("messages", "There must be at least one message."));
        }
        Ok(())
    }

    pub(super) fn tool_choice(&self) -> Result<ToolChoice, Problem> {
        tools::choice(self.tool_choice.as_ref())
    }

    pub(super) fn sampling(&self) -> Result<Sampling, Problem> {
        tools::sampling(&self.others)
    }

    /// The client's own tools.
    pub(super) fn client_tools(&self) -> Result<Vec<ToolSpec>, Problem> {
        let spec = |tool: &Tool| match &tool.function {
            Some(function) if tool.r#type == "function" => function.spec(),
            _ => Err(not_a_function()),
        };
        self.tools.iter().flatten().map(spec).collect()
    }
}
