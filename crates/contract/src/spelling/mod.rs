//! The one spelling in which schemas are published: the forms that the readers of all clients understand.
//!
//! No lists of types (`anyOf` instead, null last), no boolean schemas (but `additionalProperties: false` and its like),
//! no references, `properties` in every object, `enum` instead of constants to choose from. It means the same as the
//! schema that it was made of; only where a reference leads back to itself, or would bring too much, is it wider. Calls
//! are checked against the schema itself.

mod choices;
mod lean;
mod types;

use std::collections::HashMap;

use serde_json::{Map, Value, json};

pub use self::lean::{lean, outline, take_null_out};
use crate::validator::References;

/// What references may bring in all, in bytes: a schema that is used twice is written twice.
const MOST_BROUGHT: usize = 64 * 1024;
/// Schemas within schemas. Readers of JSON stop at 128 levels, and a property takes two.
const DEEPEST: usize = 40;

/// The schema of an object, as it is published.
pub fn of_object(schema: &Value) -> Value {
    let mut spelled = match of(schema) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    if !spelled.contains_key("type") {
        spelled.shift_insert(0, "type".into(), "object".into());
        types::complete(&mut spelled);
    }
    keep_head(schema, &mut spelled);
    spelled.into()
}

/// The dialect and the definitions of an author stay for who reads the schema as one of that dialect, such as the
/// conformance suites; nothing refers to them any more.
fn keep_head(schema: &Value, spelled: &mut Map<String, Value>) {
    if let Some(dialect @ Value::String(_)) = schema.get("$schema") {
        spelled.shift_insert(0, "$schema".into(), dialect.clone());
    }
    let Some(Value::Object(definitions)) = schema.get("$defs") else { return };
    let mut speller = Speller::of(schema);
    let definitions: Map<String, Value> = definitions
        .iter()
        .map(|(name, definition)| {
            let mut one = speller.spell(definition, schema, 1);
            if let (Some(fields), Some(anchor)) = (one.as_object_mut(), definition.get("$anchor")) {
                fields.shift_insert(0, "$anchor".into(), anchor.clone());
            }
            (name.clone(), one)
        })
        .collect();
    spelled.insert("$defs".into(), definitions.into());
}

/// A schema, as it is published.
pub fn of(schema: &Value) -> Value {
    Speller::of(schema).spell(schema, schema, 0)
}

/// Keywords that say something about a value and demand nothing of it; so do those that nobody knows.
pub(crate) fn is_annotation(word: &str) -> bool {
    let known = ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"];
    known.contains(&word) || word.starts_with("x-")
}

struct Speller<'a> {
    references: References<'a>,
    /// How long each schema is that a reference led to.
    sizes: HashMap<*const Value, usize>,
    /// The references that lead here.
    way: Vec<*const Value>,
    brought: usize,
    /// Whether a reference was cut off in what was spelled last.
    cut: bool,
}

impl<'a> Speller<'a> {
    fn of(schema: &'a Value) -> Self {
        let references = References::of(schema);
        Self { references, sizes: HashMap::new(), way: Vec::new(), brought: 0, cut: false }
    }

    fn spell(&mut self, schema: &'a Value, around: &'a Value, depth: usize) -> Value {
        toolroom_work::step(1);
        let fields = match schema {
            Value::Object(_) if depth > DEEPEST => return self.cut_off(schema),
            Value::Object(fields) => fields,
            Value::Bool(false) => return json!({ "not": {} }),
            _ => return json!({}),
        };
        let around = if References::is_resource(schema) { schema } else { around };
        let was_cut = std::mem::take(&mut self.cut);
        let mut spelled = Map::new();
        for (word, value) in fields {
            toolroom_work::step(1);
            self.keyword(word, value, around, depth, &mut spelled);
        }
        if self.cut {
            // What is wider inside would be narrower here.
            spelled.retain(|word, _| !word.starts_with("unevaluated"));
        }
        types::split(&mut spelled);
        types::complete(&mut spelled);
        choices::merge(&mut spelled);
        for word in ["$ref", "$dynamicRef"] {
            let Some(reference) = fields.get(word).and_then(Value::as_str) else { continue };
            let target = self.follow(reference, around, depth);
            also(&mut spelled, target);
        }
        choices::unwrap(&mut spelled);
        self.cut |= was_cut;
        spelled.into()
    }

    fn keyword(
        &mut self,
        word: &str,
        value: &'a Value,
        around: &'a Value,
        depth: usize,
        spelled: &mut Map<String, Value>,
    ) {
        let before = std::mem::take(&mut self.cut);
        match (word, value) {
            // Where they lead is written in their place.
            ("$ref" | "$dynamicRef" | "$defs" | "definitions", _) => {}
            ("$id" | "$schema" | "$anchor" | "$dynamicAnchor" | "$vocabulary" | "$comment", _) => {}
            (
                "additionalProperties" | "unevaluatedProperties" | "additionalItems" | "unevaluatedItems",
                Value::Bool(_),
            ) => {
                spelled.insert(word.into(), value.clone());
            }
            ("const", value) => {
                spelled.insert("enum".into(), json!([value]));
            }
            ("oneOf" | "anyOf", Value::Array(parts)) => {
                let parts = self.each(parts, around, depth);
                // Where one was cut off, two may fit.
                let word = if self.cut { "anyOf" } else { word };
                match spelled.contains_key(word) {
                    true => also(spelled, json!({ word: parts })),
                    false => _ = spelled.insert(word.into(), parts.into()),
                }
            }
            ("allOf", Value::Array(parts)) => {
                for part in self.each(parts, around, depth) {
                    also(spelled, part);
                }
            }
            ("prefixItems", Value::Array(parts)) => {
                let parts = self.each(parts, around, depth);
                spelled.insert(word.into(), parts.into());
            }
            ("properties" | "patternProperties" | "dependentSchemas", Value::Object(named)) => {
                let named: Map<String, Value> = named
                    .iter()
                    .map(|(name, part)| (name.clone(), self.spell(part, around, depth + 1)))
                    .collect();
                spelled.insert(word.into(), named.into());
            }
            ("if" | "then" | "else" | "not" | "contains", part) => {
                let part = self.spell(part, around, depth + 1);
                if !self.cut {
                    spelled.insert(word.into(), part);
                }
            }
            (
                "items"
                | "additionalItems"
                | "unevaluatedItems"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "propertyNames"
                | "contentSchema",
                part,
            ) => {
                let part = self.spell(part, around, depth + 1);
                spelled.insert(word.into(), part);
            }
            (word, value) => {
                spelled.insert(word.into(), value.clone());
            }
        }
        self.cut |= before;
    }

    fn each(&mut self, parts: &'a [Value], around: &'a Value, depth: usize) -> Vec<Value> {
        parts.iter().map(|part| self.spell(part, around, depth + 1)).collect()
    }

    /// What a reference leads to, unless that is on the way here already or too much.
    fn follow(&mut self, reference: &'a str, around: &'a Value, depth: usize) -> Value {
        let Some((target, around)) = self.references.only_target(reference, around) else {
            self.cut = true;
            return json!({});
        };
        let address = std::ptr::from_ref(target);
        let size = *self.sizes.entry(address).or_insert_with(|| size(target));
        if self.way.contains(&address) || self.brought + size > MOST_BROUGHT {
            return self.cut_off(target);
        }
        self.brought += size;
        self.way.push(address);
        let spelled = self.spell(target, around, depth + 1);
        self.way.pop();
        spelled
    }

    /// What stands in the place of a schema that goes on without end.
    fn cut_off(&mut self, schema: &Value) -> Value {
        self.cut = true;
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => {
                json!({ "type": "object", "properties": {}, "description": "Goes on in the same way." })
            }
            Some("array") => {
                json!({ "type": "array", "items": {}, "description": "Goes on in the same way." })
            }
            _ => json!({}),
        }
    }
}

/// Visits every schema that a published one has in it.
fn each_part(fields: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Value)) {
    for (word, value) in fields {
        match (word.as_str(), value) {
            ("properties" | "patternProperties" | "dependentSchemas", Value::Object(named)) => {
                named.values_mut().for_each(&mut *visit);
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(parts)) => {
                parts.iter_mut().for_each(&mut *visit);
            }
            (
                "items"
                | "additionalProperties"
                | "propertyNames"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "unevaluatedProperties"
                | "unevaluatedItems",
                part,
            ) => visit(part),
            _ => {}
        }
    }
}

/// Demands another schema of the same value.
fn also(spelled: &mut Map<String, Value>, other: Value) {
    match spelled.get_mut("allOf") {
        Some(Value::Array(parts)) => parts.push(other),
        _ => _ = spelled.insert("allOf".into(), json!([other])),
    }
}

/// Where a keyword stands: what is written in its place stands there too.
fn position(spelled: &Map<String, Value>, word: &str) -> Option<usize> {
    spelled.keys().position(|known| known == word)
}

/// About how long a value is when it is written out.
fn size(value: &Value) -> usize {
    toolroom_work::step(1);
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| size(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + size(value) + 4).sum::<usize>() + 2
        }
        _ => 5,
    }
}
