//! The body of an operation: its fields beside the other parameters, or one parameter if it is not a plain record.

use serde_json::{Map, Value, json};
use toolroom_contract::http_request::{HttpBody, HttpPlace, HttpStyle};

use crate::document::Document;
use crate::operations::Operation;
use crate::parameters::Fields;
use crate::schema::Schemas;

/// Adds the body's parameters, and tells what the body is.
pub(crate) fn take<'a>(
    document: &Document<'a>,
    operation: &Operation<'a>,
    schemas: &mut Schemas<'a>,
    fields: &mut Fields,
) -> Result<Option<HttpBody>, String> {
    let Some(body) = operation.fields.get("requestBody") else { return Ok(None) };
    let body = document.resolve(body)?;
    let Some(content) = body.get("content").and_then(Value::as_object) else { return Ok(None) };
    let Some((media_type, kind, media)) = preferred(content) else { return Ok(None) };
    let required = body.get("required") == Some(&Value::Bool(true));
    let schema = media.get("schema").map_or(Ok(json!({})), |schema| schemas.convert(schema))?;
    match kind {
        Kind::Json | Kind::Form | Kind::Multipart => {
            let record = record(schemas, &schema)?;
            match record {
                Some(record) => take_fields(&record, kind, required, fields),
                None if kind == Kind::Json => {
                    fields.put("body", HttpPlace::WholeBody, described(schema, body), required, (None, None));
                }
                None => return Err(format!("its body ({media_type}) is not a record")),
            }
        }
        Kind::Text => {
            let schema = described(json!({ "type": "string" }), body);
            fields.put("body", HttpPlace::WholeBody, schema, required, (None, None));
        }
        Kind::Bytes => {
            let schema = described(json!({ "type": "string", "contentEncoding": "base64" }), body);
            fields.put("body", HttpPlace::WholeBody, schema, required, (Some(HttpStyle::Base64), None));
        }
    }
    Ok(Some(HttpBody { media_type: media_type.to_owned(), required }))
}

/// How a body is written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Json,
    Form,
    Multipart,
    Text,
    Bytes,
}

/// JSON before forms, forms before files, files before anything else.
fn preferred(content: &Map<String, Value>) -> Option<(&str, Kind, &Value)> {
    let kind = |name: &str| {
        let name = name.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match name.as_str() {
            "application/x-www-form-urlencoded" => Kind::Form,
            "multipart/form-data" => Kind::Multipart,
            "application/json" | "*/*" => Kind::Json,
            name if name.ends_with("+json") => Kind::Json,
            name if name.starts_with("text/") => Kind::Text,
            _ => Kind::Bytes,
        }
    };
    let all = content.iter().map(|(name, media)| (name.as_str(), kind(name), media));
    let (name, kind, media) = all.min_by_key(|(_, kind, _)| *kind)?;
    Some((if name.contains('*') { "application/json" } else { name }, kind, media))
}

/// The record that a schema is, if it is one whose fields are all known.
fn record(schemas: &mut Schemas<'_>, schema: &Value) -> Result<Option<Map<String, Value>>, String> {
    let mut schema = schema.clone();
    for _ in 0..16 {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => schema = schemas.component(reference)?.schema.clone(),
            None => break,
        }
    }
    let Value::Object(mut record) = schema else { return Ok(None) };
    // Branches that only say which fields go together: the service tells what is missing.
    let only_requires = |branches: &Value| {
        let is_plain = |branch: &Value| {
            branch
                .as_object()
                .is_some_and(|branch| branch.keys().all(|name| ["required", "type"].contains(&name.as_str())))
        };
        branches.as_array().is_some_and(|branches| branches.iter().all(is_plain))
    };
    if record.get("anyOf").is_some_and(only_requires) {
        record.remove("anyOf");
    }
    let known =
        ["type", "properties", "required", "additionalProperties", "description", "default", "minProperties"];
    let is_known = record.keys().all(|name| known.contains(&name.as_str()));
    let is_closed = record.get("additionalProperties").is_none_or(|more| *more == Value::Bool(false));
    let is_object = record.get("type").is_none_or(|types| {
        types == "object" || types.as_array().is_some_and(|types| types.contains(&Value::from("object")))
    });
    let has_fields =
        record.get("properties").and_then(Value::as_object).is_some_and(|fields| !fields.is_empty());
    Ok((is_known && is_closed && is_object && has_fields).then_some(record))
}

fn take_fields(record: &Map<String, Value>, kind: Kind, body_required: bool, fields: &mut Fields) {
    let required: Vec<&str> = record
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut named = Vec::new();
    for (name, schema) in record.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let is_bytes = schema.get("contentEncoding") == Some(&Value::from("base64"));
        let style = (kind == Kind::Multipart && is_bytes).then_some(HttpStyle::Base64);
        let is_required = required.contains(&name.as_str());
        let ours =
            fields.put(name, HttpPlace::Body, schema.clone(), is_required && body_required, (style, None));
        named.push((ours, is_required));
    }
    // A body that may be left out may be left out with all its fields, or none that it needs.
    if !body_required {
        fields.go_together(named);
    }
}

fn described(mut schema: Value, body: &Map<String, Value>) -> Value {
    let text = body.get("description").and_then(Value::as_str).unwrap_or("The body of the request.");
    if let Some(schema) = schema.as_object_mut() {
        schema.entry("description").or_insert_with(|| crate::words::field(text).into());
    }
    schema
}
