//! Headers by which a server without sessions, and whatever stands before it, can tell requests apart.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::HeaderParam;

/// The revision.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The tool, prompt or resource.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The session, before 2026-07-28.
pub const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// Where a stream is taken up again, before 2026-07-28.
pub const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// The headers of a request.
pub fn of_request(method: &str, name: Option<&str>) -> HeaderMap {
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
pub fn add_params(headers: &mut HeaderMap, params: &[HeaderParam], arguments: &Value) {
    let Some(arguments) = arguments.as_object() else { return };
    for param in params {
        let value = match param.argument(arguments) {
            Some(Value::String(text)) => Some(encode(text)),
            Some(argument @ (Value::Bool(_) | Value::Number(_))) => {
                HeaderValue::try_from(argument.to_string()).ok()
            }
            _ => None,
        };
        if let (Ok(header), Some(value)) = (HeaderName::try_from(&param.header), value) {
            headers.insert(header, value);
        }
    }
}

const WRAPPED: &str = "=?base64?";
const END: &str = "?=";

/// A text as a header's value; in Base64 where a header cannot hold it, or it looks like such a one.
fn encode(text: &str) -> HeaderValue {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim() == text
        && unwrapped(text).is_none();
    let encoded = || format!("{WRAPPED}{}{END}", STANDARD.encode(text));
    let value = if plain { HeaderValue::try_from(text) } else { HeaderValue::try_from(encoded()) };
    // Base64 is plain.
    value.unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// A header's value as text, out of its Base64 wrapping where it has one; `None` if that is broken.
pub fn decode(value: &str) -> Option<Cow<'_, str>> {
    match unwrapped(value) {
        None => Some(Cow::Borrowed(value)),
        Some(wrapped) => {
            toolroom_work::step(wrapped.len());
            String::from_utf8(STANDARD.decode(wrapped).ok()?).ok().map(Cow::Owned)
        }
    }
}

fn unwrapped(value: &str) -> Option<&str> {
    value.strip_prefix(WRAPPED)?.strip_suffix(END)
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
    fn promise_any_header_takes_work_that_grows_with_its_length_alone_and_comes_back_as_it_was() {
        let target = toolroom_work::fuzz::Target {
            name: "values of MCP headers",
            words: &["=?base64?", "?=", "SGVsbG8=", "=", "//", "/w==", " ", "x", "ż", "\u{0}"],
            sample: 2_000,
            longest: 20_000,
            fixed: 40,
            // Base64 takes four bytes for three, and the text is read up to four times.
            per_byte: 6,
        };
        target.run(|text| {
            for text in [text, &format!("{WRAPPED}{text}{END}")] {
                let wrapped = unwrapped(text).is_some();
                assert_eq!(decode(text).is_some_and(|read| read == text), !wrapped, "{text}");
                let sent = encode(text);
                assert_eq!(decode(sent.to_str().unwrap()).as_deref(), Some(text));
            }
        });
    }
}
