//! A prompt as the body of a request.

use serde_json::{Map, Value, json};

use crate::{Arguments, Message, Prompt, ToolChoice, ToolSpec};

/// The body of a request; without `extras`, which some servers refuse, it has only what all of them know.
pub(super) fn body(model: &str, prompt: &Prompt, extras: bool) -> Vec<u8> {
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("messages".into(), prompt.messages.iter().map(message).collect());
    body.insert("stream".into(), true.into());
    if extras {
        body.insert("stream_options".into(), json!({ "include_usage": true }));
    }
    if !prompt.tools.is_empty() {
        body.insert("tools".into(), prompt.tools.iter().map(tool).collect());
        if let Some(choice) = choice(&prompt.tool_choice).filter(|_| extras) {
            body.insert("tool_choice".into(), choice);
        }
    }
    Value::Object(body).to_string().into_bytes()
}

fn tool(spec: &ToolSpec) -> Value {
    toolroom_profiles::openai::function(&spec.name, &spec.description, &spec.parameters)
}

fn choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::Required => Some("required".into()),
        ToolChoice::None => Some("none".into()),
        ToolChoice::Named(name) => Some(json!({ "type": "function", "function": { "name": name } })),
    }
}

fn message(message: &Message) -> Value {
    match message {
        Message::System { text } => json!({ "role": "system", "content": text }),
        Message::User { text } => json!({ "role": "user", "content": text }),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        Message::Assistant { text, calls } => {
            let call = |call: &crate::ToolCall| {
                let arguments = match &call.arguments {
                    Arguments::Json(arguments) => arguments.to_string(),
                    // Servers that render a template from them need JSON.
                    Arguments::Broken(_) => "{}".to_owned(),
                };
                json!({
                    "id": call.id,
                    "type": "function",
                    "function": { "name": call.name, "arguments": arguments }
                })
            };
            let content = if text.is_empty() { Value::Null } else { text.as_str().into() };
            json!({
                "role": "assistant",
                "content": content,
                "tool_calls": calls.iter().map(call).collect::<Vec<_>>()
            })
        }
        Message::Tool { call_id, content, .. } => {
            json!({ "role": "tool", "tool_call_id": call_id, "content": content })
        }
    }
}
