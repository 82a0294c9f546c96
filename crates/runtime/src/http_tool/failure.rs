//! Why a web service gave no answer, by the codes that every tool has.

use http::StatusCode;
use http::header::RETRY_AFTER;
use serde_json::Value;
use toolroom_contract::error::Outcome;
use toolroom_contract::http_request::HttpRequest;
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_outgoing::{OutgoingError, Reply};

use super::answer;
use crate::catalogue::Tool;
use crate::journal::Secrets;

/// The longest text of the service's that a message repeats, in characters.
const LONGEST_MESSAGE: usize = 500;
/// The largest answer that an error carries as data, in bytes.
const LARGEST_DATA: usize = 16 << 10;

/// The request was not made, or its answer did not come.
pub(super) fn unanswered(tool: &Tool, request: &HttpRequest, error: OutgoingError) -> ToolError {
    let api = &request.api;
    let (code, message, reached) = match &error {
        OutgoingError::Refused => (
            ErrorCode::NotConfigured,
            format!(
                "'{}' was not called: the address of '{api}' is on this machine or its network. If that is meant, import it with --allow-private.",
                tool.name()
            ),
            false,
        ),
        OutgoingError::Unreachable(cause) => (
            ErrorCode::ServiceUnavailable,
            format!("The service of '{api}' cannot be reached. Try again later."),
            !cause.is_connect(),
        ),
        OutgoingError::Timeout => {
            (ErrorCode::ToolTimeout, format!("The service of '{api}' did not answer in time."), true)
        }
        OutgoingError::TooLarge { limit } => (
            ErrorCode::OutputTooLarge,
            format!(
                "The answer of '{api}' is larger than {limit} bytes. Ask for less, or raise config.limits.output."
            ),
            true,
        ),
        OutgoingError::Redirects => (
            ErrorCode::ToolExecutionError,
            format!(
                "The service of '{api}' redirects this request, which is not followed. Its address may have changed."
            ),
            false,
        ),
        OutgoingError::Setup(_) => return ToolError::internal(error),
    };
    let mut failed = ToolError::new(code, message);
    if code == ErrorCode::ServiceUnavailable {
        failed = failed.retry_after_ms(1000);
    }
    failed.outcome = Some(Outcome::Unknown).filter(|_| reached && !tool.policy.read_only);
    failed.caused_by(error)
}

/// The service refused the request, or failed.
pub(super) fn refused(tool: &Tool, request: &HttpRequest, secrets: &Secrets, reply: &Reply) -> ToolError {
    let status = reply.status;
    let code = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ErrorCode::NotConfigured,
        StatusCode::NOT_FOUND | StatusCode::GONE => ErrorCode::NotFound,
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => ErrorCode::VersionConflict,
        StatusCode::TOO_MANY_REQUESTS => ErrorCode::RateLimited,
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => {
            ErrorCode::ServiceUnavailable
        }
        status if status.is_client_error() => ErrorCode::InvalidInput,
        _ => ErrorCode::ToolExecutionError,
    };
    let kind = answer::kind(reply);
    let data: Option<Value> = (reply.body.len() <= LARGEST_DATA && kind.ends_with("json"))
        .then(|| serde_json::from_slice(&reply.body).ok())
        .flatten()
        .map(|data| secrets.hide_in(&data));
    let said = match &data {
        Some(data) => words(data),
        None if kind.starts_with("text/plain") => Some(String::from_utf8_lossy(&reply.body).into_owned()),
        None => None,
    };
    let said = said.map(|said| said.split_whitespace().collect::<Vec<_>>().join(" "));
    let said: Option<String> = said.map(|said| secrets.hide(&said).chars().take(LONGEST_MESSAGE).collect());
    let what = match said.filter(|said| !said.is_empty()) {
        Some(said) => format!(": {}", said.trim_end_matches('.')),
        None => String::new(),
    };
    let mut message = format!("'{}' answered {}{what}.", request.api, status.as_u16());
    if status == StatusCode::UNAUTHORIZED {
        let names: Vec<&str> = request.auth.iter().flatten().map(|part| part.secret()).collect();
        match names.first() {
            Some(name) => message.push_str(&format!(" Check its secret: toolroom secrets set {name}.")),
            None => message.push_str(" It wants to know who calls: import it again with --auth."),
        }
    }
    let mut failed = ToolError::new(code, message);
    // A refusal says nothing against the tool.
    failed.refusal = status.is_client_error();
    failed.outcome = Some(Outcome::Unknown).filter(|_| status.is_server_error() && !tool.policy.read_only);
    failed.data = data.map(Box::new);
    let wait = reply.headers.get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.trim().parse::<u64>().ok());
    match (code, wait) {
        (_, Some(seconds)) => failed.retry_after_ms(seconds.min(86_400) * 1000),
        (ErrorCode::RateLimited | ErrorCode::ServiceUnavailable, None) => failed.retry_after_ms(1000),
        _ => failed,
    }
}

/// What services put their reason under.
fn words(data: &Value) -> Option<String> {
    const PLACES: [&str; 7] = [
        "/error/message",
        "/message",
        "/detail",
        "/error_description",
        "/title",
        "/errors/0/message",
        "/error",
    ];
    let text = |place: &&str| data.pointer(place).and_then(Value::as_str).map(str::to_owned);
    PLACES.iter().find_map(text)
}
