//! A published schema in few words: what a caller must know to make a call, and what an answer has. Everything else is
//! checked all the same, and shown by the contract.

use serde_json::{Map, Value, json};

use super::{choices, each_part};

/// Limits and names that a caller rarely needs.
const LEFT_OUT: [&str; 11] = [
    "$schema",
    "$defs",
    "title",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];
/// The largest whole number that every reader of JSON knows: no limit to speak of.
const LARGEST: f64 = 9_007_199_254_740_991.0;

/// The schema of parameters in few words, its descriptions as `short` makes them.
pub fn lean(schema: &Value, short: fn(&str) -> String) -> Value {
    let mut lean = schema.clone();
    trim(&mut lean, short);
    lean
}

fn trim(schema: &mut Value, short: fn(&str) -> String) {
    let Value::Object(fields) = schema else { return };
    fields.retain(|word, value| {
        let closes = word == "additionalProperties" && value.is_boolean();
        let endless = matches!(word.as_str(), "maximum" | "minimum")
            && value.as_f64().is_some_and(|limit| limit.abs() >= LARGEST);
        !LEFT_OUT.contains(&word.as_str()) && !closes && !endless
    });
    if let Some(Value::String(text)) = fields.get_mut("description") {
        *text = short(text);
    }
    each_part(fields, &mut |part| trim(part, short));
}

/// The schema of an answer down to its own fields, each with its type.
pub fn outline(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut outline = typed(schema);
    if let Some(Value::Object(named)) = fields.get("properties") {
        let named: Map<String, Value> =
            named.iter().map(|(name, part)| (name.clone(), typed(part))).collect();
        outline["properties"] = named.into();
    }
    if let Some(required) = fields.get("required") {
        outline["required"] = required.clone();
    }
    outline
}

/// A schema that says no more than the type.
fn typed(schema: &Value) -> Value {
    let of_parts = |word: &str| {
        let parts = schema.get(word)?.as_array()?.iter().map(typed).collect::<Vec<Value>>();
        let types: Option<Vec<&str>> = parts.iter().map(|part| part["type"].as_str()).collect();
        let mut once: Vec<&str> = Vec::new();
        types?.into_iter().for_each(|kind| {
            if !once.contains(&kind) {
                once.push(kind)
            }
        });
        Some(match once.as_slice() {
            [one] => json!({ "type": one }),
            several => {
                json!({ "anyOf": several.iter().map(|kind| json!({ "type": kind })).collect::<Vec<_>>() })
            }
        })
    };
    let mut found = match schema.get("type") {
        Some(kind) => json!({ "type": kind }),
        None => of_parts("anyOf").or_else(|| of_parts("oneOf")).unwrap_or_else(|| json!({})),
    };
    for part in found.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten() {
        complete(part);
    }
    complete(&mut found);
    found
}

fn complete(schema: &mut Value) {
    if schema["type"] == "object" {
        schema["properties"] = json!({});
    }
}

/// Takes null out of what a field may be; whether it was there.
pub fn take_null_out(schema: &mut Value) -> bool {
    let Value::Object(fields) = schema else { return false };
    let Some(Value::Array(parts)) = fields.get_mut("anyOf") else { return false };
    let before = parts.len();
    parts.retain(|part| part != &json!({ "type": "null" }));
    let found = parts.len() < before;
    if found && fields.get("default").is_some_and(Value::is_null) {
        fields.shift_remove("default");
    }
    choices::unwrap(fields);
    found
}
