//! `null` for an optional field that takes no null reads as absent.

use serde_json::{Map, Value};

/// A copy without those fields, `None` if there is none of them; and whether that many looks at subschemas and fields
/// were enough. Past them, nulls stay what they are, and are refused.
pub(super) fn without(schema: &Value, value: &Value, looks: usize) -> (Option<Value>, bool) {
    if !holds_null(value) {
        return (None, true);
    }
    let mut stripping = Stripping { root: schema, looks, removed: false };
    let mut copy = value.clone();
    stripping.strip(&[schema], &mut copy);
    (stripping.removed.then_some(copy), stripping.looks > 0)
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(fields) => fields.values().any(holds_null),
        _ => false,
    }
}

struct Stripping<'a> {
    root: &'a Value,
    looks: usize,
    removed: bool,
}

impl<'a> Stripping<'a> {
    /// Strips a value to which all of these may apply.
    fn strip(&mut self, schemas: &[&'a Value], value: &mut Value) {
        let mut here = Vec::new();
        for schema in schemas {
            self.gather(schema, &mut here);
        }
        match value {
            Value::Object(fields) => self.strip_fields(&here, fields),
            Value::Array(items) => {
                let below: Vec<&Value> = here.iter().filter_map(|schema| schema.get("items")).collect();
                items.iter_mut().filter(|_| !below.is_empty()).for_each(|item| self.strip(&below, item));
            }
            _ => {}
        }
    }

    fn strip_fields(&mut self, here: &[&'a Value], fields: &mut Map<String, Value>) {
        let names: Vec<String> = fields.keys().cloned().collect();
        for name in names {
            if !self.look(here.len()) {
                return;
            }
            let declared: Vec<&'a Value> =
                here.iter().filter_map(|schema| schema.get("properties")?.get(&name)).collect();
            if declared.is_empty() {
                continue;
            }
            match fields.get_mut(&name) {
                Some(Value::Null) => {
                    let required = here.iter().any(|schema| self.requires(schema, &name));
                    if !required && !declared.iter().any(|schema| self.takes_null(schema)) {
                        fields.shift_remove(&name);
                        self.removed = true;
                    }
                }
                Some(value) => self.strip(&declared, value),
                None => {}
            }
        }
    }

    /// A schema and all that may apply to the same value, each once.
    fn gather(&mut self, schema: &'a Value, found: &mut Vec<&'a Value>) {
        if !self.look(1 + found.len() / 16) || found.iter().any(|known| std::ptr::eq(*known, schema)) {
            return;
        }
        found.push(schema);
        if let Some(target) = self.target(schema) {
            self.gather(target, found);
        }
        for part in
            ["allOf", "anyOf", "oneOf"].iter().filter_map(|word| schema.get(word)?.as_array()).flatten()
        {
            self.gather(part, found);
        }
        for part in ["if", "then", "else"].iter().filter_map(|word| schema.get(word)) {
            self.gather(part, found);
        }
    }

    fn takes_null(&mut self, schema: &'a Value) -> bool {
        let choices = schema.get("enum").and_then(Value::as_array);
        if !self.look(1 + choices.map_or(0, Vec::len)) {
            return true;
        }
        let null = |value: &Value| value.is_null() || value == "null";
        let types = match schema.get("type") {
            Some(Value::Array(types)) => types.iter().any(null),
            Some(one) => null(one),
            None => true,
        };
        types
            && schema != &Value::Bool(false)
            && choices.is_none_or(|choices| choices.contains(&Value::Null))
            && schema.get("const").is_none_or(Value::is_null)
            && self.target(schema).is_none_or(|target| self.takes_null(target))
            && list(schema, "allOf").iter().all(|part| self.takes_null(part))
            && ["anyOf", "oneOf"].iter().all(|word| {
                let parts = list(schema, word);
                parts.is_empty() || parts.iter().any(|part| self.takes_null(part))
            })
    }

    /// What a schema refers to, within the same document.
    fn target(&mut self, schema: &'a Value) -> Option<&'a Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        if !self.look(1 + pointer.len() / 64) {
            return None;
        }
        self.root.pointer(pointer).filter(|target| !std::ptr::eq(*target, schema))
    }

    /// Whether a field must be there; where nobody may look any more, it must.
    fn requires(&mut self, schema: &Value, name: &str) -> bool {
        let required = list(schema, "required");
        !self.look(1 + required.len()) || required.iter().any(|required| required == name)
    }

    /// Whether that many looks were left.
    fn look(&mut self, count: usize) -> bool {
        self.looks = self.looks.saturating_sub(count);
        self.looks > 0
    }
}

fn list<'a>(schema: &'a Value, word: &str) -> &'a [Value] {
    schema.get(word).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
