//! What a call does, as the tool's definition says it: the kind of change, what it is about, a receipt in words, and
//! the tool that undoes it. Receipts, confirmations, the guard and guides are made from this, and from nothing else.

mod check;
mod receipt_text;
mod target;
mod template;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::definition::{Argument, Category, ToolDefinition};

pub use check::check;
pub use receipt_text::{kind_of_receipt, line, loosely, quoted};
pub use target::{Named, Target};

/// What a call does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Effect {
    /// What happens.
    pub kind: EffectKind,
    /// What else one call may do, as a batch does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<EffectKind>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// For a query: how it shows its targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<Shows>,
    /// What a person is asked before it, as in "delete {target}": the first template that can be filled. Without one,
    /// words that fit the kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub question: Vec<String>,
    /// What was done, as in "Deleted {target}.": the first template that can be filled. Without one, words that fit the kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipt: Vec<String>,
    /// A JSON pointer to a list in the result: each item has its own receipt, and is `/item` there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// Templates for the words of a list, such as the names of changed fields.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub words: BTreeMap<String, Vec<String>>,
    /// What takes it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Undo>,
}

/// A kind of change.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum EffectKind {
    /// Something new is there.
    Create,
    /// Something differs from before.
    Update,
    /// Something is done, or open again.
    Complete,
    /// Something is gone.
    Delete,
    /// Something is back.
    Restore,
    /// Something was sent to somebody.
    Send,
    /// Something else happened.
    #[default]
    Run,
    /// Nothing is changed.
    None,
}

/// How a query shows its targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Shows {
    /// One, by its id.
    One,
    /// All, page by page.
    List,
    /// Those that fit some words.
    Matches,
}

/// The call that takes an effect back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    /// The tool.
    pub tool: String,
    /// Its arguments, from the call and its result, or fixed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, Argument>,
}

impl Effect {
    /// An effect of that kind, with words that fit every tool of the kind.
    pub fn new(kind: EffectKind, target: Target) -> Self {
        Self { kind, target: Some(target), ..Self::default() }
    }

    /// What a query shows.
    pub fn shows(shows: Shows, target: Target) -> Self {
        Self { shows: Some(shows), ..Self::new(EffectKind::None, target) }
    }

    /// With receipts other than the usual one.
    pub fn receipts<'a>(mut self, templates: impl IntoIterator<Item = &'a str>) -> Self {
        self.receipt = templates.into_iter().map(str::to_owned).collect();
        self
    }

    /// With templates for the words of lists.
    pub fn wording<'a>(mut self, words: impl IntoIterator<Item = (&'a str, &'a [&'a str])>) -> Self {
        let owned = |templates: &[&str]| templates.iter().map(|one| (*one).to_owned()).collect();
        self.words = words.into_iter().map(|(word, templates)| (word.to_owned(), owned(templates))).collect();
        self
    }

    /// What a definition says; where it says nothing, what its category allows.
    pub fn of(definition: &ToolDefinition) -> Self {
        let kind = match definition.category {
            Category::Mutation => EffectKind::Run,
            Category::Query | Category::Analysis | Category::Generation => EffectKind::None,
        };
        definition.effect.clone().unwrap_or(Self { kind, ..Self::default() })
    }

    /// Everything that a call may do.
    pub fn kinds(&self) -> impl Iterator<Item = EffectKind> + '_ {
        std::iter::once(self.kind).chain(self.also.iter().copied())
    }

    /// The words for what it is about; the first is the one to use.
    pub fn nouns(&self) -> &[String] {
        self.target.as_ref().map(|target| target.nouns.as_slice()).unwrap_or_default()
    }

    /// The arguments that take back a call, if its result has them all.
    pub fn undo_arguments(&self, params: &Value, data: &Value) -> Option<Value> {
        let fill = |(name, argument): (&String, &Argument)| {
            let value = match argument {
                Argument::Value(value) => value.clone(),
                Argument::From(pointer) => match pointer.strip_prefix("/params") {
                    Some(rest) => params.pointer(rest)?.clone(),
                    None => data.pointer(pointer.strip_prefix("/data")?)?.clone(),
                },
            };
            Some((name.clone(), value))
        };
        let arguments = self.undo.as_ref()?.arguments.iter().map(fill).collect::<Option<Map<_, _>>>()?;
        Some(Value::Object(arguments))
    }
}
