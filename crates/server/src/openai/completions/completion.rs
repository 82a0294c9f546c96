//! Answers in OpenAI's shape: whole, or as the chunks of a stream.

use serde_json::{Value, json};
use toolroom_agent::Answer;
use toolroom_contract::ids::ChatRunId;
use toolroom_model::ToolCall;

use crate::openai::{arguments, aside};

/// What is the same in every part of an answer.
pub(super) struct Frame {
    id: String,
    created: i64,
    model: String,
}

impl Frame {
    pub(super) fn new(run: ChatRunId, model: String) -> Self {
        let created = jiff::Timestamp::now().as_second();
        Self { id: format!("chatcmpl-{}", run.0.simple()), created, model }
    }

    /// The whole answer.
    pub(super) fn whole(&self, answer: &Answer) -> Value {
        let mut message = json!({ "role": "assistant", "content": answer.response, "refusal": null });
        if !answer.client_calls.is_empty() {
            message["tool_calls"] = answer.client_calls.iter().map(call).collect();
        }
        let choice =
            json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": finish(answer) });
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [choice],
            "usage": usage(answer),
            "toolroom": aside(answer),
        })
    }

    /// A chunk with a piece of the message. With `usage`, every chunk says that the count comes later.
    pub(super) fn chunk(&self, delta: Value, finish: Option<&str>, usage: bool) -> Value {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish });
        let mut chunk = self.bare(json!([choice]));
        if usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    }

    /// The chunks that end a stream.
    pub(super) fn end(&self, answer: &Answer, with_usage: bool) -> Vec<Value> {
        let mut chunks = Vec::new();
        for (at, one) in answer.client_calls.iter().enumerate() {
            let mut part = call(one);
            part["index"] = at.into();
            chunks.push(self.chunk(json!({ "tool_calls": [part] }), None, with_usage));
        }
        let mut last = self.chunk(json!({}), Some(finish(answer)), with_usage);
        last["toolroom"] = aside(answer);
        chunks.push(last);
        if with_usage {
            let mut counted = self.bare(json!([]));
            counted["usage"] = usage(answer);
            chunks.push(counted);
        }
        chunks
    }

    fn bare(&self, choices: Value) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        })
    }
}

fn finish(answer: &Answer) -> &'static str {
    match (answer.client_calls.is_empty(), answer.cut) {
        (false, _) => "tool_calls",
        (true, true) => "length",
        (true, false) => "stop",
    }
}

/// A call that the client is to make.
fn call(call: &ToolCall) -> Value {
    let function = json!({ "name": call.name, "arguments": arguments(call) });
    json!({ "id": call.id, "type": "function", "function": function })
}

fn usage(answer: &Answer) -> Value {
    let (read, written) = (answer.usage.input, answer.usage.output);
    json!({ "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written })
}
