//! What a call is about: found by pointers into its parameters and its result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Effect;
use super::receipt_text::quoted;

/// Where a call's targets are, and what they are called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// What one of them is called, such as "task"; the others are words that people also use for it.
    #[schemars(length(min = 1, max = 8))]
    pub nouns: Vec<String>,
    /// The field that holds the id.
    pub id: String,
    /// The field that holds the title, beside the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Pointers to the ids, into `{"params": …, "data": …}`; `*` stands for each item of a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<String>,
}

/// A target by its id and, where it is known, its title.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// What it is: "task".
    pub noun: String,
    /// A number or a text.
    pub id: Value,
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl Named {
    /// Whether both are the same thing.
    pub fn is(&self, other: &Self) -> bool {
        self.noun == other.noun && self.id == other.id
    }

    /// In words: `task 5 “Buy milk”`.
    pub fn in_words(&self, names: &[Named]) -> String {
        let known = || names.iter().find(|one| one.is(self)).and_then(|one| one.title.as_deref());
        let id = self.id.as_str().map_or_else(|| self.id.to_string(), super::line);
        match self.title.as_deref().or_else(known) {
            Some(title) => format!("{} {id} {}", self.noun, quoted(title)),
            None => format!("{} {id}", self.noun),
        }
    }
}

impl Target {
    /// A target of that noun.
    pub fn new(nouns: &[&str], id: &str, title: &str) -> Self {
        Self {
            nouns: nouns.iter().map(|noun| (*noun).to_owned()).collect(),
            id: id.to_owned(),
            title: Some(title.to_owned()),
            at: Vec::new(),
        }
    }

    /// With its ids at these places.
    pub fn at<'a>(mut self, places: impl IntoIterator<Item = &'a str>) -> Self {
        self.at = places.into_iter().map(str::to_owned).collect();
        self
    }

    /// What it is called.
    pub fn noun(&self) -> &str {
        self.nouns.first().map_or("thing", String::as_str)
    }

    /// The target whose id stands in `parent`.
    pub(super) fn of_id(&self, id: &Value, parent: &Value) -> Option<Named> {
        let title = self.title.as_deref().and_then(|title| parent.get(title)?.as_str());
        Some(Named { noun: self.noun().to_owned(), id: plain(id)?, title: title.map(str::to_owned) })
    }

    /// The ids below `root` that pointers with this beginning lead to.
    pub(super) fn below(&self, root: &str, value: &Value) -> Vec<Named> {
        let mut found: Vec<Named> = Vec::new();
        let pointers = self.at.iter().filter_map(|pointer| pointer.strip_prefix(root));
        for pointer in pointers.filter(|rest| rest.starts_with('/')) {
            visit(value, value, pointer, &mut |id, parent| {
                if let Some(one) = self.of_id(id, parent)
                    && !found.iter().any(|known| known.is(&one))
                {
                    found.push(one);
                }
            });
        }
        found
    }

    /// Everything that a result names, wherever it stands in it.
    pub fn names_in(&self, data: &Value, names: &mut Vec<Named>) {
        match data {
            Value::Array(items) => items.iter().for_each(|item| self.names_in(item, names)),
            Value::Object(fields) => {
                let one = fields.get(&self.id).and_then(|id| self.of_id(id, data));
                if let Some(one) = one.filter(|one| one.title.is_some()) {
                    names.retain(|known| !known.is(&one));
                    names.push(one);
                }
                fields.values().for_each(|value| self.names_in(value, names));
            }
            _ => {}
        }
    }
}

impl Effect {
    /// What a call is about: as its result has it, else as its parameters have it.
    pub fn targets(&self, params: &Value, data: &Value) -> Vec<Named> {
        let Some(target) = &self.target else { return Vec::new() };
        let found = target.below("/data", data);
        if found.is_empty() { target.below("/params", params) } else { found }
    }
}

/// Leads to each value at a pointer, with what it stands in.
fn visit<'a>(
    value: &'a Value,
    parent: &'a Value,
    pointer: &str,
    found: &mut impl FnMut(&'a Value, &'a Value),
) {
    let Some(rest) = pointer.strip_prefix('/') else { return found(value, parent) };
    let (key, rest) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    match (key, value) {
        ("*", Value::Array(items)) => items.iter().for_each(|item| visit(item, value, rest, found)),
        _ => {
            if let Some(next) = value.pointer(&format!("/{key}")) {
                visit(next, value, rest, found);
            }
        }
    }
}

/// Ids are whole numbers and texts; `42.0` is 42.
fn plain(id: &Value) -> Option<Value> {
    let whole = || id.as_f64().filter(|id| id.fract() == 0.0 && id.abs() < 9e15).map(|id| (id as i64).into());
    match id {
        Value::Number(number) if number.is_i64() => Some(id.clone()),
        Value::Number(_) => whole(),
        Value::String(text) if !text.is_empty() => Some(id.clone()),
        _ => None,
    }
}
