//! Fields that a value leaves out get the default that the schema publishes for them.

use serde_json::{Map, Value};

/// Subschemas and fields that are looked at for one value; past that, no more defaults are filled in.
const MOST_LOOKS: usize = 100_000;
/// Bytes of defaults that are filled in for one value, about; past that, no more are.
const MOST_BYTES: usize = 1 << 20;
/// References and parts followed from one schema, all for the same value: they may lead in a circle.
const HOPS: usize = 16;

/// Whether a schema publishes a default anywhere: most do not, and their values are not looked at.
pub(super) fn any(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.contains_key("default") || fields.values().any(any),
        Value::Array(items) => items.iter().any(any),
        _ => false,
    }
}

/// A copy with the defaults filled in; `None` if nothing was missing.
pub(super) fn filled(schema: &Value, value: &Value) -> Option<Value> {
    let mut filling = Filling { root: schema, looks: MOST_LOOKS, bytes: MOST_BYTES, changed: false };
    let mut copy = value.clone();
    filling.fill(schema, &mut copy, HOPS);
    filling.changed.then_some(copy)
}

struct Filling<'a> {
    root: &'a Value,
    looks: usize,
    bytes: usize,
    changed: bool,
}

impl<'a> Filling<'a> {
    /// Fills what certainly applies: where there are alternatives, nobody knows which one is meant.
    fn fill(&mut self, schema: &'a Value, value: &mut Value, hops: usize) {
        if hops == 0 || !self.look() || !(value.is_object() || value.is_array()) {
            return;
        }
        if let Some(target) = self.target(schema) {
            self.fill(target, value, hops - 1);
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.fill(part, value, hops - 1);
        }
        match value {
            Value::Object(fields) => {
                if let Some(declared) = schema.get("properties").and_then(Value::as_object) {
                    self.fill_fields(declared, fields);
                }
            }
            Value::Array(items) => {
                if let Some(each) = schema.get("items") {
                    items.iter_mut().for_each(|item| self.fill(each, item, HOPS));
                }
            }
            _ => {}
        }
    }

    fn fill_fields(&mut self, declared: &'a Map<String, Value>, fields: &mut Map<String, Value>) {
        for (name, schema) in declared {
            if !self.look() {
                return;
            }
            match (fields.get_mut(name), schema.get("default")) {
                (Some(value), _) => self.fill(schema, value, HOPS),
                (None, Some(default)) => match self.bytes.checked_sub(weight(default) + name.len()) {
                    Some(left) => {
                        self.bytes = left;
                        fields.insert(name.clone(), default.clone());
                        self.changed = true;
                    }
                    None => self.looks = 0,
                },
                (None, None) => {}
            }
        }
    }

    /// What a schema refers to, within the same document.
    fn target(&self, schema: &'a Value) -> Option<&'a Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer).filter(|target| !std::ptr::eq(*target, schema))
    }

    fn look(&mut self) -> bool {
        self.looks = self.looks.saturating_sub(1);
        self.looks > 0
    }
}

/// The bytes that a copy takes, about.
fn weight(value: &Value) -> usize {
    const NODE: usize = 32;
    NODE + match value {
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| NODE + name.len() + weight(value)).sum(),
        Value::String(text) => text.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::filled;

    #[test]
    fn defaults_are_filled_in_at_every_depth_and_given_values_stay() {
        let schema = json!({
            "properties": {
                "size": { "default": "small" },
                "deep": { "$ref": "#/$defs/deep" },
                "list": { "items": { "properties": { "n": { "default": 1 } } } },
            },
            "$defs": { "deep": { "allOf": [{ "properties": { "x": { "default": [] } } }] } },
        });
        let given = json!({ "deep": {}, "list": [{}, { "n": 2 }], "more": null });
        let whole =
            json!({ "deep": { "x": [] }, "list": [{ "n": 1 }, { "n": 2 }], "more": null, "size": "small" });
        assert_eq!(filled(&schema, &given), Some(whole.clone()));
        assert_eq!(filled(&schema, &whole), None);
    }

    #[test]
    fn a_large_default_of_many_items_is_filled_in_up_to_a_bound() {
        let large = "x".repeat(20_000);
        let schema = json!({ "items": { "properties": { "a": { "default": large } } } });
        let whole = filled(&schema, &json!(vec![json!({}); 20_000])).unwrap();
        assert!(whole.to_string().len() < 2 << 20);
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "allOf": [{ "$ref": "#/$defs/a" }] } } });
        assert_eq!(filled(&schema, &json!({})), None);
    }
}
