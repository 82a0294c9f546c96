//! Is the process alive, can it serve, and what has it done?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use serde_json::{Value, json};

use crate::app::App;

pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

pub(crate) async fn ready(State(app): State<Arc<App>>) -> Response {
    let journal = app.runtime.journal.healthy();
    let store = app.runtime.store.ping().await;
    let ready = journal.is_ok() && store.is_ok();
    let state = |ok: bool, sentence: &str| {
        if ok { json!({ "ok": true }) } else { json!({ "ok": false, "reason": sentence }) }
    };
    let body: Value = json!({
        "ready": ready,
        "checks": {
            "journal": state(journal.is_ok(), "The execution log cannot be written: free disk space or mend its folder."),
            "store": state(store.is_ok(), "The database cannot be reached."),
        },
        "tools": app.runtime.registry.snapshot().tools.len(),
    });
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.runtime.metrics.render()).into_response()
}
