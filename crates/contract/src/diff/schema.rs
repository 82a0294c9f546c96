//! What a change of a schema means: narrower input breaks callers, wider output breaks readers.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Change, Impact};
use crate::validator::child;

/// Whose side of the call a schema describes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// What callers send.
    Input,
    /// What callers get.
    Output,
}

/// How the set of values that fit has changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Narrower,
    Wider,
    /// Both, or unknown.
    Other,
}

/// Keywords that bound from above, and from below.
const UPPER: &[&str] = &["maxLength", "maximum", "exclusiveMaximum", "maxItems", "maxProperties"];
const LOWER: &[&str] = &["minLength", "minimum", "exclusiveMinimum", "minItems", "minProperties"];
/// Keywords that say nothing about which values fit.
const WORDS: &[&str] =
    &["description", "title", "examples", "$comment", "deprecated", "readOnly", "writeOnly"];
/// Keywords with a comparison of their own below.
const KNOWN: &[&str] = &["type", "enum", "properties", "required", "items", "additionalProperties"];

pub(super) fn compare(side: Side, pointer: &str, old: &Value, new: &Value) -> Vec<Change> {
    let mut comparison = Comparison { side, found: Vec::new() };
    comparison.schema(pointer, old, new);
    comparison.found
}

struct Comparison {
    side: Side,
    found: Vec<Change>,
}

impl Comparison {
    fn schema(&mut self, at: &str, old: &Value, new: &Value) {
        if old == new {
            return;
        }
        let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else {
            return self.note(at, Turn::Other, "the schema has another form");
        };
        self.types(at, old.get("type"), new.get("type"));
        self.choices(at, old.get("enum"), new.get("enum"));
        self.bounds(at, old, new);
        self.fields(at, old, new);
        match (old.get("items"), new.get("items")) {
            (Some(old), Some(new)) => self.schema(&child(at, "items"), old, new),
            (None, Some(_)) => self.note(at, Turn::Narrower, "the items are now restricted"),
            (Some(_), None) => self.note(at, Turn::Wider, "the items are no longer restricted"),
            (None, None) => {}
        }
        self.rest(at, old, new);
    }

    fn note(&mut self, at: &str, turn: Turn, message: impl Into<String>) {
        let breaks = match (self.side, turn) {
            (_, Turn::Other) | (Side::Input, Turn::Narrower) | (Side::Output, Turn::Wider) => true,
            (Side::Input, Turn::Wider) | (Side::Output, Turn::Narrower) => false,
        };
        let impact = if breaks { Impact::Breaking } else { Impact::Metadata };
        self.found.push(Change { impact, pointer: at.to_owned(), message: message.into() });
    }

    fn types(&mut self, at: &str, old: Option<&Value>, new: Option<&Value>) {
        let (before, after) = (type_names(old), type_names(new));
        if before != after {
            let turn = turn_of_sets(before.as_ref(), after.as_ref());
            self.note(at, turn, format!("type was {}, is {}", shown(old), shown(new)));
        }
    }

    fn choices(&mut self, at: &str, old: Option<&Value>, new: Option<&Value>) {
        let texts = |list: Option<&Value>| -> Option<BTreeSet<String>> {
            Some(list?.as_array()?.iter().map(Value::to_string).collect())
        };
        let (before, after) = (texts(old), texts(new));
        if before != after {
            let turn = turn_of_sets(before.as_ref(), after.as_ref());
            self.note(at, turn, format!("the choices were {}, are {}", shown(old), shown(new)));
        }
    }

    fn bounds(&mut self, at: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        for (keywords, upper) in [(UPPER, true), (LOWER, false)] {
            for keyword in keywords {
                let limit = |schema: &Map<String, Value>| schema.get(*keyword).and_then(Value::as_f64);
                let (before, after) = (limit(old), limit(new));
                let tighter = match (before, after) {
                    (Some(before), Some(after)) if before == after => continue,
                    (None, None) => continue,
                    (Some(before), Some(after)) => (after < before) == upper,
                    (None, Some(_)) => true,
                    (Some(_), None) => false,
                };
                let turn = if tighter { Turn::Narrower } else { Turn::Wider };
                let message =
                    format!("{keyword} was {}, is {}", shown(old.get(*keyword)), shown(new.get(*keyword)));
                self.note(at, turn, message);
            }
        }
    }

    fn fields(&mut self, at: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        let none = Map::new();
        let named =
            |schema: &'_ Map<String, Value>| schema.get("properties").and_then(Value::as_object).cloned();
        let (before, after) = (named(old).unwrap_or_else(|| none.clone()), named(new).unwrap_or(none));
        let place = child(at, "properties");
        for (name, schema) in &before {
            match after.get(name) {
                Some(other) => self.schema(&child(&place, name), schema, other),
                None => self.field_gone(&child(&place, name), name, new),
            }
        }
        for name in after.keys().filter(|name| !before.contains_key(*name)) {
            // Callers who sent it were refused, readers have never seen it: a new optional field harms nobody.
            self.found.push(Change {
                impact: Impact::Metadata,
                pointer: child(&place, name),
                message: format!("'{name}' is new"),
            });
        }
        self.required(at, old, new);
        let open =
            |schema: &Map<String, Value>| schema.get("additionalProperties") != Some(&Value::Bool(false));
        match (open(old), open(new)) {
            (true, false) => self.note(at, Turn::Narrower, "unknown fields are now refused"),
            (false, true) => self.found.push(Change {
                impact: Impact::Metadata,
                pointer: at.to_owned(),
                message: "unknown fields are now accepted".into(),
            }),
            _ => {}
        }
    }

    fn field_gone(&mut self, at: &str, name: &str, new: &Map<String, Value>) {
        let closed = new.get("additionalProperties") == Some(&Value::Bool(false));
        let impact = match self.side {
            Side::Output => Impact::Breaking,
            Side::Input if closed => Impact::Breaking,
            Side::Input => Impact::Behaviour,
        };
        let message = format!("'{name}' is gone");
        self.found.push(Change { impact, pointer: at.to_owned(), message });
    }

    fn required(&mut self, at: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        let names = |schema: &Map<String, Value>| -> BTreeSet<String> {
            let list = schema.get("required").and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let (before, after) = (names(old), names(new));
        for name in after.difference(&before) {
            self.note(
                &child(&child(at, "properties"), name),
                Turn::Narrower,
                format!("'{name}' is now required"),
            );
        }
        for name in before.difference(&after) {
            self.note(
                &child(&child(at, "properties"), name),
                Turn::Wider,
                format!("'{name}' is no longer required"),
            );
        }
    }

    /// Keywords that are not compared above: a pattern, a format, a combination. Unknown, so they count as breaking.
    fn rest(&mut self, at: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        let keywords: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for keyword in keywords {
            let name = keyword.as_str();
            if KNOWN.contains(&name) || UPPER.contains(&name) || LOWER.contains(&name) {
                continue;
            }
            let (before, after) = (old.get(name), new.get(name));
            if before == after {
                continue;
            }
            if name == "default" {
                // On the input it is filled in where a caller says nothing; on the output it is only words.
                let impact = if self.side == Side::Input { Impact::Behaviour } else { Impact::Metadata };
                let message = format!("default was {}, is {}", shown(before), shown(after));
                self.found.push(Change { impact, pointer: at.to_owned(), message });
                continue;
            }
            if WORDS.contains(&name) {
                let message = format!("{name} is different");
                self.found.push(Change { impact: Impact::Metadata, pointer: at.to_owned(), message });
                continue;
            }
            let turn = match (before, after) {
                (None, Some(_)) if matches!(name, "pattern" | "format" | "const") => Turn::Narrower,
                (Some(_), None) if matches!(name, "pattern" | "format" | "const") => Turn::Wider,
                _ => Turn::Other,
            };
            self.note(at, turn, format!("{name} was {}, is {}", shown(before), shown(after)));
        }
    }
}

/// The types that fit; a number takes integers too. `None` is any.
fn type_names(value: Option<&Value>) -> Option<BTreeSet<String>> {
    let mut names: BTreeSet<String> = match value? {
        Value::String(one) => [one.clone()].into(),
        Value::Array(many) => many.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => return None,
    };
    if names.contains("number") {
        names.insert("integer".into());
    }
    Some(names)
}

fn turn_of_sets(old: Option<&BTreeSet<String>>, new: Option<&BTreeSet<String>>) -> Turn {
    match (old, new) {
        (Some(old), Some(new)) if new.is_subset(old) => Turn::Narrower,
        (Some(old), Some(new)) if new.is_superset(old) => Turn::Wider,
        (Some(_), Some(_)) | (None, None) => Turn::Other,
        (None, Some(_)) => Turn::Narrower,
        (Some(_), None) => Turn::Wider,
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "not set".to_owned(), Value::to_string)
}
