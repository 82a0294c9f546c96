//! What a client sends to be answered, as the messages that the chat knows.

use std::collections::HashMap;

use serde::Deserialize;
use toolroom_contract::ids::ChatRunId;
use toolroom_model::{Message, ToolCall};

use super::response::{Referred, refer};
use crate::middleware::Problem;
use crate::openai::content::{Calls, Content, Role, call};
use crate::openai::text_or_list::TextOrList;
use crate::openai::wrong;

/// A text of the person's, or items.
pub(crate) type Input = TextOrList<Item>;

/// An item of any type that is taken; which fields count depends on the type.
#[derive(Deserialize)]
pub(crate) struct Item {
    r#type: Option<String>,
    id: Option<String>,
    role: Option<Role>,
    content: Option<Content>,
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
    output: Option<Content>,
}

impl Default for Input {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Item {
    /// Messages and references may leave their type out.
    fn kind(&self) -> &str {
        match (&self.r#type, &self.role) {
            (Some(kind), _) => kind,
            (None, Some(_)) => "message",
            (None, None) => "item_reference",
        }
    }
}

impl Input {
    /// How many bytes there are to read.
    pub(super) fn length(&self) -> usize {
        let of = |item: &Item| {
            let texts = [&item.content, &item.output].into_iter().flatten().map(Content::length);
            texts.sum::<usize>() + item.arguments.as_ref().map_or(0, String::len)
        };
        match self {
            Self::Text(text) => text.len(),
            Self::List(items) => items.iter().map(of).sum(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::List(items) if items.is_empty())
    }

    /// The ids of items that are named and not repeated, each with its field.
    pub(super) fn references(&self) -> impl Iterator<Item = (String, &str)> {
        let items = match self {
            Self::Text(_) => &[],
            Self::List(items) => items.as_slice(),
        };
        let references = items.iter().enumerate().filter(|(_, item)| item.kind() == "item_reference");
        references.map(|(at, item)| (format!("input/{at}/id"), item.id.as_deref().unwrap_or_default()))
    }
}

/// What was said before, and then the input.
pub(super) fn read(
    input: Input,
    before: Vec<Message>,
    referred: &HashMap<ChatRunId, Message>,
) -> Result<Vec<Message>, Problem> {
    let mut messages = before;
    let mut made = Calls::of(&messages);
    let items = match input {
        Input::Text(text) => {
            messages.push(Message::User { text });
            return Ok(messages);
        }
        Input::List(items) => items,
    };
    for (at, item) in items.into_iter().enumerate() {
        let field = |name: &str| format!("input/{at}/{name}");
        let needed = |name: &str| wrong(&field(name), format!("An item of this type has a field '{name}'."));
        match item.kind() {
            "message" => {
                let role = item.role.ok_or_else(|| needed("role"))?;
                let text = item.content.ok_or_else(|| needed("content"))?.text(&field("content"))?;
                messages.push(match role {
                    Role::System | Role::Developer => Message::System { text },
                    Role::User => Message::User { text },
                    Role::Assistant => Message::Assistant { text, calls: Vec::new() },
                    Role::Tool => {
                        let detail = "The result of a tool is an item of the type 'function_call_output'.";
                        return Err(wrong(&field("role"), detail));
                    }
                });
            }
            "function_call" => {
                let id = item.call_id.ok_or_else(|| needed("call_id"))?;
                let name = item.name.ok_or_else(|| needed("name"))?;
                let call = call(id, name, item.arguments.unwrap_or_default());
                made.add(&call);
                add_call(&mut messages, call);
            }
            "function_call_output" => {
                let text = item.output.ok_or_else(|| needed("output"))?.text(&field("output"))?;
                let told = made.result(item.call_id, text, &field("call_id"))?;
                messages.push(told);
            }
            "item_reference" => match refer(item.id.as_deref().unwrap_or_default(), referred) {
                Some(Referred::Text(text)) => messages.push(Message::Assistant { text, calls: Vec::new() }),
                Some(Referred::Call(call)) => {
                    made.add(&call);
                    add_call(&mut messages, call);
                }
                None => return Err(needed("id")),
            },
            // Thoughts of a model; they are not shown to another.
            "reasoning" => {}
            other => {
                let detail = format!(
                    "Messages, function calls and their outputs are taken, and no item of the type '{other}'."
                );
                return Err(wrong(&field("type"), detail));
            }
        }
    }
    Ok(messages)
}

/// Calls that were asked for at once stand in one message.
fn add_call(messages: &mut Vec<Message>, call: ToolCall) {
    match messages.last_mut() {
        Some(Message::Assistant { calls, .. }) => calls.push(call),
        _ => messages.push(Message::Assistant { text: String::new(), calls: vec![call] }),
    }
}
