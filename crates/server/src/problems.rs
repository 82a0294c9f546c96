//! Problem documents out of the table of error codes.

use std::borrow::Cow;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use http::StatusCode;
use toolroom_contract::text::plain_reason;
use toolroom_contract::{ErrorCode, ToolError};

use crate::middleware::Problem;

/// A problem of that code.
pub(crate) fn problem(code: ErrorCode, detail: impl Into<Cow<'static, str>>) -> Problem {
    let status = StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Problem::new(status, code.as_str()).title(code.when()).detail(detail)
}

/// The query of a request cannot be read.
pub(crate) fn bad_query(error: QueryRejection) -> Problem {
    let text = error.body_text();
    let reason = text.rsplit_once("query string: ").map_or(&*text, |(_, reason)| reason);
    let detail = format!(
        "The query of the address cannot be used: {}. /docs lists what it may say.",
        plain_reason(reason)
    );
    problem(ErrorCode::InvalidInput, detail)
}

/// What a caller may see of an error, outside of a call.
pub(crate) fn of_error(error: &ToolError) -> Problem {
    if let Some(cause) = &error.cause {
        tracing::error!(code = error.code.as_str(), %cause, "a request failed: {}", error.message);
    }
    let mut told = problem(error.code, error.message.clone());
    for detail in &error.details {
        told = told.error(detail.pointer.clone(), detail.message.clone());
    }
    match error.retry_after {
        Some(milliseconds) => told.retry_after(Duration::from_millis(milliseconds)),
        None => told,
    }
}
