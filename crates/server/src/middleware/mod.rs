//! What every request passes through before and after the router, outermost first in [`frame`]'s reading.

pub mod body_limit;
pub mod host_origin;
pub mod problem;
pub mod security_headers;
pub mod strict_json;
pub mod trace;
pub(crate) mod unique_keys;

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use tower_http::catch_panic::CatchPanicLayer;

pub use body_limit::BodyLimit;
pub use host_origin::{HostPolicy, is_forwarded};
pub use problem::{FieldProblem, Problem};
pub use strict_json::StrictJson;

/// Puts the frame around a finished router. It also covers the fallback, so no route escapes it.
///
/// A request meets the layers from the last line up: trace, security headers, panics, Host and Origin, size.
pub fn frame(router: Router, policy: HostPolicy, limit: BodyLimit) -> Router {
    router
        // Ours counts for every route; axum's would only count in some extractors.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(limit, body_limit::enforce))
        .layer(from_fn_with_state(Arc::new(policy), host_origin::check))
        .layer(CatchPanicLayer::custom(answer_panic))
        .layer(from_fn(security_headers::add))
        .layer(from_fn(trace::follow))
}

/// The panic's text stays out of answer and log: it may hold what a caller sent.
fn answer_panic(_panic: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("a request handler panicked");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal")
        .detail("The server failed on this request; it goes on serving others.")
        .into_response()
}
