//! Errors in OpenAI's shape, made of the problem documents that everything else here answers with.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use serde_json::json;

use crate::middleware::Problem;

/// A problem document becomes an error of OpenAI's.
pub(crate) fn shape(mut response: Response) -> Response {
    // Taken out, so that no other layer writes the document again.
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    let body = json!({
        "error": {
            "message": problem.detail.as_deref().unwrap_or(&problem.title),
            "type": kind(problem.status),
            "param": problem.errors.first().and_then(|error| param(&error.pointer)),
            "code": if problem.status == StatusCode::UNAUTHORIZED { "invalid_api_key" } else { &problem.code },
        }
    });
    let mut shaped = (problem.status, Json(body)).into_response();
    for kept in [header::WWW_AUTHENTICATE, header::RETRY_AFTER] {
        if let Some(value) = response.headers().get(&kept) {
            shaped.headers_mut().insert(kept, value.clone());
        }
    }
    shaped
}

fn kind(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::FORBIDDEN => "permission_error",
        StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
        status if status.is_server_error() => "server_error",
        _ => "invalid_request_error",
    }
}

/// `/messages/0/content` is `messages.0.content` to OpenAI; the whole body is no parameter.
fn param(pointer: &str) -> Option<String> {
    let name = pointer.trim_start_matches('/').replace('/', ".");
    (!name.is_empty()).then_some(name)
}
