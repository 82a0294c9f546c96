//! What the readers of some client stumble over in a published schema. Included by the tests of several crates.

use serde_json::Value;

/// Keywords with a schema, with a list of schemas, with named schemas.
const ONE: [&str; 11] = [
    "items",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "contentSchema",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
];
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const NAMED: [&str; 4] = ["properties", "patternProperties", "dependentSchemas", "$defs"];

/// Each fault, with where it is.
pub fn faults(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    look("#", schema, &mut found);
    found
}

fn look(at: &str, schema: &Value, found: &mut Vec<String>) {
    let Some(fields) = schema.as_object() else {
        found.push(format!("{at}: not an object but {schema}"));
        return;
    };
    // What an author keeps at the root, which the conformance suites look for; nothing refers to it.
    let is_kept = |word: &str| match word {
        "$schema" | "$defs" => at == "#",
        "$anchor" => at.starts_with("#/$defs/") && at.matches('/').count() == 2,
        _ => false,
    };
    let is_reference = |word: &str| (word.starts_with('$') || word == "definitions") && !is_kept(word);
    for word in fields.keys().filter(|word| is_reference(word)) {
        found.push(format!("{at}: {word}"));
    }
    if fields.get("type").is_some_and(|kind| !kind.is_string()) {
        found.push(format!("{at}: a list of types"));
    }
    if fields.get("type").is_some_and(|kind| kind == "object") && !schema["properties"].is_object() {
        found.push(format!("{at}: an object without properties"));
    }
    if fields.contains_key("const") {
        found.push(format!("{at}: a constant without enum"));
    }
    for word in ["oneOf", "anyOf"] {
        let parts = fields.get(word).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let only_values = |part: &Value| {
            let words = ["type", "enum", "description", "title"];
            part.get("enum").is_some()
                && part["type"] == parts[0]["type"]
                && part.as_object().is_some_and(|part| part.keys().all(|word| words.contains(&word.as_str())))
        };
        if parts.len() > 1 && parts.iter().all(only_values) {
            found.push(format!("{at}: {word} of constants"));
        }
    }
    for word in ONE {
        let closes = word.starts_with("additional") || word.starts_with("unevaluated");
        match fields.get(word) {
            Some(Value::Bool(_)) if closes => {}
            Some(part) => look(&format!("{at}/{word}"), part, found),
            None => {}
        }
    }
    for word in LISTS {
        for (index, part) in fields.get(word).and_then(Value::as_array).into_iter().flatten().enumerate() {
            look(&format!("{at}/{word}/{index}"), part, found);
        }
    }
    for word in NAMED {
        for (name, part) in fields.get(word).and_then(Value::as_object).into_iter().flatten() {
            look(&format!("{at}/{word}/{name}"), part, found);
        }
    }
}
