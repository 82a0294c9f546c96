//! Headers that keep browsers from guessing, caching or framing what we answer.

use axum::extract::Request;
use http::{HeaderMap, HeaderValue, header};

const CONTENT_POLICY: &str =
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/// Whether what is asked for is of the API, which nobody may keep.
pub(super) fn is_api(request: &Request) -> bool {
    let path = request.uri().path();
    path == "/api" || path.starts_with("/api/")
}

/// A handler's own `Cache-Control` or `Content-Security-Policy` stands.
pub(super) fn add(headers: &mut HeaderMap, is_api: bool) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if is_api {
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
    if is_html(headers) {
        headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(CONTENT_POLICY));
    }
}

fn is_html(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}
