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
    // The catalogue that was read before is served on, so that a bad edit leaves the server ready.
    let registry = app.registrar.trouble().map(|trouble| {
        // Anybody may ask here: where the home is, is not for everybody.
        let place = trouble.find("tools.json").map_or(&*trouble, |at| &trouble[at..]);
        format!("The file was edited and cannot be used; the catalogue from before is served. {place}")
    });
    let servers = app.federation.trouble().map(|trouble| {
        let place = trouble.find("mcp.json").map_or(&*trouble, |at| &trouble[at..]);
        format!("The file was edited and cannot be used; the servers from before are in force. {place}")
    });
    let down = app.federation.unavailable();
    let servers = servers.or_else(|| {
        let each = down
            .iter()
            .map(|one| format!("The server '{}' is {}: {}.", one.server, one.state.as_str(), one.reason));
        (!down.is_empty()).then(|| each.collect::<Vec<_>>().join(" "))
    });
    let snapshot = app.runtime.registry.snapshot();
    let body: Value = json!({
        "ready": ready,
        "checks": {
            "journal": state(journal.is_ok(), "The execution log cannot be written: free disk space or mend its folder."),
            "store": state(store.is_ok(), "The database cannot be reached."),
            "registry": state(registry.is_none(), registry.as_deref().unwrap_or_default()),
            "servers": state(servers.is_none(), servers.as_deref().unwrap_or_default()),
        },
        "unavailable": down,
        "tools": snapshot.tools.len(),
        "catalogueVersion": snapshot.version,
    });
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.runtime.metrics.render()).into_response()
}
