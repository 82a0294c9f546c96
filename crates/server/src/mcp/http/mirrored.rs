//! Parameters that headers repeat: `x-mcp-header` in an input schema, `Mcp-Param-*` on the wire.

use std::collections::HashSet;

use http::HeaderMap;
use serde_json::Value;

use super::headers::{decoded, single};
use crate::mcp::error::RpcError;
use crate::mcp::index::ProfileIndex;
use crate::mcp::input::Params;
use crate::mcp::request::Fields;

const ANNOTATION: &str = "x-mcp-header";
/// Beyond these, JavaScript clients cannot hold a whole number.
const SAFE: i64 = (1 << 53) - 1;

/// A parameter that a header repeats.
#[derive(Debug, PartialEq)]
pub(crate) struct Mirrored {
    /// The header's whole name, in lower case.
    header: String,
    /// The properties that lead to the parameter.
    path: Vec<String>,
}

/// An annotation that clients refuse a tool for.
#[derive(Debug, PartialEq)]
pub(crate) struct Invalid;

/// The mirrored parameters of an input schema.
pub(crate) fn mirrored(schema: &Value) -> Result<Vec<Mirrored>, Invalid> {
    let mut found = Vec::new();
    let mut path = Vec::new();
    collect(schema, &mut path, &mut found)?;
    let names: HashSet<&str> = found.iter().map(|one: &Mirrored| one.header.as_str()).collect();
    let everywhere = count(schema);
    if names.len() == found.len() && everywhere == found.len() { Ok(found) } else { Err(Invalid) }
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirrored>) -> Result<(), Invalid> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Ok(()) };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(annotation) = property.get(ANNOTATION) {
            let primitive = matches!(
                property.get("type").and_then(Value::as_str),
                Some("string" | "integer" | "boolean")
            );
            let token = annotation.as_str().filter(|text| is_token(text));
            let header = token.filter(|_| primitive).ok_or(Invalid)?;
            let header = format!("mcp-param-{}", header.to_ascii_lowercase());
            found.push(Mirrored { header, path: path.clone() });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

fn is_token(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

/// How many annotations there are anywhere, places included that no property path leads to.
fn count(schema: &Value) -> usize {
    match schema {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| match key.as_str() {
                ANNOTATION => 1,
                "const" | "enum" | "default" | "examples" => 0,
                // A property may be called like the annotation.
                "properties" => value.as_object().map_or(0, |fields| fields.values().map(count).sum()),
                _ => count(value),
            })
            .sum(),
        _ => 0,
    }
}

/// The schema without annotations.
pub(crate) fn without_annotations(schema: Value) -> Value {
    match schema {
        Value::Array(items) => Value::Array(items.into_iter().map(without_annotations).collect()),
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(key, _)| key != ANNOTATION);
            Value::Object(kept.map(|(key, value)| (key, without_annotations(value))).collect())
        }
        other => other,
    }
}

/// Every mirrored argument of the call is repeated by its header, and no header says what the body does not.
pub(super) fn check(
    profile: &ProfileIndex,
    headers: &HeaderMap,
    fields: &Fields<'_>,
    usable: impl Fn(&str) -> bool,
) -> Result<(), RpcError> {
    // What cannot be read is refused by the method itself.
    let Ok(Params { name, arguments, .. }) = Params::of(fields) else { return Ok(()) };
    let arguments = arguments.unwrap_or_default();
    let name = profile.aliases.mean(&name);
    let Some(mirrored) = profile.mirrored.get(name).filter(|_| usable(name)) else { return Ok(()) };
    for one in mirrored {
        let value = one.path.split_first().and_then(|(first, rest)| {
            rest.iter().try_fold(arguments.get(first)?, |value, step| value.get(step))
        });
        let given = single(headers, &one.header)?.map(|text| decoded(&one.header, text)).transpose()?;
        let agrees = match (value, given.as_deref()) {
            (None | Some(Value::Null), None) => true,
            (Some(value), Some(given)) => says(value, given),
            _ => false,
        };
        if !agrees {
            return Err(RpcError::mismatch(format!(
                "The header {} and the argument '{}' do not agree.",
                one.header,
                one.path.join(".")
            )));
        }
    }
    Ok(())
}

/// Whether a header's text stands for the value.
fn says(value: &Value, given: &str) -> bool {
    match value {
        Value::String(text) => text == given,
        Value::Bool(flag) => given == if *flag { "true" } else { "false" },
        Value::Number(number) => match (number.as_i64(), given.parse::<i64>()) {
            (Some(number), Ok(given)) => number == given && number.abs() <= SAFE,
            // Whole numbers may be written with a fraction of zero.
            _ => number.as_f64().is_some_and(|number| given.parse::<f64>() == Ok(number)),
        },
        // What is not of the annotated type is refused by the schema.
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn annotations_are_found_along_properties_only() {
        let schema = json!({
            "type": "object",
            "properties": {
                "region": { "type": "string", "x-mcp-header": "Region" },
                "deep": { "type": "object", "properties": { "on": { "type": "boolean", "x-mcp-header": "On" } } },
            },
        });
        let found = mirrored(&schema).unwrap();
        assert_eq!(found[0].header, "mcp-param-region");
        assert_eq!(found[1].path, ["deep", "on"]);
    }

    #[test]
    fn an_invalid_annotation_makes_the_schema_invalid_and_can_be_left_out() {
        for schema in [
            json!({ "properties": { "a": { "type": "number", "x-mcp-header": "A" } } }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "" } } }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "a b" } } }),
            json!({ "properties": { "a": { "type": "array", "items": { "x-mcp-header": "A" } } } }),
            json!({ "properties": {
                "a": { "type": "string", "x-mcp-header": "X" },
                "b": { "type": "string", "x-mcp-header": "x" },
            } }),
        ] {
            assert_eq!(mirrored(&schema), Err(Invalid), "{schema}");
            assert_eq!(mirrored(&without_annotations(schema)), Ok(Vec::new()));
        }
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        assert!(says(&json!(42), "42") && says(&json!(42), "42.0") && says(&json!(-7), "-7"));
        assert!(!says(&json!(42), "43") && !says(&json!(42), "x"));
        assert!(says(&json!(true), "true") && !says(&json!(true), "True"));
    }
}
