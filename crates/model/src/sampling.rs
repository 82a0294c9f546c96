//! How a model is to choose its words: what a client says of that is passed on to the model's server.

use serde_json::{Map, Value};

/// Parameters of sampling, each under the name that chat completions have for it. Empty leaves all to the server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampling(Map<String, Value>);

/// A parameter that cannot be passed on.
#[derive(Debug, thiserror::Error)]
#[error("{field} must be {expected}.")]
pub struct BadParameter {
    /// Its name.
    pub field: &'static str,
    /// What it must be.
    pub expected: &'static str,
}

/// What a parameter may be.
enum Kind {
    Number(f64, f64),
    Whole(i64),
    Flag,
    Word,
    Words,
    Object,
}

/// What is passed on. Ranges that servers differ in are left to the server.
const PARAMETERS: &[(&str, Kind, &str)] = &[
    ("temperature", Kind::Number(0.0, 2.0), "a number from 0 to 2"),
    ("top_p", Kind::Number(0.0, 1.0), "a number from 0 to 1"),
    ("min_p", Kind::Number(0.0, 1.0), "a number from 0 to 1"),
    ("top_k", Kind::Whole(-1), "a whole number from -1"),
    ("presence_penalty", Kind::Number(-2.0, 2.0), "a number from -2 to 2"),
    ("frequency_penalty", Kind::Number(-2.0, 2.0), "a number from -2 to 2"),
    ("repetition_penalty", Kind::Number(0.0, 10.0), "a number from 0 to 10"),
    ("repeat_penalty", Kind::Number(0.0, 10.0), "a number from 0 to 10"),
    ("max_tokens", Kind::Whole(1), "a whole number from 1"),
    ("max_completion_tokens", Kind::Whole(1), "a whole number from 1"),
    ("seed", Kind::Whole(i64::MIN), "a whole number"),
    ("stop", Kind::Words, "a text or a list of texts"),
    ("logit_bias", Kind::Object, "an object"),
    ("response_format", Kind::Object, "an object"),
    ("reasoning_effort", Kind::Word, "a text"),
    ("verbosity", Kind::Word, "a text"),
    ("parallel_tool_calls", Kind::Flag, "true or false"),
];

impl Sampling {
    /// The parameters among these fields; others are not about sampling, and null is as good as nothing.
    pub fn read(sent: &Map<String, Value>) -> Result<Self, BadParameter> {
        let mut found = Map::new();
        for (field, kind, expected) in PARAMETERS {
            let Some(value) = sent.get(*field).filter(|value| !value.is_null()) else { continue };
            // Some programs write -1 for "no limit".
            if field.starts_with("max_") && value.as_i64().is_some_and(|number| number < 0) {
                continue;
            }
            if !kind.takes(value) {
                return Err(BadParameter { field, expected });
            }
            found.insert((*field).to_owned(), value.clone());
        }
        Ok(Self(found))
    }

    /// Whether everything is left to the server.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the client wants an answer of at most some length.
    pub fn limits_length(&self) -> bool {
        self.0.contains_key("max_tokens") || self.0.contains_key("max_completion_tokens")
    }

    /// The parameters by name.
    pub fn fields(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter()
    }
}

impl Kind {
    fn takes(&self, value: &Value) -> bool {
        match self {
            Self::Number(least, most) => {
                value.as_f64().is_some_and(|number| (*least..=*most).contains(&number))
            }
            Self::Whole(least) => value.as_i64().is_some_and(|number| number >= *least),
            Self::Flag => value.is_boolean(),
            Self::Word => value.is_string(),
            Self::Words => {
                value.is_string() || value.as_array().is_some_and(|words| words.iter().all(Value::is_string))
            }
            Self::Object => value.is_object(),
        }
    }
}
