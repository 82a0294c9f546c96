//! Tools that a client runs itself.

use serde::Deserialize;
use serde_json::{Value, json};
use toolroom_model::ToolSpec;

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

/// Whether the client says that no tool may be called.
pub(super) fn forbidden(choice: Option<&Value>) -> bool {
    choice.is_some_and(|choice| choice == "none")
}
