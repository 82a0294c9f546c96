//! A response: what is answered, and by which ids its parts can be named later.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use toolroom_agent::Answer;
use toolroom_contract::ids::ChatRunId;
use toolroom_model::{Message, ToolCall};

use super::request::Request;
use crate::openai::{arguments, aside};

/// What is the same from the first event to the last.
pub(super) struct Frame {
    run: String,
    fields: Map<String, Value>,
}

/// Fields that clients expect, with what they are where the request does not say it.
fn usual() -> Value {
    json!({
        "error": null,
        "incomplete_details": null,
        "max_output_tokens": null,
        "max_tool_calls": null,
        "metadata": {},
        "parallel_tool_calls": true,
        "reasoning": { "effort": null, "summary": null },
        "service_tier": "default",
        "temperature": 1.0,
        "text": { "format": { "type": "text" } },
        "top_p": 1.0,
        "truncation": "disabled",
        "user": null,
    })
}

/// What a response says of its request.
pub(super) fn of_request(request: Request) -> Value {
    let store = request.store();
    let mut fields = json!({
        "created_at": jiff::Timestamp::now().as_second(),
        "background": false,
        "instructions": request.instructions,
        "model": request.model,
        "previous_response_id": request.previous_response_id,
        "store": store,
        "tools": request.tools.unwrap_or_default(),
        "tool_choice": request.tool_choice.unwrap_or_else(|| "auto".into()),
    });
    if let Value::Object(usual) = usual() {
        for (name, value) in usual {
            let sent = request.others.get(&name).filter(|sent| !sent.is_null());
            fields[name] = sent.cloned().unwrap_or(value);
        }
    }
    fields
}

impl Frame {
    /// The response of a run, with what it says of its request.
    pub(super) fn new(run: ChatRunId, of_request: Value) -> Self {
        let run = run.0.simple().to_string();
        let mut fields = Map::new();
        fields.insert("id".to_owned(), format!("resp_{run}").into());
        fields.insert("object".to_owned(), "response".into());
        fields.insert("status".to_owned(), "in_progress".into());
        fields.insert("output".to_owned(), json!([]));
        fields.insert("usage".to_owned(), Value::Null);
        if let Value::Object(more) = of_request {
            fields.extend(more);
        }
        Self { run, fields }
    }

    /// As it is while the answer is made.
    pub(super) fn in_progress(&self) -> Value {
        self.fields.clone().into()
    }

    /// The whole answer.
    pub(super) fn completed(&self, answer: &Answer) -> Value {
        let mut output = Vec::new();
        if !answer.response.is_empty() {
            output.push(self.message("completed", &[text_part(&answer.response)]));
        }
        output.extend(answer.client_calls.iter().enumerate().map(|(at, call)| self.call(at, call)));
        let (read, written) = (answer.usage.input, answer.usage.output);
        let usage = json!({
            "input_tokens": read,
            "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 },
            "output_tokens": written,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": read + written,
        });
        let (status, why) = match answer.cut {
            true => ("incomplete", json!({ "reason": "max_output_tokens" })),
            false => ("completed", Value::Null),
        };
        let changed = [
            ("status", status.into()),
            ("incomplete_details", why),
            ("completed_at", answer.timestamp.as_second().into()),
            ("output", output.into()),
            ("usage", usage),
            ("toolroom", aside(answer)),
        ];
        self.changed(changed)
    }

    /// The answer that there is not.
    pub(super) fn failed(&self) -> Value {
        let error = json!({ "code": "server_error", "message": "The run ended without an answer." });
        self.changed([("status", "failed".into()), ("error", error)])
    }

    fn changed<const N: usize>(&self, changed: [(&str, Value); N]) -> Value {
        let mut fields = self.fields.clone();
        for (name, value) in changed {
            fields.insert(name.to_owned(), value);
        }
        fields.into()
    }

    pub(super) fn message_id(&self) -> String {
        format!("msg_{}", self.run)
    }

    /// The item with the words.
    pub(super) fn message(&self, status: &str, parts: &[Value]) -> Value {
        json!({
            "id": self.message_id(), "type": "message", "role": "assistant", "status": status, "content": parts,
        })
    }

    /// The item of a call that the client is to make.
    pub(super) fn call(&self, at: usize, call: &ToolCall) -> Value {
        json!({
            "id": format!("fc_{}_{at}", self.run),
            "type": "function_call",
            "status": "completed",
            "call_id": call.id,
            "name": call.name,
            "arguments": arguments(call),
        })
    }
}

pub(super) fn text_part(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

/// An item of an earlier response.
pub(super) enum Referred {
    Text(String),
    Call(ToolCall),
}

/// The run of a response.
pub(super) fn run_of_response(id: &str) -> Option<ChatRunId> {
    run_of(id).filter(|_| id.starts_with("resp_"))
}

/// The run that a response or an item of one belongs to.
pub(super) fn run_of(id: &str) -> Option<ChatRunId> {
    let (kind, rest) = id.split_once('_')?;
    let run = match kind {
        "resp" | "msg" => rest,
        "fc" => rest.split_once('_')?.0,
        _ => return None,
    };
    run.parse().ok()
}

/// The item of this id.
pub(super) fn refer(id: &str, answers: &HashMap<ChatRunId, Message>) -> Option<Referred> {
    let Message::Assistant { text, calls } = answers.get(&run_of(id)?)? else { return None };
    match id.strip_prefix("fc_") {
        Some(call) => {
            let at: usize = call.split_once('_')?.1.parse().ok()?;
            calls.get(at).cloned().map(Referred::Call)
        }
        None => Some(Referred::Text(text.clone())),
    }
}
