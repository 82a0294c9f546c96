//! JSON-RPC 2.0: requests out, messages in. Parameters and results stay the text that they are.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The request's header or `_meta` disagree.
pub const HEADER_MISMATCH: i64 = -32020;
/// The client lacks a capability that the request needs.
pub const MISSING_CAPABILITY: i64 = -32021;
/// The server does not speak that revision.
pub const UNSUPPORTED_VERSION: i64 = -32022;
/// There is no such method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The receiver cannot do it now.
pub const INTERNAL_ERROR: i64 = -32603;

/// An error as a server answers it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RpcError {
    /// Its number.
    pub code: i64,
    /// What it says.
    #[serde(default)]
    pub message: String,
    /// What belongs to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl RpcError {
    /// An error of that number.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Whether only a server of the newest era answers so.
    pub fn is_modern(&self) -> bool {
        matches!(self.code, HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION)
    }
}

/// A message that came in.
#[derive(Debug)]
pub enum Message<'a> {
    /// The answer to a request of ours.
    Response {
        /// Which; `None` if it cannot be told, or cannot be one of ours.
        id: Option<u64>,
        /// How it came out.
        outcome: Result<&'a RawValue, RpcError>,
    },
    /// The server wants something.
    Request {
        /// To be given back as it is.
        id: &'a RawValue,
        /// What it wants.
        method: Cow<'a, str>,
        /// The particulars.
        params: Option<&'a RawValue>,
    },
    /// The server says something.
    Notification {
        /// What it is about.
        method: Cow<'a, str>,
        /// The particulars.
        params: Option<&'a RawValue>,
    },
}

#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow, default, deserialize_with = "given")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    // A result of `null` is a result.
    #[serde(borrow, default, deserialize_with = "given")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// `null` counts as given.
fn given<'de: 'a, 'a, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&'a RawValue>::deserialize(deserializer).map(Some)
}

/// How many messages one batch may hold.
const MOST_IN_BATCH: usize = 1000;

/// Takes a text apart; `None` if it is not JSON-RPC. A batch, which one revision had, is several messages.
pub fn parse(text: &[u8], mut take: impl FnMut(Message<'_>)) -> Option<()> {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace())?;
    if *first == b'[' {
        let batch: Vec<&RawValue> = serde_json::from_slice(text).ok()?;
        batch
            .into_iter()
            .take(MOST_IN_BATCH)
            .filter_map(|one| parse_one(one.get().as_bytes()))
            .for_each(take);
    } else {
        take(parse_one(text)?);
    }
    Some(())
}

fn parse_one(text: &[u8]) -> Option<Message<'_>> {
    let parts: Parts<'_> = serde_json::from_slice(text).ok()?;
    let number = |id: &RawValue| id.get().parse().ok();
    match parts {
        Parts { method: Some(method), id: Some(id), params, .. } => {
            Some(Message::Request { id, method, params })
        }
        Parts { method: Some(method), params, .. } => Some(Message::Notification { method, params }),
        Parts { id, error: Some(error), .. } => {
            let id = id.and_then(number);
            let error = match serde_json::from_str(error.get()) {
                Ok(error) => error,
                // Odd as it is, it ends the wait for an answer.
                Err(_) if id.is_some() => RpcError::new(INTERNAL_ERROR, error.get()),
                Err(_) => return None,
            };
            Some(Message::Response { id, outcome: Err(error) })
        }
        Parts { id: Some(id), result: Some(result), .. } => {
            Some(Message::Response { id: number(id), outcome: Ok(result) })
        }
        _ => None,
    }
}

/// A parameter on its way out.
#[derive(Clone, Copy)]
pub enum Field<'a> {
    /// A text.
    Text(&'a str),
    /// A value.
    Value(&'a Value),
    /// A value that stays the text that it is.
    Raw(&'a RawValue),
}

impl Serialize for Field<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Value(value) => value.serialize(serializer),
            Self::Raw(raw) => raw.serialize(serializer),
        }
    }
}

/// Parameters with their `_meta`.
pub struct Params<'a> {
    /// The parameters.
    pub fields: &'a [(&'static str, Field<'a>)],
    /// Left out if it is empty.
    pub meta: &'a Map<String, Value>,
}

impl Serialize for Params<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, field) in self.fields {
            map.serialize_entry(name, field)?;
        }
        if !self.meta.is_empty() {
            map.serialize_entry("_meta", self.meta)?;
        }
        map.end()
    }
}

/// The text of a request.
pub fn request(id: u64, method: &str, params: &Params<'_>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Request<'a> {
        jsonrpc: &'static str,
        id: u64,
        method: &'a str,
        params: &'a Params<'a>,
    }
    write(&Request { jsonrpc: "2.0", id, method, params })
}

/// The text of a notification.
pub fn notification(method: &str, params: Option<&Value>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Notification<'a> {
        jsonrpc: &'static str,
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<&'a Value>,
    }
    write(&Notification { jsonrpc: "2.0", method, params })
}

/// The text of an answer to a server's request.
pub fn response(id: &RawValue, outcome: Result<&RawValue, &RpcError>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Response<'a> {
        jsonrpc: &'static str,
        id: &'a RawValue,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a RpcError>,
    }
    write(&Response { jsonrpc: "2.0", id, result: outcome.ok(), error: outcome.err() })
}

fn write(message: &impl Serialize) -> Vec<u8> {
    // Texts and values with text keys can always be written.
    serde_json::to_vec(message).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn seen(text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        let parsed = parse(text.as_bytes(), |message| {
            seen.push(match message {
                Message::Response { id, outcome: Ok(result) } => format!("result {id:?} {result}"),
                Message::Response { id, outcome: Err(error) } => format!("error {id:?} {}", error.code),
                Message::Request { id, method, .. } => format!("request {id} {method}"),
                Message::Notification { method, .. } => format!("notification {method}"),
            });
        });
        if parsed.is_none() {
            seen.push("garbage".into());
        }
        seen
    }

    #[test]
    fn each_kind_of_message_is_told_apart() {
        assert_eq!(seen(r#"{"jsonrpc":"2.0","id":7,"result":{"a" : 1}}"#), [r#"result Some(7) {"a" : 1}"#]);
        assert_eq!(seen(r#"{"result":null,"id":7}"#), ["result Some(7) null"]);
        assert_eq!(seen(r#"{"id":"7","result":1}"#), ["result None 1"]);
        assert_eq!(seen(r#"{"id":null,"error":{"code":-32700,"message":"x"}}"#), ["error None -32700"]);
        assert_eq!(seen(r#"{"error":{"code":1}}"#), ["error None 1"]);
        assert_eq!(seen(r#"{"id":4,"error":"odd"}"#), ["error Some(4) -32603"]);
        assert_eq!(seen(r#"{"error":"a page of another kind"}"#), ["garbage"]);
        assert_eq!(seen(r#"{"id":4,"result":{},"error":null}"#), ["result Some(4) {}"]);
        assert_eq!(seen(r#"{"id":"a","method":"ping"}"#), [r#"request "a" ping"#]);
        assert_eq!(seen(r#"{"method":"notifications/x","params":{}}"#), ["notification notifications/x"]);
        assert_eq!(
            seen(r#" [{"method":"a"},7,{"id":1,"result":2}]"#),
            ["notification a", "result Some(1) 2"]
        );
        for garbage in ["", "hello", "{", "{}", "7", r#"{"id":1}"#, "[1", "\u{feff}{}"] {
            let seen = seen(garbage);
            assert!(seen == ["garbage"], "{garbage}: {seen:?}");
        }
    }

    #[test]
    fn requests_are_written_whole() {
        let raw: Box<RawValue> = serde_json::from_str(r#"{"b": 2,"a":1.0}"#).unwrap();
        let fields = [("name", Field::Text("x")), ("arguments", Field::Raw(&raw))];
        let mut meta = Map::new();
        let text = |meta: &Map<String, Value>| {
            String::from_utf8(request(3, "tools/call", &Params { fields: &fields, meta })).unwrap()
        };
        let start = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x","arguments":{"b": 2,"a":1.0}"#;
        assert_eq!(text(&meta), format!("{start}}}}}"));
        meta.insert("progressToken".into(), json!(3));
        assert_eq!(text(&meta), format!(r#"{start},"_meta":{{"progressToken":3}}}}}}"#));
    }
}
