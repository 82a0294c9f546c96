//! A run as the chunks of a completion.

use axum::response::Response;
use axum::response::sse::Event as Sent;
use serde_json::{Value, json};
use toolroom_agent::RunHandle;

use super::completion::Frame;
use crate::openai::told::{self, Told};

/// The words as they come, one `finish_reason`, and `[DONE]`.
pub(super) fn stream(handle: RunHandle, frame: Frame, usage: bool) -> Response {
    let opening = frame.chunk(json!({ "role": "assistant", "content": "" }), None, usage);
    told::stream(handle, vec![json_event(&opening)], move |told| match told {
        Told::Words(text) => vec![json_event(&frame.chunk(json!({ "content": text }), None, usage))],
        Told::End(answer) => {
            let last = answer.map(|answer| frame.end(&answer, usage)).unwrap_or_default();
            last.iter().map(json_event).chain([Sent::default().data("[DONE]")]).collect()
        }
    })
}

fn json_event(value: &Value) -> Sent {
    Sent::default().data(value.to_string())
}
