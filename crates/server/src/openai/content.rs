//! Text as OpenAI's clients send it, and the messages that both of its forms have.

use std::collections::HashMap;

use serde::Deserialize;
use toolroom_model::{Arguments, Message, ToolCall};

use super::text_or_list::TextOrList;
use super::wrong;
use crate::middleware::Problem;

/// Who speaks.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    System,
    Developer,
    User,
    Assistant,
    Tool,
}

/// A text, whole or in parts.
pub(super) type Content = TextOrList<Part>;

#[derive(Deserialize)]
pub(crate) struct Part {
    r#type: String,
    text: Option<String>,
    refusal: Option<String>,
}

impl Content {
    /// How many bytes the words have.
    pub(super) fn length(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::List(parts) => parts.iter().filter_map(|part| part.text.as_ref()).map(String::len).sum(),
        }
    }

    /// The words; `field` is where they came from.
    pub(super) fn text(self, field: &str) -> Result<String, Problem> {
        let parts = match self {
            Self::Text(text) => return Ok(text),
            Self::List(parts) => parts,
        };
        let mut texts = Vec::with_capacity(parts.len());
        for part in parts {
            match (part.r#type.as_str(), part.text.or(part.refusal)) {
                ("text" | "refusal" | "input_text" | "output_text", Some(text)) => texts.push(text),
                (kind, _) => {
                    let detail = format!("Only text is taken here, and no part of the type '{kind}'.");
                    return Err(wrong(field, detail));
                }
            }
        }
        Ok(texts.join("\n"))
    }
}

/// A call of the client's own tool, as it is sent back.
pub(super) fn call(id: String, name: String, arguments: String) -> ToolCall {
    let arguments = match serde_json::from_str(&arguments) {
        Ok(value) => Arguments::Json(value),
        Err(_) => Arguments::Broken(arguments),
    };
    ToolCall { id, name, arguments }
}

/// The calls in a history so far: which tool each is of.
#[derive(Default)]
pub(super) struct Calls(HashMap<String, String>);

impl Calls {
    /// Those of these messages.
    pub(super) fn of(messages: &[Message]) -> Self {
        let mut calls = Self::default();
        for message in messages {
            if let Message::Assistant { calls: made, .. } = message {
                made.iter().for_each(|call| calls.add(call));
            }
        }
        calls
    }

    pub(super) fn add(&mut self, call: &ToolCall) {
        self.0.insert(call.id.clone(), call.name.clone());
    }

    /// The result of one of them.
    pub(super) fn result(
        &self,
        call_id: Option<String>,
        text: String,
        field: &str,
    ) -> Result<Message, Problem> {
        let call_id = call_id.ok_or_else(|| wrong(field, "The result of a tool names its call."))?;
        let name = self.0.get(&call_id).cloned();
        let name = name.ok_or_else(|| wrong(field, "No message before has a call of that id."))?;
        let structured = serde_json::from_str(&text).ok();
        Ok(Message::Tool { call_id, name, content: text, structured, failed: false })
    }
}

/// Whether the last thing said is a prompt of a chat program about the conversation, as Open WebUI and its kin send
/// them. They quote what the person wrote, which must not be done a second time.
pub(super) fn is_programs(messages: &[Message]) -> bool {
    let Some(Message::User { text }) = messages.last() else { return false };
    let quotes = ["<chat_history>", "### Chat History"].iter().any(|mark| text.contains(mark));
    text.trim_start().starts_with("### Task") && quotes
}
