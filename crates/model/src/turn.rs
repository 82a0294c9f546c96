//! What a model answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One answer of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The words.
    pub text: String,
    /// The calls that it wants made.
    pub calls: Vec<ToolCall>,
    /// What it cost.
    pub usage: Usage,
    /// Why it stopped.
    pub finish: Finish,
    /// Whether the person is asked about its changes, beside what the profile says.
    #[serde(default)]
    pub asking: Asking,
}

/// Whether the person is asked about the changes of a turn. Only the offline planner, which knows the person's words
/// for sure, says anything but `AsRuled`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asking {
    /// As the profile says.
    #[default]
    AsRuled,
    /// About every change: they were read out of the person's words and not said in so many.
    First,
    /// Two changes are not too many to be made at once: one takes back a mistake, the other is what was meant.
    Corrects,
}

impl Turn {
    /// Only words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// One call, without words.
    pub fn call(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        let call = ToolCall { id: id.into(), name: name.into(), arguments: Arguments::Json(arguments) };
        Self { calls: vec![call], finish: Finish::Calls, ..Self::default() }
    }
}

/// A call that a model wants made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within the run; made up if the model gave none.
    pub id: String,
    /// The published name, as the model wrote it.
    pub name: String,
    /// The parameters.
    pub arguments: Arguments,
}

/// The parameters of a call, as far as they could be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arguments {
    /// They are JSON.
    Json(Value),
    /// They are not: the text, and the model is told so.
    Broken(String),
}

/// Tokens, as the model's server counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Finish {
    /// It had said everything.
    #[default]
    Stop,
    /// It waits for its calls.
    Calls,
    /// It ran out of room.
    Length,
    /// Its server would not let it say more.
    Filtered,
}
