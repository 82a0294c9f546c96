//! Tools that a client runs itself, and what it says of the choice of tools and words.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolroom_model::{Sampling, ToolChoice, ToolSpec};

use super::wrong;
use crate::middleware::Problem;

/// What is said of a function, whichever form it stands in.
#[derive(Deserialize)]
pub(super) struct Function {
    name: String,
    description: Option<String>,
    parameters: Option<Value>,
}

impl Function {
    pub(super) fn spec(&self) -> Result<ToolSpec, Problem> {
        let letter = |letter: u8| letter.is_ascii_alphanumeric() || b"_-".contains(&letter);
        if !(1..=64).contains(&self.name.len()) || !self.name.bytes().all(letter) {
            return Err(wrong("tools", "A function's name has 1 to 64 letters, digits, '_' or '-'."));
        }
        Ok(ToolSpec {
            name: self.name.clone(),
            canonical: self.name.clone(),
            description: self.description.clone().unwrap_or_default(),
            parameters: self.parameters.clone().unwrap_or_else(|| json!({ "type": "object" })).into(),
            read_only: false,
            destructive: false,
        })
    }
}

/// Another kind of tool.
pub(super) fn not_a_function() -> Problem {
    wrong("tools", "Only tools of the type 'function' are taken.")
}

/// Whether the client says that a tool must, may or must not be called.
pub(super) fn choice(sent: Option<&Value>) -> Result<ToolChoice, Problem> {
    let bad =
        || wrong("tool_choice", "tool_choice is 'auto', 'none', 'required', or a function by its name.");
    match sent {
        None | Some(Value::Null) => Ok(ToolChoice::Auto),
        Some(Value::String(word)) => match word.as_str() {
            "auto" => Ok(ToolChoice::Auto),
            "none" => Ok(ToolChoice::None),
            "required" => Ok(ToolChoice::Required),
            _ => Err(bad()),
        },
        // Completions have the name in the function, responses beside it.
        Some(named) if named["type"] == "function" => {
            let name = named["function"].get("name").or_else(|| named.get("name"));
            name.and_then(Value::as_str).map(|name| ToolChoice::Named(name.to_owned())).ok_or_else(bad)
        }
        Some(_) => Err(bad()),
    }
}

/// How the model is to choose its words, as far as the client says it.
pub(super) fn sampling(sent: &Map<String, Value>) -> Result<Sampling, Problem> {
    Sampling::read(sent).map_err(|error| wrong(error.field, error.to_string()))
}
