//! What a client says about itself: its name, what it can be asked for, which log lines it wants.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolroom_contract::report::Level;

use crate::Revision;
use crate::method::Question;

/// What is known of a client: from every request (stateless), or from its handshake.
#[derive(Clone, Debug)]
pub struct Client {
    /// The revision that it speaks.
    pub revision: Revision,
    /// Who it is.
    pub info: Option<Implementation>,
    /// What it can be asked for.
    pub capabilities: Capabilities,
    /// Which log lines it wants, if any.
    pub log_level: Option<LogLevel>,
}

/// A program's name and version.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Implementation {
    /// Its name.
    pub name: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
}

/// What a client can be asked for. Kept whole, because tools may look for what we do not know.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Capabilities(pub Arc<Map<String, Value>>);

/// A request of this kind, with an extension's id behind it, asks for nothing but that the client has it.
const EXTENSION: &str = "extensions/";

impl Capabilities {
    /// Whether a form can be put before the person. An empty `elicitation` means forms.
    pub fn elicits_forms(&self) -> bool {
        self.elicits("form")
    }

    fn elicits(&self, mode: &str) -> bool {
        match self.0.get("elicitation") {
            Some(Value::Object(modes)) if modes.is_empty() => mode == "form",
            Some(Value::Object(modes)) => modes.contains_key(mode),
            _ => false,
        }
    }

    /// What is missing for a request to the client, as a capabilities object; `None` if nothing is.
    pub fn missing_for(&self, method: &str, params: &Value) -> Option<Value> {
        if let Some(id) = method.strip_prefix(EXTENSION) {
            // A tool that can only be used with an extension says so by asking for it.
            return (!self.has_extension(id)).then(|| json!({ "extensions": { id: {} } }));
        }
        match Question::find(method) {
            Some(question) => self.missing_for_question(question, params),
            None => Some(json!({})),
        }
    }

    /// The same for one of the questions that the protocol has.
    pub fn missing_for_question(&self, question: Question, params: &Value) -> Option<Value> {
        match question {
            Question::Elicitation => {
                let mode = params.get("mode").and_then(Value::as_str).unwrap_or("form");
                (!self.elicits(mode)).then(|| json!({ "elicitation": { mode: {} } }))
            }
            Question::Sampling => match self.0.get("sampling") {
                Some(Value::Object(has)) => (params.get("tools").is_some() && !has.contains_key("tools"))
                    .then(|| json!({ "sampling": { "tools": {} } })),
                _ => Some(json!({ "sampling": {} })),
            },
            Question::Roots => (!self.0.contains_key("roots")).then(|| json!({ "roots": {} })),
        }
    }

    /// Whether an extension was declared.
    pub fn has_extension(&self, id: &str) -> bool {
        self.0.get("extensions").and_then(|extensions| extensions.get(id)).is_some()
    }
}

/// The levels of log lines, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl From<Level> for LogLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Debug => Self::Debug,
            Level::Info => Self::Info,
            Level::Warning => Self::Warning,
            Level::Error => Self::Error,
        }
    }
}

impl From<LogLevel> for Level {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Debug => Self::Debug,
            LogLevel::Info | LogLevel::Notice => Self::Info,
            LogLevel::Warning => Self::Warning,
            LogLevel::Error | LogLevel::Critical | LogLevel::Alert | LogLevel::Emergency => Self::Error,
        }
    }
}
