//! Errors as RFC 9457 problem documents.

use std::borrow::Cow;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use toolroom_contract::TraceId;

/// An error answer. `code` is stable and comes from the table of error codes; `detail` is for people.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Where the code is explained, as a reference relative to the server.
    pub r#type: String,
    pub title: Cow<'static, str>,
    #[serde(serialize_with = "status_number")]
    #[schemars(with = "u16")]
    pub status: StatusCode,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Cow<'static, str>>,
    /// From the table of error codes.
    pub code: Cow<'static, str>,
    /// Milliseconds; also sent as the header `Retry-After` in whole seconds, rounded up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub errors: Vec<FieldProblem>,
    /// Filled in by the trace layer; boxed, because errors are passed on by value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<Box<TraceId>>,
}

/// What is wrong with one place of the request body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FieldProblem {
    /// JSON Pointer into the body; empty for the whole.
    pub pointer: String,
    pub detail: String,
}

impl Problem {
    pub fn new(status: StatusCode, code: impl Into<Cow<'static, str>>) -> Self {
        let code = code.into();
        Self {
            r#type: format!("/docs/errors#{code}"),
            title: Cow::Borrowed(status.canonical_reason().unwrap_or("Error")),
            status,
            detail: None,
            code,
            retry_after: None,
            errors: Vec::new(),
            trace_id: None,
        }
    }

    /// Replaces the title, which is the status's own phrase otherwise.
    pub fn title(mut self, title: impl Into<Cow<'static, str>>) -> Self {
        self.title = title.into();
        self
    }

    pub fn detail(mut self, detail: impl Into<Cow<'static, str>>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        self
    }

    pub fn error(mut self, pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        self.errors.push(FieldProblem { pointer: pointer.into(), detail: detail.into() });
        self
    }
}

impl IntoResponse for Problem {
    /// The problem also stays in the response's extensions, where the trace layer finds it.
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(milliseconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(milliseconds.div_ceil(1000)));
        }
        response.extensions_mut().insert(self);
        response
    }
}

fn status_number<S: Serializer>(status: &StatusCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(status.as_u16())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_header_follow_the_contract() {
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited")
            .detail("slow down")
            .retry_after(Duration::from_millis(1_001))
            .error("/params", "too many");
        assert_eq!(
            serde_json::to_string(&problem).unwrap(),
            r##"{"type":"/docs/errors#rate_limited","title":"Too Many Requests","status":429,"detail":"slow down","code":"rate_limited","retryAfter":1001,"errors":[{"pointer":"/params","detail":"too many"}]}"##
        );
        let response = problem.into_response();
        assert_eq!(response.headers()[header::RETRY_AFTER], "2");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
    }
}
