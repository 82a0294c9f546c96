//! Headers by which a server without sessions, and whatever stands before it, can tell requests apart.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// The revision.
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method.
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The tool, prompt or resource.
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The session, before 2026-07-28.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// Where a stream is taken up again, before 2026-07-28.
pub(crate) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// An argument that is also sent as a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderParam {
    /// The header.
    header: HeaderName,
    /// The properties that lead to the argument.
    path: Vec<String>,
}

impl HeaderParam {
    /// The arguments that a schema marks with `x-mcp-header`; an error says why it may not.
    pub fn of_schema(schema: &Value) -> Result<Vec<Self>, String> {
        let mut found = Vec::new();
        Self::collect(schema, &mut Vec::new(), &mut found)?;
        if marks(schema) != found.len() {
            return Err("x-mcp-header stands where no plain property is".to_owned());
        }
        for (at, one) in found.iter().enumerate() {
            if found[..at].iter().any(|earlier| earlier.header == one.header) {
                return Err(format!("two properties have the same x-mcp-header {}", one.header));
            }
        }
        Ok(found)
    }

    fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Self>) -> Result<(), String> {
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            path.push(name.clone());
            if let Some(mark) = property.get("x-mcp-header") {
                let header = mark
                    .as_str()
                    .filter(|mark| !mark.is_empty())
                    .and_then(|mark| HeaderName::try_from(format!("mcp-param-{mark}")).ok())
                    .ok_or_else(|| format!("x-mcp-header of '{name}' is no name for a header"))?;
                let kind = property.get("type").and_then(Value::as_str);
                if !matches!(kind, Some("string" | "integer" | "boolean")) {
                    return Err(format!(
                        "x-mcp-header of '{name}' is on neither string, integer nor boolean"
                    ));
                }
                found.push(Self { header, path: path.clone() });
            }
            Self::collect(property, path, found)?;
            path.pop();
        }
        Ok(())
    }

    fn value(&self, arguments: &Value) -> Option<HeaderValue> {
        let argument = self.path.iter().try_fold(arguments, |value, name| value.get(name))?;
        match argument {
            Value::String(text) => Some(encode(text)),
            Value::Bool(_) | Value::Number(_) => HeaderValue::try_from(argument.to_string()).ok(),
            _ => None,
        }
    }
}

/// How often a schema is marked, wherever that is.
fn marks(schema: &Value) -> usize {
    match schema {
        Value::Object(map) => {
            map.iter().map(|(name, value)| usize::from(name == "x-mcp-header") + marks(value)).sum()
        }
        Value::Array(items) => items.iter().map(marks).sum(),
        _ => 0,
    }
}

/// The headers of a request.
pub(crate) fn of_request(method: &str, name: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Ok(method) = HeaderValue::try_from(method) {
        headers.insert(METHOD, method);
    }
    if let Some(name) = name {
        headers.insert(NAME, encode(name));
    }
    headers
}

/// The headers that a tool's arguments ask for.
pub(crate) fn add_params(headers: &mut HeaderMap, params: &[HeaderParam], arguments: &Value) {
    for param in params {
        if let Some(value) = param.value(arguments) {
            headers.insert(param.header.clone(), value);
        }
    }
}

/// A text as a header's value; in Base64 where a header cannot hold it, or it looks like such a one.
fn encode(text: &str) -> HeaderValue {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let encoded = || format!("=?base64?{}?=", STANDARD.encode(text));
    let value = if plain { HeaderValue::try_from(text) } else { HeaderValue::try_from(encoded()) };
    // Base64 is plain.
    value.unwrap_or_else(|_| HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marked_arguments_become_headers() {
        let schema = json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "type": "object", "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } },
            "free": { "type": "string" },
        } });
        let params = HeaderParam::of_schema(&schema).unwrap();
        let mut headers = of_request("tools/call", Some("żółw"));
        add_params(&mut headers, &params, &json!({ "region": " eu", "deep": { "n": 7 }, "free": "x" }));
        assert_eq!(headers["mcp-method"], "tools/call");
        assert_eq!(headers["mcp-name"], "=?base64?xbzDs8WCdw==?=");
        assert_eq!(headers["mcp-param-region"], "=?base64?IGV1?=");
        assert_eq!(headers["mcp-param-n"], "7");
        assert_eq!(headers.len(), 4);
        let mut headers = HeaderMap::new();
        add_params(&mut headers, &params, &json!({ "region": null }));
        assert!(headers.is_empty());
    }

    #[test]
    fn wrong_marks_are_refused() {
        let property = |property: Value| json!({ "properties": { "a": property } });
        for schema in [
            property(json!({ "type": "number", "x-mcp-header": "A" })),
            property(json!({ "type": "string", "x-mcp-header": "a b" })),
            property(json!({ "type": "string", "x-mcp-header": "" })),
            property(json!({ "type": "array", "items": { "type": "string", "x-mcp-header": "A" } })),
            json!({ "properties": {
                "a": { "type": "string", "x-mcp-header": "A" }, "b": { "type": "string", "x-mcp-header": "a" },
            } }),
        ] {
            assert!(HeaderParam::of_schema(&schema).is_err(), "{schema}");
        }
    }
}
