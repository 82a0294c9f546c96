//! JSON bodies, taken strictly: the right type, the right size, and text that every later reader accepts.

use std::any::TypeId;
use std::error::Error;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_path_to_error::{Path, Segment};
use toolroom_contract::text::plain_reason;
use toolroom_contract::unique_keys::UniqueKeys;
use toolroom_contract::{ErrorCode, ToolError, exact};
use toolroom_runtime::cpu_pool;

use super::{BodyLimit, Problem};
use crate::listener::BodyTooSlow;
use crate::problems::{of_error, problem};

/// serde_json's own limit, which raw values would bypass.
const MAX_DEPTH: usize = 128;

/// A request body read as `T`; anything wrong with it is answered with a [`Problem`].
///
/// Structs refuse duplicate keys by themselves. Raw values are checked here for what serde_json skips in them:
/// depth and lone surrogates.
#[derive(Clone, Copy, Debug)]
pub struct StrictJson<T>(pub T);

impl<T: DeserializeOwned + Send + 'static, S: Send + Sync> FromRequest<S> for StrictJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts, body).await?;
        read_aside(bytes.len(), move || decode(&bytes)).await?.map(Self)
    }
}

/// A text up to this length is read at once.
const SHORT: usize = 64 << 10;

/// Reads a text of this length: a long one on other threads than those that answer requests, which would wait for it.
pub(crate) async fn read_aside<T: Send + 'static>(
    length: usize,
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    if length <= SHORT {
        return Ok(read());
    }
    cpu_pool::run(read).await.map_err(|error| of_error(&ToolError::internal(error)))
}

/// The body of a call. JSON that cannot be used as it is, such as a number that is too large or a field that comes
/// twice, is wrong input like any other: it is refused in the form in which the call would be answered.
pub struct CallBody(pub Result<Value, ToolError>);

impl<S: Send + Sync> FromRequest<S> for CallBody {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts, body).await?;
        match decoded(&bytes) {
            Ok(value) => Ok(Self(Ok(value))),
            Err(Flaw { detail, pointer }) if serde_json::from_slice::<IgnoredAny>(&bytes).is_ok() => {
                Ok(Self(Err(ToolError::invalid(pointer, detail))))
            }
            Err(flaw) => Err(flaw.into()),
        }
    }
}

/// What is wrong with a text, and where.
struct Flaw {
    detail: String,
    pointer: String,
}

impl From<Flaw> for Problem {
    fn from(Flaw { detail, pointer }: Flaw) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, "invalid_input")
            .detail(format!("The request body is not what is expected here: {detail}."))
            .error(pointer, detail)
    }
}

/// The bytes of a body that says it is JSON, of the right size and in time.
pub(crate) async fn read(head: &Parts, body: Body) -> Result<Bytes, Problem> {
    if !is_json(&head.headers) {
        let detail = "Send the body as JSON, with Content-Type: application/json.";
        return Err(problem(ErrorCode::UnsupportedMediaType, detail));
    }
    let limit = head.extensions.get().copied().unwrap_or_default();
    let collected = body.collect().await.map_err(|error| unreadable(&error, limit))?;
    Ok(collected.to_bytes())
}

/// Decodes a JSON text by the rules of [`StrictJson`].
#[allow(clippy::result_large_err, reason = "made once per refused request, and an extractor cannot box it")]
pub fn decode<T: DeserializeOwned + 'static>(bytes: &[u8]) -> Result<T, Problem> {
    Ok(decoded(bytes)?)
}

fn decoded<T: DeserializeOwned + 'static>(bytes: &[u8]) -> Result<T, Flaw> {
    let invalid = |detail: String, pointer: String| Flaw { detail, pointer };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| invalid(format!("not UTF-8 after byte {}", error.valid_up_to()), String::new()))?;
    let text = exact::plain_zeros(text);
    let text = &*text;
    // The parser would fill a struct from an array, field by field.
    if TypeId::of::<T>() != TypeId::of::<Value>() && text.trim_start().starts_with('[') {
        return Err(invalid("an array where an object is expected".to_owned(), String::new()));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        // The parser's own words for these two are about its inside.
        let flaw =
            check_text(text).err().map_or_else(|| plain_reason(&error.inner().to_string()), str::to_owned);
        invalid(flaw, pointer(error.path()))
    })?;
    deserializer.end().map_err(|error| invalid(error.to_string(), String::new()))?;
    check_text(text).map_err(|flaw| invalid(flaw.to_owned(), String::new()))?;
    // Structs refuse a key that comes twice; free-form values would silently take the last.
    let mut again = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize::<_, UniqueKeys>(&mut again)
        .map_err(|error| invalid(error.inner().to_string(), pointer(error.path())))?;
    if let Some(oversized) = exact::oversized_integer(text) {
        return Err(invalid(oversized.to_string(), oversized.pointer));
    }
    Ok(value)
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(Ok(kind)) = headers.get(header::CONTENT_TYPE).map(|value| value.to_str()) else { return false };
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return true;
    }
    let essence = essence.to_ascii_lowercase();
    essence.starts_with("application/") && essence.ends_with("+json")
}

fn unreadable(error: &(dyn Error + 'static), limit: BodyLimit) -> Problem {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return limit.exceeded();
        }
        if error.is::<BodyTooSlow>() {
            return problem(ErrorCode::RequestTimeout, "The request body came too slowly.");
        }
        cause = error.source();
    }
    Flaw { detail: "the body ended early or was malformed".to_owned(), pointer: String::new() }.into()
}

/// The JSON Pointer of a path; it ends where the parser lost the way.
pub(crate) fn pointer(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        let token = match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key } => toolroom_contract::pointer::token(key),
            // A variant is not a separate level in the text, or is one that `Map` already named.
            Segment::Enum { .. } | Segment::Unknown => continue,
        };
        pointer.push('/');
        pointer.push_str(&token);
    }
    pointer
}

/// Finds, in text that is JSON as far as it was read, what serde_json does not look for inside raw and ignored
/// values.
fn check_text(text: &str) -> Result<(), &'static str> {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut in_string) = (0, 0_usize, false);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match (byte, in_string) {
            (b'"', _) => in_string = !in_string,
            (b'\\', true) => at += escape_length(&bytes[at..])?,
            (b'[' | b'{', false) => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err("nested more than 128 levels deep");
                }
            }
            (b']' | b'}', false) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// How many bytes follow the backslash; a surrogate pair counts as one escape.
fn escape_length(rest: &[u8]) -> Result<usize, &'static str> {
    const LONE: &str = "a lone surrogate in a string";
    match unicode_escape(rest) {
        None => Ok(1),
        Some(0xD800..=0xDBFF) => match rest.get(5) {
            Some(b'\\') if matches!(unicode_escape(&rest[6..]), Some(0xDC00..=0xDFFF)) => Ok(11),
            _ => Err(LONE),
        },
        Some(0xDC00..=0xDFFF) => Err(LONE),
        Some(_) => Ok(5),
    }
}

fn unicode_escape(rest: &[u8]) -> Option<u16> {
    let digits = rest.strip_prefix(b"u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::value::RawValue;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Envelope {
        #[allow(dead_code)]
        items: Vec<Item>,
        #[allow(dead_code)]
        params: Option<Box<RawValue>>,
    }

    #[derive(Debug, Deserialize)]
    struct Item {
        #[allow(dead_code)]
        #[serde(rename = "a/b")]
        count: u8,
    }

    fn flaw(text: &[u8]) -> (String, String) {
        let problem = decode::<Envelope>(text).unwrap_err();
        assert_eq!(problem.status, StatusCode::BAD_REQUEST);
        let error = problem.errors.into_iter().next().unwrap();
        (error.pointer, error.detail)
    }

    #[test]
    fn a_wrong_value_is_named_by_pointer_and_position() {
        let (pointer, detail) = flaw(br#"{"items": [{"a/b": 1}, {"a/b": "x"}]}"#);
        assert_eq!(pointer, "/items/1/a~1b");
        assert!(detail.contains("line 1 column"), "{detail}");
    }

    #[test]
    fn broken_text_is_refused_even_where_the_parser_would_skip_it() {
        for text in [
            &br#"{"items": []"#[..],
            br#"{"items": [], "items": []}"#,
            br#"{"items": []} x"#,
            br#"{"items": [], "params": "\ud800"}"#,
            br#"{"items": [], "params": "\udc00\ud800"}"#,
            br#"{"items": [], "params": "\ud800\\udc00"}"#,
            b"{\"items\": [], \"params\": \"\xff\"}",
            b"",
        ] {
            flaw(text);
        }
        let deep = format!(r#"{{"items": [], "params": {}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(flaw(deep.as_bytes()).1, "nested more than 128 levels deep");
    }

    #[tokio::test]
    async fn a_long_text_is_read_on_another_thread_than_those_that_answer_requests() {
        let here = std::thread::current().id();
        for (length, at_once) in [(0, true), (SHORT, true), (SHORT + 1, false)] {
            let read = read_aside(length, || std::thread::current().id()).await.unwrap();
            assert_eq!(read == here, at_once, "{length}");
        }
    }

    #[test]
    fn sound_text_passes() {
        let text = br#"{"items": [{"a/b": 2}], "params": "\ud83d\ude00 \\ud800 \" [[[ \u0041"}"#;
        assert!(decode::<Envelope>(text).is_ok());
    }
}
