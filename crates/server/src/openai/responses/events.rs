//! A run as the events of a response, in the order that OpenAI documents.

use axum::response::Response;
use axum::response::sse::Event as Sent;
use serde_json::{Value, json};
use toolroom_agent::{Answer, RunHandle};

use super::response::{Frame, text_part};
use crate::openai::told::{self, Told};

/// The response as it begins, its items piece by piece, and the whole of it.
pub(super) fn stream(handle: RunHandle, frame: Frame) -> Response {
    let mut events = Events { frame, number: 0, text: String::new() };
    let opening = events.opening();
    told::stream(handle, opening, move |told| match told {
        Told::Words(text) => events.words(&text),
        Told::End(Some(answer)) => events.end(&answer),
        Told::End(None) => {
            let failed = json!({ "response": events.frame.failed() });
            vec![events.event("response.failed", failed)]
        }
    })
}

struct Events {
    frame: Frame,
    number: u64,
    /// The words so far; the item that has them is the first, and is begun with them.
    text: String,
}

impl Events {
    fn event(&mut self, kind: &str, mut fields: Value) -> Sent {
        fields["type"] = kind.into();
        fields["sequence_number"] = self.number.into();
        self.number += 1;
        Sent::default().event(kind).data(fields.to_string())
    }

    /// An event of the part that has the words.
    fn of_text(&mut self, kind: &str, mut fields: Value) -> Sent {
        fields["item_id"] = self.frame.message_id().into();
        fields["output_index"] = 0.into();
        fields["content_index"] = 0.into();
        self.event(kind, fields)
    }

    fn opening(&mut self) -> Vec<Sent> {
        let response = json!({ "response": self.frame.in_progress() });
        ["response.created", "response.in_progress"].map(|kind| self.event(kind, response.clone())).into()
    }

    fn words(&mut self, text: &str) -> Vec<Sent> {
        let mut sent = Vec::new();
        if text.is_empty() {
            return sent;
        }
        if self.text.is_empty() {
            let item = self.frame.message("in_progress", &[]);
            sent.push(self.event("response.output_item.added", json!({ "output_index": 0, "item": item })));
            sent.push(self.of_text("response.content_part.added", json!({ "part": text_part("") })));
        }
        self.text += text;
        sent.push(self.of_text("response.output_text.delta", json!({ "delta": text, "logprobs": [] })));
        sent
    }

    fn end(&mut self, answer: &Answer) -> Vec<Sent> {
        // What was not told as it came, where a run broke off.
        let rest = answer.response.strip_prefix(&self.text).unwrap_or_default().to_owned();
        let mut sent = self.words(&rest);
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            let part = text_part(&text);
            sent.push(self.of_text("response.output_text.done", json!({ "text": text, "logprobs": [] })));
            sent.push(self.of_text("response.content_part.done", json!({ "part": part })));
            let item = self.frame.message("completed", &[part]);
            sent.push(self.event("response.output_item.done", json!({ "output_index": 0, "item": item })));
        }
        let before = usize::from(!answer.response.is_empty());
        for (at, call) in answer.client_calls.iter().enumerate() {
            sent.extend(self.call(before + at, self.frame.call(at, call)));
        }
        let completed = json!({ "response": self.frame.completed(answer) });
        sent.push(self.event("response.completed", completed));
        sent
    }

    /// A call that the client is to make: its arguments are there at once.
    fn call(&mut self, index: usize, whole: Value) -> [Sent; 4] {
        let (id, arguments) = (whole["id"].clone(), whole["arguments"].clone());
        let mut begun = whole.clone();
        begun["status"] = "in_progress".into();
        begun["arguments"] = "".into();
        let of_call = |name: &str| json!({ "item_id": id, "output_index": index, name: arguments });
        let item = |item: Value| json!({ "output_index": index, "item": item });
        let mut done = of_call("arguments");
        done["name"] = whole["name"].clone();
        [
            self.event("response.output_item.added", item(begun)),
            self.event("response.function_call_arguments.delta", of_call("delta")),
            self.event("response.function_call_arguments.done", done),
            self.event("response.output_item.done", item(whole)),
        ]
    }
}
