//! The history that a client sends, as the chat knows it.

use serde::Deserialize;
use toolroom_model::{Arguments, Message, ToolCall};

use super::wrong;
use crate::middleware::Problem;

/// A message as it is sent.
#[derive(Deserialize)]
pub(crate) struct Wire {
    role: Role,
    content: Option<Content>,
    tool_calls: Option<Vec<Call>>,
    tool_call_id: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    System,
    Developer,
    User,
    Assistant,
    Tool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    r#type: String,
    text: Option<String>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Call {
    id: String,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: String,
}

impl Wire {
    /// Whether this is a prompt of a chat program about the conversation, as Open WebUI and its kin send them.
    pub(super) fn is_programs(&self) -> bool {
        match (&self.role, &self.content) {
            (Role::User, Some(Content::Text(text))) => {
                let quotes = ["<chat_history>", "### Chat History"].iter().any(|mark| text.contains(mark));
                text.trim_start().starts_with("### Task") && quotes
            }
            _ => false,
        }
    }
}

/// The history, oldest first.
pub(super) fn read(sent: Vec<Wire>) -> Result<Vec<Message>, Problem> {
    let mut messages: Vec<Message> = Vec::with_capacity(sent.len());
    for (at, wire) in sent.into_iter().enumerate() {
        let text = text(wire.content, at)?;
        let message = match wire.role {
            Role::System | Role::Developer => Message::System { text },
            Role::User => Message::User { text },
            Role::Assistant => {
                let calls = wire.tool_calls.into_iter().flatten().map(ToolCall::from).collect();
                Message::Assistant { text, calls }
            }
            Role::Tool => {
                let missing =
                    || wrong(&format!("messages/{at}/tool_call_id"), "A tool's message names its call.");
                let call_id = wire.tool_call_id.ok_or_else(missing)?;
                let name = name_of(&messages, &call_id).ok_or_else(|| {
                    wrong(&format!("messages/{at}/tool_call_id"), "No message before has a call of that id.")
                })?;
                let structured = serde_json::from_str(&text).ok();
                Message::Tool { call_id, name, content: text, structured, failed: false }
            }
        };
        messages.push(message);
    }
    Ok(messages)
}

impl From<Call> for ToolCall {
    fn from(call: Call) -> Self {
        let Function { name, arguments } = call.function;
        let arguments = match serde_json::from_str(&arguments) {
            Ok(value) => Arguments::Json(value),
            Err(_) => Arguments::Broken(arguments),
        };
        Self { id: call.id, name, arguments }
    }
}

fn text(content: Option<Content>, at: usize) -> Result<String, Problem> {
    let parts = match content {
        None => return Ok(String::new()),
        Some(Content::Text(text)) => return Ok(text),
        Some(Content::Parts(parts)) => parts,
    };
    let mut texts = Vec::with_capacity(parts.len());
    for part in parts {
        match (part.r#type.as_str(), part.text.or(part.refusal)) {
            ("text" | "refusal" | "input_text" | "output_text", Some(text)) => texts.push(text),
            (kind, _) => {
                let field = format!("messages/{at}/content");
                return Err(wrong(
                    &field,
                    format!("Only text is taken here, and no part of the type '{kind}'."),
                ));
            }
        }
    }
    Ok(texts.join("\n"))
}

fn name_of(messages: &[Message], id: &str) -> Option<String> {
    messages.iter().rev().find_map(|message| match message {
        Message::Assistant { calls, .. } => {
            calls.iter().find(|call| call.id == id).map(|call| call.name.clone())
        }
        _ => None,
    })
}
