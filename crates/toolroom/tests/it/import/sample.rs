//! A value that fits a schema, for calls and answers.

use std::cell::RefCell;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

thread_local! {
    /// One for all, so that no two texts are the same.
    static RUNNER: RefCell<TestRunner> = RefCell::new(TestRunner::deterministic());
}

/// A value for a schema; references lead into `root`.
pub fn sample(schema: &Value, root: &Value, depth: usize) -> Value {
    let schema = &resolved(schema, root);
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(value) = schema.pointer("/enum/0") {
        return value.clone();
    }
    for name in ["anyOf", "oneOf"] {
        let branches = schema.get(name).and_then(Value::as_array);
        if let Some(branch) = branches.and_then(|all| all.iter().find(|one| one["type"] != "null")) {
            let Some(mut whole) =
                schema.as_object().filter(|whole| whole.contains_key("properties")).cloned()
            else {
                return sample(branch, root, depth + 1);
            };
            // What the branch says besides what stands around it.
            whole.remove(name);
            for (name, more) in resolved(branch, root).as_object().into_iter().flatten() {
                match (whole.get_mut(name), more) {
                    (Some(Value::Object(there)), Value::Object(more)) => there.extend(more.clone()),
                    (Some(Value::Array(there)), Value::Array(more)) => there.extend(more.clone()),
                    _ => drop(whole.insert(name.clone(), more.clone())),
                }
            }
            return sample(&whole.into(), root, depth);
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| **kind != "null").cloned().unwrap_or_default(),
        kind => kind.clone(),
    };
    match kind.as_str() {
        Some("string") => text(schema).into(),
        Some("integer") => number(schema, 1.0).trunc().max(number(schema, 1.0).ceil()).into_number(),
        Some("number") => json!(number(schema, 0.5)),
        Some("boolean") => true.into(),
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(u64::from(depth < 6)).max(u64::from(depth < 3))
                as usize;
            (0..count)
                .map(|_| sample(schema.get("items").unwrap_or(&json!({ "type": "string" })), root, depth + 1))
                .collect()
        }
        Some("object") => record(schema, root, depth).into(),
        Some("null") => Value::Null,
        _ if schema.get("properties").is_some() => record(schema, root, depth).into(),
        _ => json!("x"),
    }
}

trait IntoNumber {
    fn into_number(self) -> Value;
}

impl IntoNumber for f64 {
    fn into_number(self) -> Value {
        json!(self as i64)
    }
}

fn record(schema: &Value, root: &Value, depth: usize) -> Map<String, Value> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let is_plain = |schema: &Value| {
        matches!(schema["type"].as_str(), Some("string" | "integer" | "boolean" | "number"))
            && schema.get("pattern").is_none()
    };
    let mut fields = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if required.contains(&name.as_str()) || (depth == 0 && is_plain(property)) {
            fields.insert(name.clone(), sample(property, root, depth + 1));
        }
    }
    let together = schema["dependentRequired"].as_object().into_iter().flatten();
    let more: Vec<&str> = together
        .filter(|(name, _)| fields.contains_key(*name))
        .flat_map(|(_, names)| names.as_array().unwrap().iter().filter_map(Value::as_str))
        .collect();
    for name in required.into_iter().chain(more) {
        if !fields.contains_key(name) {
            let property =
                schema["properties"].get(name).cloned().unwrap_or_else(|| json!({ "type": "string" }));
            fields.insert(name.to_owned(), sample(&property, root, depth + 1));
        }
    }
    fields
}

fn text(schema: &Value) -> String {
    let least = schema["minLength"].as_u64().unwrap_or(0) as usize;
    let pattern =
        schema["pattern"].as_str().map(|pattern| pattern.replace("\\d", "[0-9]").replace("|^", "|"));
    if let Some(pattern) = pattern
        && let Ok(strategy) =
            proptest::string::string_regex(pattern.trim_start_matches('^').trim_end_matches('$'))
    {
        let mut text = RUNNER.with_borrow_mut(|runner| strategy.new_tree(runner).unwrap().current());
        while text.len() < least {
            text.push_str(&text.clone());
        }
        text.truncate(schema["maxLength"].as_u64().unwrap_or(u64::MAX) as usize);
        return text;
    }
    let plain = match schema["format"].as_str() {
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("date") => "2026-01-31",
        Some("uuid") => "0d8e1a1c-5d1c-4b7e-9a57-2f6d3c1f0a11",
        Some("email") => "a@example.com",
        Some("uri") => "https://example.com/a",
        Some("ipv4") => "192.0.2.1",
        Some("duration") => "PT1H",
        _ if schema.get("contentEncoding").is_some() => "AAEC",
        _ => "text",
    };
    let most = schema["maxLength"].as_u64().unwrap_or(u64::MAX) as usize;
    let mut text = plain.to_owned();
    while text.len() < least {
        text.push('a');
    }
    text.chars().take(most).collect()
}

fn number(schema: &Value, usual: f64) -> f64 {
    let limit = |name: &str| schema[name].as_f64();
    // In OpenAPI 3.0 it is a mark on `minimum`.
    let above = if schema["exclusiveMinimum"] == true { 1.0 } else { 0.0 };
    let bounds =
        [limit("minimum").map(|least| least + above), limit("exclusiveMinimum").map(|least| least + 1.0)];
    let least = bounds.into_iter().flatten().reduce(f64::max).unwrap_or(usual);
    let value = least.min(limit("maximum").unwrap_or(f64::MAX));
    match limit("multipleOf") {
        Some(step) => (value / step).ceil() * step,
        None => value,
    }
}

/// What a schema refers to, with the parts of `allOf` put together.
pub fn resolved(schema: &Value, root: &Value) -> Value {
    let mut schema = schema.clone();
    for _ in 0..20 {
        let Some(reference) = schema["$ref"].as_str() else { break };
        schema = root.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null).clone();
    }
    let parts: Vec<Value> =
        schema["allOf"].as_array().into_iter().flatten().map(|part| resolved(part, root)).collect();
    for part in parts {
        for (name, value) in part.as_object().into_iter().flatten() {
            match (schema.get_mut(name), value) {
                (Some(Value::Object(there)), Value::Object(more)) => there.extend(more.clone()),
                (Some(Value::Array(there)), Value::Array(more)) if name == "required" => {
                    there.extend(more.clone())
                }
                (None, value) => schema[name] = value.clone(),
                _ => {}
            }
        }
    }
    schema
}
