//! Parameters to try a tool with: its first example, or values that fit its schema.

use serde_json::{Map, Value};

/// A command that calls the tool, to be pasted into a shell.
pub fn call(tool: &Value) -> String {
    let name = tool["name"].as_str().unwrap_or_default();
    let params = match tool["examples"].get(0) {
        Some(example) => example["params"].clone(),
        None => fitting(&tool["parameters"]).into(),
    };
    match params.as_object() {
        Some(params) if !params.is_empty() => {
            format!(
                "toolroom call {name} --params '{}'",
                Value::from(params.clone()).to_string().replace('\'', "'\\''")
            )
        }
        _ => format!("toolroom call {name}"),
    }
}

/// A value for each parameter that is required.
fn fitting(schema: &Value) -> Map<String, Value> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    required.map(|name| (name.to_owned(), value(&schema["properties"][name]))).collect()
}

fn value(schema: &Value) -> Value {
    let given = schema.get("default").or_else(|| schema["enum"].get(0)).or_else(|| schema["examples"].get(0));
    if let Some(given) = given {
        return given.clone();
    }
    let kind = match &schema["type"] {
        Value::Array(many) => many.first().and_then(Value::as_str),
        one => one.as_str(),
    };
    match kind {
        Some("integer") | Some("number") => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        Some("boolean") => true.into(),
        Some("array") => Value::Array(Vec::new()),
        Some("object") => fitting(schema).into(),
        _ => "text".into(),
    }
}
