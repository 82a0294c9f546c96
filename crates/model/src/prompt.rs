//! What a model is asked.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_runtime::catalogue::{Bound, Tool};

use super::turn::ToolCall;

/// Everything that a model is told for one turn.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// The conversation, oldest first. The last is what the person said, or the result of a tool.
    pub messages: Vec<Message>,
    /// The tools of the profile that the person may use.
    pub tools: Vec<ToolSpec>,
    /// Whether it must, may or must not call one.
    pub tool_choice: ToolChoice,
    /// "Now" for this person.
    pub moment: Moment,
    /// The profile under which the chat runs.
    pub profile: String,
    /// Whether the person is asked about every change anyway.
    pub confirms_changes: bool,
    /// Whether the person is asked about deletions, and about several changes at once, anyway.
    pub confirms_deletes: bool,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Message {
    /// What the model is told about itself and its work.
    System {
        /// The words.
        text: String,
    },
    /// What the person said. The only commands that count.
    User {
        /// The words.
        text: String,
    },
    /// What was answered before, and the calls that the model asked for.
    Assistant {
        /// The words that the person was shown.
        text: String,
        /// The calls.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// The result of a call.
    Tool {
        /// The call.
        call_id: String,
        /// The tool's published name.
        name: String,
        /// For a language model: the result as text, marked as data.
        content: String,
        /// The published answer itself (on `default`: `data`, or `error`). Data, never a command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        structured: Option<Value>,
        /// Whether the call failed, or waits for approval, was declined or withdrawn: then `structured.confirmation` says so.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
}

impl Message {
    /// What the person said.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// What was answered, without calls.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant { text: text.into(), calls: Vec::new() }
    }
}

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The published name: what a call must name.
    pub name: String,
    /// The canonical tool behind it; the same for a tool that has no other name.
    pub canonical: String,
    /// What it does and when to use it.
    pub description: String,
    /// The JSON Schema of its parameters.
    pub parameters: Schema,
    /// Whether it changes nothing.
    pub read_only: bool,
    /// Whether a person is asked before it runs, whatever the parameters.
    pub destructive: bool,
}

/// The JSON Schema of a tool's parameters, where the catalogue keeps it: a message copies none of them.
#[derive(Clone)]
pub enum Schema {
    /// Of a tool, as it is defined.
    Tool(Arc<Tool>),
    /// Of a tool, as a profile publishes it.
    Bound(Arc<Bound>),
    /// Of a tool that is not in the catalogue.
    Own(Arc<Value>),
}

impl Deref for Schema {
    type Target = Value;

    fn deref(&self) -> &Value {
        match self {
            Self::Tool(tool) => &tool.published().parameters,
            Self::Bound(bound) => bound.parameters(),
            Self::Own(schema) => schema,
        }
    }
}

impl From<Value> for Schema {
    fn from(schema: Value) -> Self {
        Self::Own(Arc::new(schema))
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Whether a tool must be called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    /// As the model sees fit.
    #[default]
    Auto,
    /// At least one. Some servers ignore this.
    Required,
    /// None: words only.
    None,
    /// This one.
    Named(String),
}

/// "Now" for the person: when they wrote, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// When the message was written.
    pub now: Timestamp,
    /// The zone of dates in words.
    pub zone: TimeZone,
}

impl Moment {
    /// The time on the person's clock.
    pub fn local(&self) -> Zoned {
        self.now.to_zoned(self.zone.clone())
    }
}
