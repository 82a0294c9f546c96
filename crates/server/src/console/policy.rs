//! The headers under which the console's page works: nothing from elsewhere, no script or style in the page itself, and
//! no text that becomes markup, whoever makes the mistake.

use http::{HeaderMap, HeaderName, HeaderValue, header};

const CONTENT: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                       form-action 'none'; base-uri 'none'; frame-ancestors 'none'; \
                       require-trusted-types-for 'script'; trusted-types 'none'";

const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), microphone=(), geolocation=(), clipboard-read=()",
    ),
    (header::CACHE_CONTROL, "no-store"),
];

/// What the page is sent with.
pub(super) fn add(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    keep_to_ourselves(headers);
}

/// Pages of others cannot load it.
pub(super) fn keep_to_ourselves(headers: &mut HeaderMap) {
    let name = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(name, HeaderValue::from_static("same-origin"));
}
