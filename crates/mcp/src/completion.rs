//! `completion/complete`: what an argument of a prompt or a resource template could be.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An argument that is being typed.
#[derive(Clone, Copy)]
pub struct Completing<'a> {
    /// Whose it is.
    pub of: Completes<'a>,
    /// Its name.
    pub argument: &'a str,
    /// What was typed so far.
    pub value: &'a str,
}

/// Whose argument it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Completes<'a> {
    /// A prompt's, by its name.
    Prompt(&'a str),
    /// A resource template's, as it is listed.
    Template(&'a str),
}

/// The parameters.
#[derive(Deserialize)]
pub struct CompleteParams {
    r#ref: Reference,
    argument: Argument,
}

#[derive(Deserialize, Serialize)]
#[serde(tag = "type")]
enum Reference {
    #[serde(rename = "ref/prompt")]
    Prompt { name: String },
    #[serde(rename = "ref/resource")]
    Resource { uri: String },
}

#[derive(Deserialize, Serialize)]
struct Argument {
    name: String,
    value: String,
}

impl CompleteParams {
    /// As values of `ref` and `argument`.
    pub fn into_values(self) -> (Value, Value) {
        // Texts alone, which can always be written.
        let value = |written: serde_json::Result<Value>| written.unwrap_or_default();
        (value(serde_json::to_value(self.r#ref)), value(serde_json::to_value(self.argument)))
    }

    /// What they ask for.
    pub fn asked(&self) -> Completing<'_> {
        let of = match &self.r#ref {
            Reference::Prompt { name } => Completes::Prompt(name),
            Reference::Resource { uri } => Completes::Template(uri),
        };
        Completing { of, argument: &self.argument.name, value: &self.argument.value }
    }
}

impl From<Completing<'_>> for CompleteParams {
    fn from(asked: Completing<'_>) -> Self {
        let r#ref = match asked.of {
            Completes::Prompt(name) => Reference::Prompt { name: name.to_owned() },
            Completes::Template(uri) => Reference::Resource { uri: uri.to_owned() },
        };
        let argument = Argument { name: asked.argument.to_owned(), value: asked.value.to_owned() };
        Self { r#ref, argument }
    }
}

/// The result.
#[derive(Default, Deserialize, Serialize)]
pub struct Completed {
    /// What was found.
    pub completion: Completion,
}

/// What an argument could be.
#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Completion {
    /// The best of it.
    pub values: Vec<String>,
    /// How many there are in total.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    /// Whether there are more than these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}
