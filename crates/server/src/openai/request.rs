//! What an OpenAI client sends. Fields that do not matter here (temperature, seed, …) are ignored.

use serde::Deserialize;
use serde_json::{Value, json};
use toolroom_model::ToolSpec;

use super::messages::Wire;
use super::wrong;
use crate::middleware::Problem;

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
}

#[derive(Deserialize)]
pub(crate) struct StreamOptions {
    pub(super) include_usage: Option<bool>,
}

/// A tool that the client runs itself.
#[derive(Deserialize)]
struct Tool {
    r#type: String,
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    description: Option<String>,
    parameters: Option<Value>,
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

    /// Whether no tool may be called: the client says so, or the prompt is a chat program's own. Those ask for a
    /// title or tags and quote what the person wrote, which must not be done a second time.
    pub(super) fn words_only(&self) -> bool {
        let forbidden = self.tool_choice.as_ref().is_some_and(|choice| choice == "none");
        forbidden || self.messages.last().is_some_and(Wire::is_programs)
    }

    /// The client's own tools.
    pub(super) fn client_tools(&self) -> Result<Vec<ToolSpec>, Problem> {
        let tools = self.tools.iter().flatten();
        tools.map(Tool::spec).collect()
    }
}

impl Tool {
    fn spec(&self) -> Result<ToolSpec, Problem> {
        let function = self.function.as_ref().filter(|_| self.r#type == "function");
        let function =
            function.ok_or_else(|| wrong("tools", "Only tools of the type 'function' are taken."))?;
        let letter = |letter: u8| letter.is_ascii_alphanumeric() || b"_-".contains(&letter);
        if !(1..=64).contains(&function.name.len()) || !function.name.bytes().all(letter) {
            return Err(wrong("tools", "A function's name has 1 to 64 letters, digits, '_' or '-'."));
        }
        Ok(ToolSpec {
            name: function.name.clone(),
            canonical: function.name.clone(),
            description: function.description.clone().unwrap_or_default(),
            parameters: function.parameters.clone().unwrap_or_else(|| json!({ "type": "object" })).into(),
            read_only: false,
            destructive: false,
        })
    }
}
