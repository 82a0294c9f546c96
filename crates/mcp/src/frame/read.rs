//! Frames of clients, read strictly: whatever could be read in more than one way is refused.

use serde_json::error::Category;
use serde_json::value::RawValue;
use toolroom_contract::exact;
use toolroom_contract::unique_keys::UniqueKeys;

use super::envelope::Envelope;
use super::{Frame, Malformed, Message, Params, Text, peer_error};
use crate::{Code, Id, RpcError};

/// Reads a frame. No object in it repeats a key, nothing is nested deeper than 128 levels.
pub fn read(bytes: &[u8]) -> Result<Frame<'_>, Malformed> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Malformed::new(None, Code::Parse, "The message is not UTF-8."))?;
    let oversized = exact::oversized_integer(text);
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
        return exactly(message(envelope(text)?)?, oversized).map(Frame::One);
    }
    let parts: Vec<&RawValue> = serde_json::from_str(text)
        .map_err(|_| Malformed::new(None, Code::Parse, "The message is not JSON."))?;
    if parts.is_empty() {
        return Err(Malformed::new(None, Code::InvalidRequest, "A batch must not be empty."));
    }
    Ok(Frame::Batch(parts.into_iter().map(|part| one_of_batch(part.get())).collect()))
}

fn one_of_batch(text: &str) -> Result<Message<'_>, Malformed> {
    exactly(message(envelope(text)?)?, exact::oversized_integer(text))
}

/// Refuses a message with an integer that would lose digits.
fn exactly<'a>(
    message: Message<'a>,
    oversized: Option<exact::Oversized<'_>>,
) -> Result<Message<'a>, Malformed> {
    let Some(oversized) = oversized else { return Ok(message) };
    let id = match message {
        Message::Request { id, .. } => Some(id),
        Message::Notification { .. } | Message::Response { .. } => None,
    };
    let place: String = oversized.pointer.chars().take(200).collect();
    let refused = format!("Refused: {place}: {oversized}.");
    Err(Malformed { id, error: RpcError::new(Code::InvalidParams, refused) })
}

fn envelope(text: &str) -> Result<Envelope<'_>, Malformed> {
    Envelope::read(text)
        .ok_or_else(|| Malformed::new(None, Code::InvalidRequest, "The message must be an object."))
}

fn unplaced(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

fn message(envelope: Envelope<'_>) -> Result<Message<'_>, Malformed> {
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
        (None, Some(error)) => Some(Err(peer_error(error))),
        (Some(_), Some(_)) => return refuse(id, "A response has a result or an error, not both."),
    };
    let params = envelope.params.filter(|params| *params != "null");
    match (envelope.method, outcome) {
        (Some(_), Some(_)) => refuse(id, "A message is a request or a response, not both."),
        (None, None) => refuse(id, "'method' must be a string."),
        (None, Some(outcome)) => match id {
            Some(id) => Ok(Message::Response { id: Some(id), outcome }),
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
                Some(id) => Message::Request { id, method, params: Params::read(params) },
                None => Message::Notification { method, params },
            })
        }
    }
}

fn is_ours(version: &str) -> bool {
    version == "\"2.0\"" || serde_json::from_str(version).is_ok_and(|Text(version)| version == "2.0")
}
