//! Schemas as generators of clients read them best, with the same meaning.

use schemars::Schema;
use serde_json::{Map, Value, json};
use toolroom_contract::handler::drop_widths;

/// Changes one schema; its parts have been changed before.
pub(super) fn tidy(schema: &mut Schema) {
    let Some(fields) = schema.as_object_mut() else { return };
    constants_to_enum(fields);
    variants_to_fields(fields);
    for key in ["properties", "items", "oneOf", "anyOf"] {
        match fields.get_mut(key) {
            Some(Value::Object(properties)) if key == "properties" => {
                properties.values_mut().for_each(name_anything);
            }
            Some(Value::Array(schemas)) => schemas.iter_mut().for_each(name_anything),
            Some(schema) => name_anything(schema),
            None => {}
        }
    }
    let mut whole = Value::Object(std::mem::take(fields));
    drop_widths(&mut whole);
    if let Value::Object(whole) = whole {
        *fields = whole;
    }
}

/// `true` says no more than that something is there.
fn name_anything(schema: &mut Value) {
    if *schema == Value::Bool(true) {
        *schema = json!({ "description": "Any JSON value." });
    }
}

/// A choice of constants, each with words of its own, is an enumeration; the words go into its description.
fn constants_to_enum(fields: &mut Map<String, Value>) {
    let Some(Value::Array(variants)) = fields.get("oneOf") else { return };
    let (mut values, mut lines) = (Vec::new(), Vec::new());
    for variant in variants {
        let several = variant.get("enum").and_then(Value::as_array);
        let Some(found) = several.cloned().or_else(|| Some(vec![variant.get("const")?.clone()])) else {
            return;
        };
        if !found.iter().all(Value::is_string) {
            return;
        }
        if let (Some(about), [Value::String(value)]) = (variant["description"].as_str(), &found[..]) {
            lines.push(format!("- `{value}`: {about}"));
        }
        values.extend(found);
    }
    fields.shift_remove("oneOf");
    fields.insert("type".into(), "string".into());
    fields.insert("enum".into(), values.into());
    let about = fields.get("description").and_then(Value::as_str).unwrap_or_default();
    let about = std::iter::once(about.to_owned()).chain(lines).filter(|line| !line.is_empty());
    let about = about.collect::<Vec<_>>().join("\n");
    if !about.is_empty() {
        fields.insert("description".into(), about.into());
    }
}

/// An object of which some fields come in one of several sets: generators forget either the fields or the sets, so that
/// all are fields, and words say which go together.
fn variants_to_fields(fields: &mut Map<String, Value>) {
    if !fields.contains_key("properties") {
        return;
    }
    let Some(Value::Array(variants)) = fields.get("oneOf").cloned() else { return };
    let sets: Option<Vec<&Map<String, Value>>> =
        variants.iter().map(|variant| variant["properties"].as_object()).collect();
    let Some(sets) = sets else { return };
    let names: Vec<String> = sets
        .iter()
        .map(|set| set.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and "))
        .collect();
    let added: Vec<(String, Value)> = variants
        .iter()
        .zip(sets)
        .flat_map(|(variant, set)| set.iter().map(|(name, schema)| (name.clone(), about(schema, variant))))
        .collect();
    if let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) {
        properties.extend(added);
    }
    fields.shift_remove("oneOf");
    let before = fields.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("{before} It has either {}.", names.join(" or "));
    fields.insert("description".into(), description.trim().into());
}

/// A field with the words of the set that it comes from.
fn about(schema: &Value, variant: &Value) -> Value {
    let mut schema = schema.clone();
    if let (Some(schema), Some(words)) = (schema.as_object_mut(), variant.get("description"))
        && !schema.contains_key("description")
    {
        schema.insert("description".into(), words.clone());
    }
    schema
}

/// A parameter that is left out is not null.
pub(super) fn not_null(mut schema: Value) -> Value {
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            schema["type"] = kind.clone();
        }
    }
    if let Some(Value::Array(kinds)) = schema.get("anyOf") {
        let rest: Vec<&Value> = kinds.iter().filter(|kind| kind["type"] != "null").collect();
        if let [Value::Object(only)] = &rest[..] {
            let only = only.clone();
            if let Some(fields) = schema.as_object_mut() {
                fields.shift_remove("anyOf");
                fields.extend(only);
            }
        }
    }
    schema
}
