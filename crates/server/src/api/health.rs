//! Is the process alive, can it serve, and what has it done?

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use serde_json::{Value, json};
use toolroom_store::StoreError;

use crate::app::App;
use crate::auth::Asked;

pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// Anybody may ask for the state; names and reasons are only for the owner and keys with `executions:read`.
pub(crate) async fn ready(State(app): State<Arc<App>>, request: Request) -> Response {
    let in_full = app.auth.may_look_after(Asked::of(&request)).await;
    let journal = app.runtime.journal.healthy();
    let store = app.runtime.store.ping().await;
    let damaged = store.as_ref().is_err_and(StoreError::is_damage);
    let ready = journal.is_ok() && store.is_ok();
    let state = |ok: bool, sentence: &str| {
        if ok { json!({ "ok": true }) } else { json!({ "ok": false, "reason": sentence }) }
    };
    // What was read before is served on, so that a bad edit leaves the server ready.
    let edited = |file: &str, trouble: Option<String>, before: &str| {
        trouble.map(|trouble| match in_full {
            false => format!("{file} was edited and cannot be used; {before}."),
            true => {
                let place = trouble.find(file).map_or(&*trouble, |at| &trouble[at..]);
                format!("The file was edited and cannot be used; {before}. {place}")
            }
        })
    };
    let registry = edited("tools.json", app.registrar.trouble(), "the tools from before are in use");
    let profiles = edited("profiles.json", app.profiles.trouble(), "the profiles from before are in use");
    let servers = edited("mcp.json", app.federation.trouble(), "the servers from before are in use");
    let down = app.federation.unavailable();
    let servers = servers.or_else(|| {
        if !in_full {
            return (!down.is_empty()).then(|| "A server of mcp.json cannot be used now.".to_owned());
        }
        let each = down
            .iter()
            .map(|one| format!("The server '{}' is {}: {}.", one.server, one.state.as_str(), one.reason));
        (!down.is_empty()).then(|| each.collect::<Vec<_>>().join(" "))
    });
    let snapshot = app.runtime.registry.snapshot();
    let mut body: Value = json!({
        "ready": ready,
        "checks": {
            "journal": state(journal.is_ok(), "The execution log cannot be written: free disk space or fix its folder."),
            "store": state(store.is_ok(), if damaged {
                "The database is damaged: stop the server, and restore the database from a backup."
            } else {
                "The database cannot be reached."
            }),
            "registry": state(registry.is_none(), registry.as_deref().unwrap_or_default()),
            "profiles": state(profiles.is_none(), profiles.as_deref().unwrap_or_default()),
            "servers": state(servers.is_none(), servers.as_deref().unwrap_or_default()),
        },
    });
    if in_full && let Some(body) = body.as_object_mut() {
        body.insert("unavailable".into(), json!(down));
        body.insert("tools".into(), snapshot.tools.len().into());
        body.insert("catalogueVersion".into(), snapshot.version.into());
    }
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.runtime.metrics.render()).into_response()
}
