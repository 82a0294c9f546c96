//! Is the process alive, can it serve, and what has it done?

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::timeout;
use toolroom_runtime::federation::Unavailable;
use toolroom_store::{StoreError, workers};

use crate::app::App;
use crate::auth::Asked;

/// How long the database is waited for: less than balancers wait for the answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether calls can be served.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Readiness {
    ready: bool,
    checks: Checks,
    /// The rest is for the owner and keys with `executions:read`.
    #[serde(flatten)]
    in_full: Option<InFull>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReadinessChecks")]
struct Checks {
    server: CheckState,
    journal: CheckState,
    store: CheckState,
    registry: CheckState,
    profiles: CheckState,
    servers: CheckState,
    limits: CheckState,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReadinessState")]
struct CheckState {
    ok: bool,
    /// What is wrong, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct InFull {
    /// The servers whose tools cannot be called now, and why.
    unavailable: Vec<Unavailable>,
    /// How many tools there are.
    tools: usize,
    catalogue_version: u64,
    /// How many servers share the database, as this one saw last.
    #[serde(skip_serializing_if = "Option::is_none")]
    sharing: Option<usize>,
}

pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// Anybody may ask for the state; names and reasons are only for the owner and keys with `executions:read`.
pub(crate) async fn ready(State(app): State<Arc<App>>, request: Request) -> Response {
    let in_full = app.auth.may_look_after(Asked::of(&request)).await;
    let journal = app.runtime.journal.healthy();
    // A database that takes what is sent and never answers is away, too; whoever asks does not wait for it.
    let away = || StoreError::Unavailable { cause: "no answer in time".to_owned() };
    let store = timeout(PATIENCE, app.runtime.store.ping()).await.unwrap_or_else(|_| Err(away()));
    let is_stopping = app.draining.is_cancelled();
    let lease = app.runtime.store.lease();
    let is_fenced = lease.is_some_and(|lease| !lease.is_held());
    let is_behind = lease.is_some_and(|lease| lease.is_behind());
    let ready = journal.is_ok() && store.is_ok() && !is_stopping && !is_fenced;
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
    let body = Readiness {
        ready,
        checks: Checks {
            server: state(match (is_stopping, is_fenced) {
                (true, _) => Some("The server is stopping; send requests to another one."),
                (_, true) if is_behind => {
                    Some("The server could not put the newest registry in force; its log says why.")
                }
                (_, true) => Some("The server has lost its lease, and waits for its database."),
                _ => None,
            }),
            journal: state(
                journal
                    .err()
                    .map(|_| "The execution log cannot be written: free disk space or fix its folder."),
            ),
            store: state(store.err().map(|error| match error.is_damage() {
                true => "The database is damaged: stop the server, and restore the database from a backup.",
                false => "The database cannot be reached.",
            })),
            registry: state(registry),
            profiles: state(profiles),
            servers: state(servers),
            // Calls are served, and bounded: the server stays ready.
            limits: state(app.runtime.redis().filter(|redis| !redis.is_connected()).map(
                |_| "Redis cannot be used, so rate limits count this server's share; its log says why.",
            )),
        },
        in_full: in_full.then(|| InFull {
            unavailable: down,
            tools: snapshot.tools.len(),
            catalogue_version: snapshot.version,
            sharing: lease.map(|lease| lease.replicas()),
        }),
    };
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

fn state(wrong: Option<impl Into<String>>) -> CheckState {
    CheckState { ok: wrong.is_none(), reason: wrong.map(Into::into) }
}

/// OpenMetrics, unless the client likes the classic format better.
pub(crate) async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let asked = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let metrics = &app.runtime.metrics;
    let store = &app.runtime.store;
    // While the database is away, there is nothing to say of it.
    if store.lease().is_some()
        && let Ok::<_, StoreError>(depths) = store.read(workers::depths).await
    {
        metrics.set_deferred_queue(depths);
    }
    let (text, kind) = if liking(asked, "text/plain") > liking(asked, "application/openmetrics-text") {
        (metrics.render_classic(), "text/plain; version=0.0.4; charset=utf-8")
    } else {
        (metrics.render(), "application/openmetrics-text; version=1.0.0; charset=utf-8")
    };
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// How much a client likes a kind of answer, by its `Accept`: from 0 to 1000, what names the kind best before the rest.
fn liking(accept: &str, kind: &str) -> u16 {
    let family = kind.split('/').next().unwrap_or_default();
    let mut best = (0, 0);
    for wanted in accept.split(',') {
        let mut parts = wanted.split(';').map(str::trim);
        let closeness = match parts.next().unwrap_or_default().to_ascii_lowercase() {
            named if named == kind => 3,
            named if named.strip_suffix("/*") == Some(family) => 2,
            named if named == "*/*" => 1,
            _ => continue,
        };
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.trim().parse::<f32>().ok());
        let weight = (weight.unwrap_or(1.0).clamp(0.0, 1.0) * 1000.0).round() as u16;
        best = best.max((closeness, weight));
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::liking;

    #[test]
    fn the_format_that_a_client_likes_better_is_chosen() {
        let classic = |accept| liking(accept, "text/plain") > liking(accept, "application/openmetrics-text");
        assert!(classic("text/plain") && classic("text/plain;version=0.0.4;q=0.9, */*;q=0.1"));
        assert!(classic("application/openmetrics-text;version=1.0.0;q=0.2,text/plain;version=0.0.4;q=0.5"));
        assert!(classic("application/openmetrics-text;q=0, text/*"));
        assert!(!classic("") && !classic("*/*") && !classic("application/json"));
        let prometheus =
            "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.2";
        assert!(!classic(prometheus));
    }
}
