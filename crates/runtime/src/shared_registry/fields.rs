//! The fields of tools and profiles, as paths such as `tool.rateLimit.maxCalls`: which ones this release can read, and
//! which ones a registry uses. While servers of two releases work together, none writes what another cannot read. Servers
//! of `mcp.json` need no such care: fields that are not known are left alone there.

use std::collections::BTreeSet;

use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolroom_contract::entry::ToolEntry;
use toolroom_profiles::ProfileSettings;
use toolroom_store::registry::Text;

use super::follow::{PROFILES, TOOLS};

/// No entry is nested deeper, and schemas may refer to themselves.
const DEEPEST: usize = 8;

/// Every field that this release can read.
pub fn known() -> BTreeSet<String> {
    let mut fields = BTreeSet::new();
    add_schema::<ToolEntry>("tool", &mut fields);
    add_schema::<ProfileSettings>("profile", &mut fields);
    fields
}

/// The fields that are used in these files.
pub(super) fn used(files: &[(String, Text)]) -> BTreeSet<String> {
    let (known, mut fields) = (known(), BTreeSet::new());
    for (name, text) in files {
        let body = text.body.as_deref().unwrap_or_default();
        let Ok(file) = serde_json::from_slice::<Value>(body) else { continue };
        match name.as_str() {
            TOOLS => {
                let entries = file["tools"].as_array().into_iter().flatten();
                entries.for_each(|entry| add_entry::<ToolEntry>("tool", entry, &known, &mut fields));
            }
            PROFILES => {
                let entries = file["profiles"].as_object().into_iter().flat_map(|all| all.values());
                entries.for_each(|entry| add_entry::<ProfileSettings>("profile", entry, &known, &mut fields));
            }
            _ => {}
        }
    }
    fields
}

fn add_schema<T: JsonSchema>(path: &str, fields: &mut BTreeSet<String>) {
    let root = schema_for!(T).to_value();
    add_properties(&root, &root, path, DEEPEST, fields);
}

fn add_properties(schema: &Value, root: &Value, path: &str, depth: usize, fields: &mut BTreeSet<String>) {
    if depth == 0 {
        return;
    }
    if let Some(place) = schema["$ref"].as_str().and_then(|place| place.strip_prefix('#')) {
        add_properties(root.pointer(place).unwrap_or(&Value::Null), root, path, depth - 1, fields);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        add_properties(property, root, &path, depth - 1, fields);
        fields.insert(path);
    }
    let variants = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema[key].as_array());
    for variant in variants.flatten().chain(schema.get("items")) {
        add_properties(variant, root, path, depth - 1, fields);
    }
}

/// Under the names that this release writes, whatever other names it reads.
fn add_entry<T: DeserializeOwned + Serialize>(
    path: &str,
    entry: &Value,
    known: &BTreeSet<String>,
    fields: &mut BTreeSet<String>,
) {
    let read = serde_json::from_value::<T>(entry.clone()).and_then(serde_json::to_value);
    if let Ok(entry) = read {
        add_used(path, &entry, known, fields);
    }
}

fn add_used(path: &str, value: &Value, known: &BTreeSet<String>, fields: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members.iter().filter(|(_, value)| !is_empty(value)) {
                let path = format!("{path}.{name}");
                // What is not a field of ours is a name that somebody gave.
                if known.contains(&path) {
                    add_used(&path, value, known, fields);
                    fields.insert(path);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_used(path, item, known, fields)),
        _ => {}
    }
}

/// What an entry leaves out is written as this.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_from_names_that_people_give() {
        let tools = serde_json::json!({ "tools": [{
            "name": "a", "description": "b", "parallel": true,
            "parameters": { "type": "object", "properties": { "timeout": {} } },
            "rateLimit": { "maxCalls": 1, "windowMs": 1000 },
        }] });
        let profiles =
            serde_json::json!({ "profiles": { "mine": { "tools": ["a"], "rename": { "a": "b" } } } });
        let text = |value: Value| Text { body: Some(value.to_string().into_bytes()), is_executable: false };
        let found = used(&[(TOOLS.to_owned(), text(tools)), (PROFILES.to_owned(), text(profiles))]);
        for field in ["tool.parallel_capable", "tool.rateLimit.maxCalls", "profile.tools", "profile.rename"] {
            assert!(found.contains(field), "{field}: {found:?}");
        }
        for none in ["tool.timeout", "tool.parallel", "profile.rename.a", "tool.input_schema.type"] {
            assert!(!found.contains(none), "{none}: {found:?}");
        }
        assert!(found.is_subset(&known()));
    }
}
