//! The history that a client sends, as the chat knows it.

use serde::Deserialize;
use toolroom_model::{Message, ToolCall};

use crate::middleware::Problem;
use crate::openai::content::{self, Calls, Content, Role};

/// A message as it is sent.
#[derive(Deserialize)]
pub(crate) struct Wire {
    role: Role,
    content: Option<Content>,
    tool_calls: Option<Vec<Call>>,
    tool_call_id: Option<String>,
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
    /// How many bytes there are to read.
    pub(super) fn length(&self) -> usize {
        let calls = self.tool_calls.iter().flatten().map(|call| call.function.arguments.len());
        self.content.as_ref().map_or(0, Content::length) + calls.sum::<usize>()
    }
}

/// The history, oldest first.
pub(super) fn read(sent: Vec<Wire>) -> Result<Vec<Message>, Problem> {
    let mut messages: Vec<Message> = Vec::with_capacity(sent.len());
    let mut made = Calls::default();
    for (at, wire) in sent.into_iter().enumerate() {
        let text = wire.content.map(|content| content.text(&format!("messages/{at}/content")));
        let text = text.transpose()?.unwrap_or_default();
        let message = match wire.role {
            Role::System | Role::Developer => Message::System { text },
            Role::User => Message::User { text },
            Role::Assistant => {
                let call = |one: Call| content::call(one.id, one.function.name, one.function.arguments);
                let calls: Vec<ToolCall> = wire.tool_calls.into_iter().flatten().map(call).collect();
                calls.iter().for_each(|call| made.add(call));
                Message::Assistant { text, calls }
            }
            Role::Tool => {
                let field = format!("messages/{at}/tool_call_id");
                made.result(wire.tool_call_id, text, &field)?
            }
        };
        messages.push(message);
    }
    Ok(messages)
}
