//! A prompt as the body of a request.

use serde_json::{Map, Value, json};

use crate::{Arguments, Message, Prompt, Sampling, ToolChoice, ToolSpec};

/// How much a request asks for; servers that refuse it are asked for less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Everything.
    Full,
    /// Without the fields that some servers do not know.
    Plain,
    /// Without what the client said of sampling, too.
    Bare,
}

impl Form {
    /// The next to try, if there is less to ask for.
    pub(super) fn simpler(self, sampling: &Sampling) -> Option<Self> {
        match self {
            Self::Full => Some(Self::Plain),
            Self::Plain if !sampling.is_empty() => Some(Self::Bare),
            Self::Plain | Self::Bare => None,
        }
    }
}

/// The body of a request.
pub(super) fn body(model: &str, prompt: &Prompt, sampling: &Sampling, form: Form) -> Vec<u8> {
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("messages".into(), prompt.messages.iter().map(message).collect());
    body.insert("stream".into(), true.into());
    if form == Form::Full {
        body.insert("stream_options".into(), json!({ "include_usage": true }));
    }
    if !prompt.tools.is_empty() {
        body.insert("tools".into(), prompt.tools.iter().map(tool).collect());
        if let Some(choice) = choice(&prompt.tool_choice).filter(|_| form == Form::Full) {
            body.insert("tool_choice".into(), choice);
        }
    }
    if form != Form::Bare {
        let fits = |name: &str| !prompt.tools.is_empty() || name != "parallel_tool_calls";
        body.extend(
            sampling
                .fields()
                .filter(|(name, _)| fits(name))
                .map(|(name, value)| (name.clone(), value.clone())),
        );
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
