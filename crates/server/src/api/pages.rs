//! Pages to read without scripts: where to go, the API, the error codes.

use std::fmt::Write;
use std::sync::LazyLock;

use axum::response::{Html, IntoResponse};
use bytes::Bytes;
use http::header;
use toolroom_contract::ErrorCode;
use toolroom_contract::error::{ErrorClass, Retry};

use crate::openapi;

/// Rendered once: the routes do not change.
static OPENAPI: LazyLock<Bytes> = LazyLock::new(|| openapi::document().to_string().into());
static DOCS: LazyLock<Bytes> = LazyLock::new(|| made_docs().0.into());

pub(crate) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI.clone())
}

pub(crate) fn index() -> Html<String> {
    page(
        "Toolroom",
        "<p>The room where tools are kept, issued, checked and logged for AI agents.</p>\
         <ul><li><a href=\"/console/\">The console</a></li><li><a href=\"/docs\">The API</a></li><li><a href=\"/docs/errors\">Error codes</a></li>\
         <li><a href=\"/openapi.json\">OpenAPI document</a></li><li><a href=\"/readyz\">Status</a></li></ul>",
    )
}

pub(crate) fn docs() -> Html<Bytes> {
    Html(DOCS.clone())
}

fn made_docs() -> Html<String> {
    let document = openapi::document();
    let mut body = String::from("<table><tr><th>Request</th><th>What it does</th><th>Who may</th></tr>");
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            // Writing to a String cannot fail.
            let _ = write!(
                body,
                "<tr><td><code>{} {}</code></td><td>{}</td><td>{}</td></tr>",
                method.to_uppercase(),
                escape(path),
                escape(operation["summary"].as_str().unwrap_or_default()),
                escape(operation["x-access"].as_str().unwrap_or_default()),
            );
        }
    }
    body.push_str("</table><p>Bodies and answers in full: <a href=\"/openapi.json\">openapi.json</a>.</p>");
    page("Toolroom: the API", &body)
}

pub(crate) async fn errors() -> Html<String> {
    let mut body =
        String::from("<table><tr><th>Code</th><th>Class</th><th>HTTP</th><th>Retry</th><th>When</th></tr>");
    for code in ErrorCode::ALL {
        let class = match code.class() {
            ErrorClass::Validation => "validation",
            ErrorClass::Business => "business",
            ErrorClass::System => "system",
        };
        let retry = match code.retry() {
            Retry::No => "no",
            Retry::Yes => "yes",
            Retry::After(what) => what,
            Retry::IfIdempotent => "if idempotent",
        };
        let _ = write!(
            body,
            "<tr id=\"{code}\"><td><code>{code}</code></td><td>{class}</td><td>{}</td><td>{retry}</td><td>{}</td></tr>",
            code.http_status(),
            escape(code.when()),
        );
    }
    body.push_str("</table>");
    page("Toolroom: error codes", &body)
}

fn page(title: &str, body: &str) -> Html<String> {
    Html(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <style>body{{font:16px/1.5 system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}}\
         td,th{{text-align:left;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #ddd;vertical-align:top}}</style>\
         <h1>{title}</h1>{body}</html>"
    ))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
