//! Puts a turn together from chunks, whatever a server leaves out of them.

use serde_json::{Map, Value};

use super::text_calls::{self, TextCalls};
use super::thoughts::Thoughts;
use crate::{Arguments, Deltas, Finish, ModelError, ToolCall, Turn, Usage};

/// A turn in the making.
pub(super) struct Assembly<'a> {
    out: &'a mut dyn Deltas,
    thoughts: Thoughts,
    text_calls: TextCalls,
    turn: Turn,
    calls: Vec<Part>,
    finish: Option<Finish>,
    /// Whether anything came at all.
    any: bool,
    /// Whether the answer came whole, or its stream to its end.
    whole: bool,
}

/// A call in the making.
#[derive(Default)]
struct Part {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(out: &'a mut dyn Deltas) -> Self {
        Self {
            out,
            thoughts: Thoughts::default(),
            text_calls: TextCalls::default(),
            turn: Turn::default(),
            calls: Vec::new(),
            finish: None,
            any: false,
            whole: false,
        }
    }

    /// A chunk of a stream, or a whole answer. What is not understood is passed over.
    pub(super) fn take(&mut self, chunk: &Value) {
        self.usage(chunk);
        // Some servers number their one answer oddly; the first choice counts.
        let Some(choice) = chunk.get("choices").and_then(Value::as_array).and_then(|choices| choices.first())
        else {
            return;
        };
        self.any = true;
        let delta = choice.get("delta").filter(|delta| delta.is_object());
        let message = delta.or_else(|| choice.get("message"));
        self.whole |= delta.is_none() && message.is_some();
        if let Some(message) = message {
            let text = text_of(message.get("content"));
            self.say(&text);
            let calls = message.get("tool_calls").and_then(Value::as_array);
            for call in calls.into_iter().flatten() {
                self.call(call);
            }
            if let Some(function) = message.get("function_call").and_then(Value::as_object) {
                self.function(None, None, function);
            }
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(match reason {
                "tool_calls" | "function_call" => Finish::Calls,
                "length" | "max_tokens" => Finish::Length,
                "content_filter" => Finish::Filtered,
                _ => Finish::Stop,
            });
        }
    }

    /// The stream said that it is over.
    pub(super) fn ended(&mut self) {
        self.whole = true;
    }

    /// The turn, if there is one. One that broke off is none, whatever came of it.
    pub(super) fn finish(mut self) -> Result<Turn, ModelError> {
        let left = std::mem::take(&mut self.thoughts).rest();
        let mut left = self.text_calls.pass(&left);
        let (withheld, written) = std::mem::take(&mut self.text_calls).rest();
        left.push_str(&withheld);
        if !left.is_empty() {
            self.out.text(&left);
            self.turn.text.push_str(&left);
        }
        for (name, arguments) in written.iter().flat_map(|inner| text_calls::read(inner)) {
            self.calls.push(Part { name, arguments, ..Part::default() });
        }
        let empty = self.turn.text.is_empty() && self.calls.is_empty();
        if !self.any || (self.finish.is_none() && (empty || !self.whole)) {
            return Err(ModelError::Broken);
        }
        let mut turn = self.turn;
        // Calls without a name are dropped.
        turn.calls = self.calls.into_iter().filter(|part| !part.name.is_empty()).map(Part::done).collect();
        turn.finish = match (self.finish, turn.calls.is_empty()) {
            (Some(Finish::Length), _) => Finish::Length,
            (_, false) => Finish::Calls,
            (finish, true) => finish.filter(|finish| *finish != Finish::Calls).unwrap_or_default(),
        };
        Ok(turn)
    }

    fn usage(&mut self, chunk: &Value) {
        let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) else { return };
        let count = |field: &str| usage.get(field).and_then(Value::as_u64).unwrap_or(0);
        self.turn.usage = Usage { input: count("prompt_tokens"), output: count("completion_tokens") };
    }

    fn say(&mut self, text: &str) {
        let said = self.thoughts.pass(text);
        let said = self.text_calls.pass(&said);
        if !said.is_empty() {
            self.out.text(&said);
            self.turn.text.push_str(&said);
        }
    }

    fn call(&mut self, call: &Value) {
        let index = call.get("index").and_then(Value::as_u64);
        let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let empty = Map::new();
        let function = call.get("function").and_then(Value::as_object).unwrap_or(&empty);
        self.function(index, id, function);
    }

    fn function(&mut self, index: Option<u64>, id: Option<&str>, function: &Map<String, Value>) {
        let name = function.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let at = self.place(index, id, name);
        let part = &mut self.calls[at];
        if let (Some(id), true) = (id, part.id.is_empty()) {
            part.id = id.to_owned();
        }
        if let (Some(name), true) = (name, part.name.is_empty()) {
            part.name = name.to_owned();
        }
        match function.get("arguments") {
            Some(Value::String(more)) => part.arguments.push_str(more),
            None | Some(Value::Null) => {}
            // Some servers send an object instead of a string.
            Some(whole) => part.arguments = whole.to_string(),
        }
    }

    /// Which call a piece belongs to: by its id, its index, or else the latest one.
    fn place(&mut self, index: Option<u64>, id: Option<&str>, name: Option<&str>) -> usize {
        let by_id = id.and_then(|id| self.calls.iter().position(|part| part.id == id));
        let by_index = index.and_then(|index| self.calls.iter().rposition(|part| part.index == Some(index)));
        // Some servers number every call 0: another id with a name is another call.
        let other = |at: usize| {
            let part = &self.calls[at];
            name.is_some() && id.is_some_and(|id| !part.id.is_empty() && part.id != id)
        };
        let last = self.calls.len().checked_sub(1);
        let found = by_id.or_else(|| by_index.filter(|at| !other(*at))).or_else(|| {
            let unnumbered = index.is_none() && id.is_none() && (name.is_none());
            last.filter(|_| unnumbered)
        });
        found.unwrap_or_else(|| {
            self.calls.push(Part { index, ..Part::default() });
            self.calls.len() - 1
        })
    }
}

impl Part {
    fn done(self) -> ToolCall {
        ToolCall { id: self.id, name: self.name, arguments: arguments(&self.arguments) }
    }
}

/// The arguments, as far as they are JSON: bare, in a code fence, or encoded twice.
fn arguments(text: &str) -> Arguments {
    let plain = text.trim();
    let plain = plain.strip_prefix("```json").or_else(|| plain.strip_prefix("```")).unwrap_or(plain);
    let plain = plain.strip_suffix("```").unwrap_or(plain).trim();
    if plain.is_empty() {
        return Arguments::Json(Value::Object(Map::new()));
    }
    match serde_json::from_str::<Value>(plain) {
        Ok(Value::String(inner)) => match serde_json::from_str::<Value>(&inner) {
            Ok(value @ Value::Object(_)) => Arguments::Json(value),
            _ => Arguments::Broken(text.to_owned()),
        },
        Ok(value) => Arguments::Json(value),
        Err(_) => Arguments::Broken(text.to_owned()),
    }
}

/// The words of a message: a text, or a list of parts.
fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect::<Vec<_>>().concat()
        }
        _ => String::new(),
    }
}
