//! The headers that repeat the body: they must agree with it, or a proxy that routes by them is misled.

use std::borrow::Cow;
use std::fmt::Display;

use http::header::AsHeaderName;
use http::{HeaderMap, header};
use toolroom_contract::ErrorCode;
use toolroom_mcp::headers::{self, METHOD, NAME, PROTOCOL_VERSION};
use toolroom_mcp::method::NamedBy;
use toolroom_mcp::{Method, Params, RpcError, Text};

use crate::middleware::Problem;
use crate::problems::problem;

/// A client must take both kinds of answer, because it cannot know which it gets.
pub(crate) fn check_accept(headers: &HeaderMap) -> Result<(), Problem> {
    if takes(headers, "application/json") && takes_events(headers) {
        return Ok(());
    }
    Err(problem(ErrorCode::NotAcceptable, "Send 'Accept: application/json, text/event-stream'."))
}

/// Whether the client takes a stream of events.
pub(crate) fn takes_events(headers: &HeaderMap) -> bool {
    takes(headers, "text/event-stream")
}

/// Without the header, anything is accepted.
fn takes(headers: &HeaderMap, wanted: &str) -> bool {
    let group = wanted.split('/').next().unwrap_or_default();
    let mut accepted =
        headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    accepted.peek().is_none()
        || accepted.flat_map(|line| line.split(',')).any(|range| {
            let range = range.split(';').next().unwrap_or_default().trim();
            range.eq_ignore_ascii_case(wanted)
                || range == "*/*"
                || range.strip_suffix("/*").is_some_and(|any| any.eq_ignore_ascii_case(group))
        })
}

/// The one `MCP-Protocol-Version`, if there is one.
pub(crate) fn protocol_version(headers: &HeaderMap) -> Result<Option<&str>, RpcError> {
    single(headers, &PROTOCOL_VERSION)
}

/// `Mcp-Method` is there and names the method.
pub(crate) fn check_method(headers: &HeaderMap, method: &str) -> Result<(), RpcError> {
    agree("Mcp-Method", single(headers, &METHOD)?, method)
}

/// `Mcp-Name` is there and names what the request is about, where the method is about something.
pub(crate) fn check_name(headers: &HeaderMap, method: Method, fields: &Params<'_>) -> Result<(), RpcError> {
    let meant = match method.named_by() {
        None => return Ok(()),
        Some(NamedBy::Name) => fields.name,
        Some(NamedBy::Uri) => fields.uri,
        Some(NamedBy::TaskId) => fields.task_id,
    };
    // What is not a string is refused by the method itself.
    let Some(Ok(Text(meant))) = meant.map(serde_json::from_str) else { return Ok(()) };
    let given = single(headers, &NAME)?.map(|value| decoded("Mcp-Name", value)).transpose()?;
    agree("Mcp-Name", given.as_deref(), &meant)
}

/// Header and body say the same.
pub(crate) fn agree(name: &str, header: Option<&str>, body: &str) -> Result<(), RpcError> {
    match header {
        Some(given) if given == body => Ok(()),
        Some(_) => Err(RpcError::mismatch(format!("The header {name} and the body do not agree."))),
        None => Err(RpcError::mismatch(format!("The header {name} is missing."))),
    }
}

/// The one value of a header; repeated or not plain text, it could be read in more than one way.
pub(crate) fn single(
    headers: &HeaderMap,
    name: impl AsHeaderName + Display + Copy,
) -> Result<Option<&str>, RpcError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(RpcError::mismatch(format!("The header {name} appears more than once.")));
    }
    let text = value.to_str().map_err(|_| {
        RpcError::mismatch(format!("The header {name} has characters that are not allowed in a header."))
    })?;
    Ok(Some(text.trim_matches([' ', '\t'])))
}

/// A value as it is, or out of its Base64 wrapping.
pub(crate) fn decoded<'a>(name: &str, value: &'a str) -> Result<Cow<'a, str>, RpcError> {
    headers::decode(value)
        .ok_or_else(|| RpcError::mismatch(format!("The header {name} is not valid Base64 of UTF-8 text.")))
}

/// Whether the client names events before JSON.
pub(crate) fn prefers_events(headers: &HeaderMap) -> bool {
    let first = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    first.trim_start().get(..17).is_some_and(|kind| kind.eq_ignore_ascii_case("text/event-stream"))
}
