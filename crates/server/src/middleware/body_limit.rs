//! The size of request bodies: refused by the announced length, or as soon as too much has come.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use http_body_util::Limited;

use super::Problem;

/// The most bytes that a request body may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimit(pub usize);

impl Default for BodyLimit {
    fn default() -> Self {
        Self(1024 * 1024)
    }
}

impl BodyLimit {
    /// The answer to a body beyond the limit.
    pub fn exceeded(self) -> Problem {
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large")
            .detail(format!("The request body may have {} bytes at most.", self.0))
    }
}

/// Every reader of the body sees an error once the limit is passed; [`StrictJson`](super::StrictJson) answers 413.
pub async fn enforce(State(limit): State<BodyLimit>, mut request: Request, next: Next) -> Response {
    if announced_length(request.headers()).is_some_and(|length| length > limit.0 as u64) {
        return limit.exceeded().into_response();
    }
    request.extensions_mut().insert(limit);
    next.run(request.map(|body| Body::new(Limited::new(body, limit.0)))).await
}

fn announced_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
