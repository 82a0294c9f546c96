//! Calls that a model writes into its text, because its server does not read the model's own form of them. They are
//! taken out of what is said. In code, where somebody may show that form, they are text like any other.

use serde_json::{Deserializer, Value};

/// Lets through what is said, and keeps what is a call.
#[derive(Default)]
pub struct TextCalls {
    /// The beginning of what may be a mark.
    held: String,
    /// The calls that were closed, as they were written.
    found: Vec<String>,
    /// A call that is not closed yet, and the mark that closes it.
    open: Option<(String, &'static str)>,
    code: Code,
}

/// A call as it was written: its name, and its arguments as text.
pub(super) type Written = (String, String);

/// The marks around calls. One without an end goes on to the end of the text.
static MARKS: [(&str, &str); 4] = [
    ("<tool_call>", "</tool_call>"),
    ("<tool_calls>", "</tool_calls>"),
    ("<function_call>", "</function_call>"),
    ("[TOOL_CALLS]", ""),
];

impl TextCalls {
    /// What to pass on of this piece and of what was withheld.
    pub fn pass(&mut self, piece: &str) -> String {
        let mut said = String::with_capacity(piece.len());
        for letter in piece.chars() {
            toolroom_work::step(1);
            match &mut self.open {
                Some((inner, close)) => {
                    inner.push(letter);
                    if !close.is_empty() && inner.ends_with(*close) {
                        inner.truncate(inner.len() - close.len());
                        self.found.push(std::mem::take(inner));
                        self.open = None;
                    }
                }
                None => self.outside(letter, &mut said),
            }
        }
        said
    }

    /// What was withheld and is said after all, and the calls, of which the last may have been cut off.
    pub fn rest(mut self) -> (String, Vec<String>) {
        self.found.extend(self.open.map(|(inner, _)| inner));
        (self.held, self.found)
    }

    fn outside(&mut self, letter: char, said: &mut String) {
        self.held.push(letter);
        while !self.held.is_empty() {
            let marks = MARKS.iter().filter(|_| !self.code.is_in());
            let mut fitting = marks.filter(|(open, _)| open.starts_with(&self.held));
            match fitting.next() {
                Some((open, close)) if *open == self.held => {
                    self.held.clear();
                    self.open = Some((String::new(), close));
                    return;
                }
                // More of it must come before this can be told.
                Some(_) => return,
                None => {
                    let first = self.held.remove(0);
                    self.code.follow(first);
                    said.push(first);
                }
            }
        }
    }
}

/// Whether the text is within code: a block between three backticks, or a line's part between one or two.
#[derive(Default)]
struct Code {
    block: bool,
    inline: bool,
    /// Backticks just now.
    ticks: usize,
}

impl Code {
    fn follow(&mut self, letter: char) {
        if letter == '`' {
            self.ticks += 1;
            return;
        }
        (self.block, self.inline) = self.settled();
        self.ticks = 0;
        self.inline &= letter != '\n';
    }

    fn is_in(&self) -> bool {
        let (block, inline) = self.settled();
        block || inline
    }

    fn settled(&self) -> (bool, bool) {
        match self.ticks {
            0 => (self.block, self.inline),
            // Within a block they are letters like any other.
            1 | 2 => (self.block, self.inline == self.block),
            _ => (!self.block, false),
        }
    }
}

/// The calls in what stands between two marks. What is none of them is a call that cannot be read, so that the model is
/// told to make it properly.
pub(super) fn read(inner: &str) -> Vec<Written> {
    toolroom_work::step(inner.len());
    let plain = inner.trim();
    let plain = plain.strip_prefix("```json").or_else(|| plain.strip_prefix("```")).unwrap_or(plain);
    let plain = plain.strip_suffix("```").unwrap_or(plain);
    let values: Result<Vec<Value>, _> = Deserializer::from_str(plain).into_iter().collect();
    let unreadable = || vec![("tool_call".to_owned(), inner.to_owned())];
    let Ok(values) = values else { return unreadable() };
    let each = values.iter().flat_map(|value| match value {
        Value::Array(many) => many.iter().collect(),
        one => vec![one],
    });
    each.map(written).collect::<Option<Vec<_>>>().filter(|calls| !calls.is_empty()).unwrap_or_else(unreadable)
}

fn written(call: &Value) -> Option<Written> {
    let call = call.get("function").filter(|inner| inner.is_object()).unwrap_or(call);
    let name = ["name", "function"].iter().find_map(|field| call.get(field)?.as_str())?;
    let arguments = ["arguments", "parameters", "args"].iter().find_map(|field| call.get(field));
    let arguments = match arguments {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    Some((name.to_owned(), arguments))
}
