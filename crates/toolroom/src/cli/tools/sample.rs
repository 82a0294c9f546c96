//! Parameters to try a tool with: its first example, or values that fit its schema.

use serde_json::{Map, Value};
use toolroom_contract::text::shell_word;

/// A command that calls the tool, to be pasted into a shell.
pub fn call(tool: &Value) -> String {
    let name = shell_word(tool["name"].as_str().unwrap_or_default());
    let params = match tool["examples"].get(0) {
        Some(example) => example["params"].clone(),
        None => fitting(&tool["parameters"], &tool["parameters"], 0).into(),
    };
    match params.as_object() {
        Some(params) if !params.is_empty() => {
            let params = Value::from(params.clone()).to_string();
            format!("toolroom call {name} --params {}", shell_word(&params))
        }
        _ => format!("toolroom call {name}"),
    }
}

/// A value for each parameter that is required.
fn fitting(schema: &Value, root: &Value, depth: usize) -> Map<String, Value> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    required.map(|name| (name.to_owned(), value(&schema["properties"][name], root, depth))).collect()
}

/// A schema that refers to itself ends somewhere.
const DEEPEST: usize = 8;

fn value(schema: &Value, root: &Value, depth: usize) -> Value {
    let given = ["const", "default"].iter().find_map(|word| schema.get(word));
    let given = given.or_else(|| ["enum", "examples"].iter().find_map(|word| schema[word].get(0)));
    if let Some(given) = given {
        return given.clone();
    }
    if depth > DEEPEST {
        return Value::Null;
    }
    let referred = schema["$ref"].as_str().and_then(|place| root.pointer(place.strip_prefix('#')?));
    let part = referred.or_else(|| ["allOf", "anyOf", "oneOf"].iter().find_map(|word| schema[word].get(0)));
    if let Some(part) = part {
        return value(part, root, depth + 1);
    }
    let kind = match &schema["type"] {
        Value::Array(many) => many.first().and_then(Value::as_str),
        one => one.as_str(),
    };
    match kind {
        Some("integer" | "number") => match (&schema["minimum"], schema["exclusiveMinimum"].as_f64()) {
            (Value::Null, None) => schema.get("maximum").filter(|most| most.as_f64() < Some(1.0)).cloned(),
            (Value::Null, Some(above)) => Some((above.floor() as i64 + 1).into()),
            (least, _) => Some(least.clone()),
        }
        .unwrap_or_else(|| 1.into()),
        Some("boolean") => true.into(),
        Some("array") => {
            let places = schema["prefixItems"].as_array().map_or(&[][..], Vec::as_slice);
            let least = schema["minItems"].as_u64().unwrap_or(0).min(16) as usize;
            let items = places.iter().chain(std::iter::repeat(&schema["items"]));
            items.take(least).map(|one| value(one, root, depth + 1)).collect()
        }
        Some("object") => fitting(schema, root, depth + 1).into(),
        _ => text(schema).into(),
    }
}

fn text(schema: &Value) -> String {
    let known = match schema["format"].as_str() {
        Some("date-time") => "2026-01-31T09:30:00Z",
        Some("date") => "2026-01-31",
        Some("time") => "09:30:00Z",
        Some("duration") => "PT30M",
        Some("uuid") => "6f1c2a34-5b6d-4e7f-8a90-b1c2d3e4f506",
        Some("email" | "idn-email") => "ann@example.com",
        Some("hostname" | "idn-hostname") => "example.com",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("uri" | "uri-reference" | "iri" | "iri-reference") => "https://example.com",
        _ => {
            let least = schema["minLength"].as_u64().unwrap_or(0).min(1000) as usize;
            let most = schema["maxLength"].as_u64().map_or(usize::MAX, |most| most as usize);
            return "text".repeat(least.div_ceil(4).max(1)).chars().take(most.min(least.max(4))).collect();
        }
    };
    known.to_owned()
}
