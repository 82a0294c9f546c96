//! Choices: constants to choose from become one `enum`, and a choice within a choice becomes a part of it.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{is_annotation, position};

/// Merges the constants among the parts of a choice, and takes over the parts of choices within it.
pub(super) fn merge(spelled: &mut Map<String, Value>) {
    for word in ["oneOf", "anyOf"] {
        let Some(Value::Array(parts)) = spelled.get(word) else { continue };
        let mut parts = parts.clone();
        if word == "anyOf" {
            parts = flat(parts);
        }
        let (nulls, others): (Vec<Value>, Vec<Value>) = parts.iter().cloned().partition(is_null);
        let merged = (others.len() > 1 && nulls.len() < 2).then(|| constants(&others, word)).flatten();
        match merged {
            Some(one) if nulls.is_empty() && takes(spelled, &one) => {
                let at = position(spelled, word).unwrap_or(0);
                spelled.shift_remove(word);
                tell(spelled, &one);
                fill_in(spelled, at, one);
            }
            // A null is none of the constants, so that one of the two fits at most.
            Some(one) if !nulls.is_empty() && (word == "anyOf" || !spelled.contains_key("anyOf")) => {
                let at = position(spelled, word).unwrap_or(0);
                spelled.shift_remove(word);
                let choice = json!([one, nulls[0]]);
                spelled.shift_insert(at.min(spelled.len()), "anyOf".into(), choice);
            }
            _ => _ = spelled.insert(word.into(), parts.into()),
        }
    }
}

/// Writes the only part of a choice, or the only schema that is demanded in addition, in its place.
pub(super) fn unwrap(spelled: &mut Map<String, Value>) {
    for word in ["allOf", "anyOf", "oneOf"] {
        let only = match spelled.get(word) {
            Some(Value::Array(parts)) if parts.len() == 1 => parts[0].as_object().cloned(),
            _ => None,
        };
        let Some(only) = only.filter(|only| takes(spelled, &Value::Object(only.clone()))) else { continue };
        let at = position(spelled, word).unwrap_or(0);
        spelled.shift_remove(word);
        fill_in(spelled, at, only.into());
    }
}

/// Whether a schema can be written beside what is there already: nothing there demands anything.
fn takes(spelled: &Map<String, Value>, other: &Value) -> bool {
    let demands = spelled.iter().filter(|(word, value)| {
        let same = other.get(word.as_str()) == Some(value);
        !is_annotation(word) && !matches!(word.as_str(), "allOf" | "anyOf" | "oneOf") && !same
    });
    let choices = ["allOf", "anyOf", "oneOf"].iter().filter(|word| spelled.contains_key(**word)).count();
    demands.count() == 0 && choices < 2
}

/// Writes the keywords of a schema into another, whose own words about the value count.
fn fill_in(spelled: &mut Map<String, Value>, at: usize, other: Value) {
    let Value::Object(other) = other else { return };
    toolroom_work::step(spelled.len() + other.len());
    let new: Vec<_> = other.into_iter().filter(|(word, _)| !spelled.contains_key(word)).collect();
    let mut all: Vec<_> = std::mem::take(spelled).into_iter().collect();
    let at = at.min(all.len());
    all.splice(at..at, new);
    spelled.extend(all);
}

/// Adds what is said of the values to what is said of the whole.
fn tell(spelled: &mut Map<String, Value>, one: &Value) {
    let values = one.get("description").and_then(Value::as_str);
    if let (Some(Value::String(text)), Some(values)) = (spelled.get_mut("description"), values) {
        *text = format!("{} {values}", text.trim_end());
    }
}

/// The parts of choices within a choice stand beside its others, each once.
fn flat(parts: Vec<Value>) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    let mut has_null = false;
    for part in parts {
        let inner = match part.as_object() {
            Some(fields) if fields.len() == 1 => fields.get("anyOf").and_then(Value::as_array).cloned(),
            _ => None,
        };
        for part in inner.unwrap_or_else(|| vec![part]) {
            toolroom_work::step(1);
            let null = is_null(&part);
            if !(null && has_null) {
                found.push(part);
            }
            has_null |= null;
        }
    }
    found
}

fn is_null(part: &Value) -> bool {
    part == &json!({ "type": "null" })
}

/// One `enum` for parts that are constants of one type; what each part says of its values is said of them here.
fn constants(parts: &[Value], word: &str) -> Option<Value> {
    let kind = parts.first()?.get("type")?;
    let (mut values, mut said): (Vec<Value>, Vec<String>) = (Vec::new(), Vec::new());
    for part in parts {
        let fields = part.as_object()?;
        let plain =
            fields.keys().all(|word| matches!(word.as_str(), "type" | "enum" | "description" | "title"));
        let own = fields
            .get("enum")
            .and_then(Value::as_array)
            .filter(|_| plain && part.get("type") == Some(kind))?;
        if let (Some(text), [value]) = (fields.get("description").and_then(Value::as_str), own.as_slice()) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            said.push(format!("{value}: {}", text.trim().trim_end_matches('.')));
        }
        values.extend(own.iter().cloned());
    }
    let mut times: HashMap<&Value, usize> = HashMap::new();
    for value in &values {
        toolroom_work::step(1);
        *times.entry(value).or_default() += 1;
    }
    let mut once: Vec<Value> = Vec::new();
    for value in &values {
        // What two of them have fits neither of `oneOf`.
        match times.insert(value, 0) {
            Some(1) => once.push(value.clone()),
            Some(2..) if word == "anyOf" => once.push(value.clone()),
            _ => {}
        }
    }
    if once.is_empty() {
        return None;
    }
    let mut merged = json!({ "type": kind, "enum": once });
    if !said.is_empty() {
        merged["description"] = format!("{}.", said.join("; ")).into();
    }
    Some(merged)
}
