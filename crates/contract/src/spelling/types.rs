//! One type for each schema: a list of types becomes a choice of schemas with one each.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{also, position};

/// The types there are.
const KINDS: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];
/// Keywords that look at values of one type alone.
const STRING: [&str; 6] =
    ["minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType", "contentSchema"];
const NUMBER: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const ARRAY: [&str; 8] =
    ["items", "prefixItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems"];
const OBJECT: [&str; 8] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "required",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
];

/// Gives a schema that names several types, or values of several, a choice of schemas in their place.
pub(super) fn split(spelled: &mut Map<String, Value>) {
    let types = types_of(spelled);
    let at = match (position(spelled, "type"), types.is_empty()) {
        (_, true) => return,
        (Some(at), _) => at,
        (None, _) => position(spelled, "enum").unwrap_or(0),
    };
    let values = match spelled.get("enum") {
        Some(Value::Array(values)) => Some(values.clone()),
        _ => None,
    };
    let mut parts: Vec<Map<String, Value>> = Vec::new();
    for kind in &types {
        let mut part = Map::new();
        part.insert("type".into(), kind.as_str().into());
        if let Some(values) = &values {
            toolroom_work::step(values.len());
            let fitting: Vec<Value> = values.iter().filter(|value| is_a(kind, value)).cloned().collect();
            match (fitting.is_empty(), kind.as_str()) {
                (true, _) => continue,
                (false, "null") => {}
                (false, _) => _ = part.insert("enum".into(), fitting.into()),
            }
        }
        parts.push(part);
    }
    spelled.shift_remove("type");
    spelled.shift_remove("enum");
    match parts.len() {
        0 => _ = spelled.shift_insert(at.min(spelled.len()), "not".into(), json!({})),
        1 => {
            for (word, value) in parts.remove(0).into_iter().rev() {
                spelled.shift_insert(at.min(spelled.len()), word, value);
            }
        }
        _ => {
            let has_string = types.iter().any(|kind| kind == "string");
            for part in &mut parts {
                take_own(spelled, part, has_string);
                complete(part);
            }
            let of_no_type: Vec<String> =
                spelled.keys().filter(|word| belongs_to(word).is_some()).cloned().collect();
            of_no_type.iter().for_each(|word| _ = spelled.shift_remove(word));
            let parts: Vec<Value> = parts.into_iter().map(Value::Object).collect();
            match spelled.contains_key("anyOf") {
                true => also(spelled, json!({ "anyOf": parts })),
                false => _ = spelled.shift_insert(at.min(spelled.len()), "anyOf".into(), parts.into()),
            }
        }
    }
}

/// Every object says which properties it has, if only none.
pub(super) fn complete(spelled: &mut Map<String, Value>) {
    if spelled.get("type").is_some_and(|kind| kind == "object") && !spelled.contains_key("properties") {
        let at = position(spelled, "type").map_or(0, |at| at + 1);
        spelled.shift_insert(at, "properties".into(), json!({}));
    }
}

/// The types that a schema names, or those of the values that it lists; null last.
fn types_of(spelled: &Map<String, Value>) -> Vec<String> {
    let mut types: Vec<String> = match (spelled.get("type"), spelled.get("enum")) {
        (Some(Value::String(one)), _) => vec![one.clone()],
        (Some(Value::Array(several)), _) => {
            several.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        (_, Some(Value::Array(values))) => values.iter().map(|value| kind_of(value).to_owned()).collect(),
        _ => Vec::new(),
    };
    if types.iter().any(|kind| kind == "number") {
        types.retain(|kind| kind != "integer");
    }
    let (nulls, mut others): (Vec<String>, Vec<String>) = types.into_iter().partition(|kind| kind == "null");
    others.extend(nulls);
    let mut seen: HashSet<String> = HashSet::new();
    let mut once: Vec<String> = others.into_iter().filter(|kind| seen.insert(kind.clone())).collect();
    if once.len() > KINDS.len() {
        // Nothing is of a type that does not exist.
        once.retain(|kind| KINDS.contains(&kind.as_str()));
    }
    once
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        kind => kind == kind_of(value),
    }
}

fn belongs_to(word: &str) -> Option<&'static str> {
    match word {
        word if STRING.contains(&word) => Some("string"),
        word if NUMBER.contains(&word) => Some("number"),
        word if ARRAY.contains(&word) => Some("array"),
        word if OBJECT.contains(&word) => Some("object"),
        _ => None,
    }
}

/// Moves the keywords of its type into the schema of one type.
fn take_own(spelled: &mut Map<String, Value>, part: &mut Map<String, Value>, has_string: bool) {
    let kind = match part.get("type").and_then(Value::as_str) {
        Some("integer") => "number",
        Some(kind) => kind,
        None => return,
    };
    let kind = kind.to_owned();
    let own: Vec<String> =
        spelled.keys().filter(|word| belongs_to(word) == Some(kind.as_str())).cloned().collect();
    for word in own {
        part.extend(spelled.shift_remove(&word).map(|value| (word, value)));
    }
    if kind == "string" || (kind == "number" && !has_string) {
        part.extend(spelled.shift_remove("format").map(|value| ("format".to_owned(), value)));
    }
}
