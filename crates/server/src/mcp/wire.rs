//! JSON-RPC 2.0 on the wire: frames in, read straight from their bytes; responses and notifications out.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::error::Category;
use serde_json::value::RawValue;
use toolroom_contract::exact;

use super::error::{Code, RpcError};
use super::field_scanner::FieldScanner;
use super::request::Fields;
use crate::middleware::strict_json;
use crate::middleware::unique_keys::UniqueKeys;

/// The id of a request: a string or a whole number, echoed as it came.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    Number(serde_json::Number),
    Text(Box<str>),
}

/// One message. What it carries is text of JSON that was looked at.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request {
        id: Id,
        method: Cow<'a, str>,
        params: Fields<'a>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a str>,
    },
    /// A client's answer to what we asked of it; older revisions only.
    Response {
        id: Id,
        outcome: Result<&'a str, &'a str>,
    },
}

/// One or several messages in a body.
#[derive(Debug)]
pub(crate) enum Frame<'a> {
    One(Message<'a>),
    /// Revision 2025-03-26 alone has these.
    Batch(Vec<Result<Message<'a>, Malformed>>),
}

/// What is not a message, with the id where that could be read.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) id: Option<Id>,
    pub(crate) error: RpcError,
}

impl Malformed {
    fn new(id: Option<Id>, code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { id, error: RpcError::new(code, message).of_the_envelope() }
    }
}

/// Reads a frame. No object in it repeats a key, nothing is nested deeper than 128 levels.
pub(crate) fn parse(bytes: &[u8]) -> Result<Frame<'_>, Malformed> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Malformed::new(None, Code::Parse, "The message is not UTF-8."))?;
    let oversized = exact::oversized_integer(text);
    if let Some(scanner) = FieldScanner::of(text) {
        return message(Envelope::of(&scanner), Some(&scanner))
            .and_then(|message| exactly(message, oversized))
            .map(Frame::One);
    }
    if let Err(error) = serde_json::from_str::<UniqueKeys>(text) {
        return Err(match error.classify() {
            Category::Data => {
                Malformed::new(None, Code::InvalidRequest, format!("Refused: {}.", unplaced(&error)))
            }
            Category::Syntax | Category::Eof | Category::Io => {
                Malformed::new(None, Code::Parse, "The message is not JSON.")
            }
        });
    }
    if !text.trim_start().starts_with('[') {
        return message(Envelope::read(text)?, None)
            .and_then(|message| exactly(message, oversized))
            .map(Frame::One);
    }
    let parts: Vec<&RawValue> = serde_json::from_str(text)
        .map_err(|_| Malformed::new(None, Code::Parse, "The message is not JSON."))?;
    if parts.is_empty() {
        return Err(Malformed::new(None, Code::InvalidRequest, "A batch must not be empty."));
    }
    Ok(Frame::Batch(parts.into_iter().map(|part| one_of_batch(part.get())).collect()))
}

fn one_of_batch(text: &str) -> Result<Message<'_>, Malformed> {
    exactly(message(Envelope::read(text)?, None)?, exact::oversized_integer(text))
}

/// Refuses a message with an integer that would lose digits.
fn exactly<'a>(message: Message<'a>, oversized: Option<&str>) -> Result<Message<'a>, Malformed> {
    let Some(number) = oversized else { return Ok(message) };
    let id = match message {
        Message::Request { id, .. } => Some(id),
        Message::Notification { .. } | Message::Response { .. } => None,
    };
    let refused = format!("Refused: {}.", strict_json::oversized(number));
    Err(Malformed { id, error: RpcError::new(Code::InvalidParams, refused) })
}

fn unplaced(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

fn message<'a>(envelope: Envelope<'a>, scanner: Option<&FieldScanner<'a>>) -> Result<Message<'a>, Malformed> {
    let refuse = |id, detail: &'static str| Err(Malformed::new(id, Code::InvalidRequest, detail));
    let id = match envelope.id.map(serde_json::from_str::<Id>) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => return refuse(None, "'id' must be a string or a whole number."),
    };
    if envelope.odd {
        return refuse(id, "A field differs from one of JSON-RPC only by case.");
    }
    if !envelope.version.is_some_and(is_ours) {
        return refuse(id, "'jsonrpc' must be \"2.0\".");
    }
    let outcome = match (envelope.result, envelope.error) {
        (None, None) => None,
        (Some(result), None) => Some(Ok(result)),
        (None, Some(error)) => Some(Err(error)),
        (Some(_), Some(_)) => return refuse(id, "A response has a result or an error, not both."),
    };
    let params = envelope.params.filter(|params| *params != "null");
    match (envelope.method, outcome) {
        (Some(_), Some(_)) => refuse(id, "A message is a request or a response, not both."),
        (None, None) => refuse(id, "'method' must be a string."),
        (None, Some(outcome)) => match id {
            Some(id) => Ok(Message::Response { id, outcome }),
            None => refuse(None, "A response needs the id of its request."),
        },
        (Some(_), None) if params.is_some_and(|params| !params.starts_with('{')) => {
            Err(Malformed::new(id, Code::InvalidParams, "'params' must be an object."))
        }
        (Some(method), None) => {
            let Ok(Text(method)) = serde_json::from_str(method) else {
                return refuse(id, "'method' must be a string.");
            };
            Ok(match id {
                Some(id) => {
                    let params = match (params, scanner) {
                        (Some(text), Some(scanner)) => Fields::of(text, &scanner.params),
                        (params, _) => Fields::read(params),
                    };
                    Message::Request { id, method, params }
                }
                None => Message::Notification { method, params },
            })
        }
    }
}

fn is_ours(version: &str) -> bool {
    version == "\"2.0\"" || serde_json::from_str(version).is_ok_and(|Text(version)| version == "2.0")
}

/// The fields of a message, their types not looked at yet, so that an error can carry the id.
#[derive(Default)]
struct Envelope<'a> {
    version: Option<&'a str>,
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Option<&'a str>,
    result: Option<&'a str>,
    error: Option<&'a str>,
    /// A field such as `Method` is there: other readers might take it for `method`.
    odd: bool,
}

impl<'a> Envelope<'a> {
    fn of(scanner: &FieldScanner<'a>) -> Self {
        let mut envelope = Self::default();
        for (key, value) in &scanner.fields {
            envelope.take(key, value);
        }
        envelope
    }

    fn read(text: &'a str) -> Result<Self, Malformed> {
        serde_json::from_str(text)
            .map_err(|_| Malformed::new(None, Code::InvalidRequest, "The message must be an object."))
    }

    fn take(&mut self, key: &str, value: &'a str) {
        const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
        let place = match key {
            "jsonrpc" => &mut self.version,
            "id" => &mut self.id,
            "method" => &mut self.method,
            "params" => &mut self.params,
            "result" => &mut self.result,
            "error" => &mut self.error,
            other => {
                self.odd |= NAMES.iter().any(|name| name.eq_ignore_ascii_case(other));
                return;
            }
        };
        *place = Some(value);
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Envelope<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON-RPC message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
                let mut envelope = Envelope::default();
                while let Some((Text(key), value)) = map.next_entry::<Text, &RawValue>()? {
                    envelope.take(&key, value.get());
                }
                Ok(envelope)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// A string, borrowed from the frame wherever it has no escapes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Any)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a whole number")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Id, E> {
                Ok(Id::Number(number.into()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Id, E> {
                Ok(Id::Number(number.into()))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Id, E> {
                Ok(Id::Text(text.into()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Id::Number(number) => number.serialize(serializer),
            Id::Text(text) => text.serialize(serializer),
        }
    }
}

/// The response to a request; without an id where that is not known.
pub(crate) fn response(id: Option<&Id>, outcome: &Result<Vec<u8>, RpcError>) -> Bytes {
    let length = outcome.as_ref().map_or(128, Vec::len);
    let mut out = Vec::with_capacity(length + 64);
    out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    if let Some(id) = id {
        out.extend_from_slice(br#","id":"#);
        write(&mut out, id);
    }
    match outcome {
        Ok(result) => {
            out.extend_from_slice(br#","result":"#);
            out.extend_from_slice(result);
        }
        Err(error) => {
            out.extend_from_slice(br#","error":"#);
            write(&mut out, error);
        }
    }
    out.push(b'}');
    out.into()
}

/// A notification.
pub(crate) fn notification(method: &str, params: &impl Serialize) -> Bytes {
    #[derive(Serialize)]
    struct Notification<'a, P> {
        jsonrpc: &'static str,
        method: &'a str,
        params: &'a P,
    }
    let mut out = Vec::with_capacity(256);
    write(&mut out, &Notification { jsonrpc: "2.0", method, params });
    out.into()
}

/// A request of ours to the client; older revisions only.
pub(crate) fn request(id: &Id, method: &str, params: &impl Serialize) -> Bytes {
    #[derive(Serialize)]
    struct Request<'a, P> {
        jsonrpc: &'static str,
        id: &'a Id,
        method: &'a str,
        params: &'a P,
    }
    let mut out = Vec::with_capacity(256);
    write(&mut out, &Request { jsonrpc: "2.0", id, method, params });
    out.into()
}

/// Appends JSON.
pub(crate) fn write(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // Our own types have string keys and write to memory: this cannot fail.
    let _ = serde_json::to_writer(out, value);
}
