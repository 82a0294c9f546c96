//! The home and its program: what is set, what the doctor finds, which model answers the chat.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::{Extension, Json};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use toolroom_contract::ErrorCode;

use super::Caller;
use crate::app::App;
use crate::home_info::{Doctor, Setting};
use crate::middleware::Problem;
use crate::problems::problem;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct About {
    version: &'static str,
    #[serde(rename = "started_at")]
    started_at: Timestamp,
    /// The kind of database.
    database: &'static str,
    catalogue_version: u64,
    /// The folder of the home, for its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    home: Option<String>,
}

pub(crate) async fn about(State(app): State<Arc<App>>, Extension(caller): Caller) -> Json<About> {
    let up = app.runtime.since.elapsed();
    // The owner is a person, and needs no key.
    let home = app.home.as_ref().filter(|_| caller.person && caller.key.is_none());
    Json(About {
        version: toolroom_runtime::VERSION,
        started_at: app.runtime.clock.now().checked_sub(up).unwrap_or(Timestamp::UNIX_EPOCH),
        database: match app.runtime.store.engine() {
            toolroom_store::Engine::Sqlite => "sqlite",
            toolroom_store::Engine::Postgres => "postgres",
        },
        catalogue_version: app.runtime.registry.snapshot().version,
        home: home.map(|home| home.root.display().to_string()),
    })
}

/// What is set, and by what.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Settings {
    settings: Vec<Setting>,
}

pub(crate) async fn settings(State(app): State<Arc<App>>) -> Result<Json<Settings>, Problem> {
    let home = app.home.as_ref().ok_or_else(no_home)?;
    Ok(Json(Settings { settings: home.settings.clone() }))
}

pub(crate) async fn doctor(State(app): State<Arc<App>>) -> Result<Json<Doctor>, Problem> {
    let home = app.home.as_ref().ok_or_else(no_home)?;
    Ok(Json((home.doctor)().await))
}

fn no_home() -> Problem {
    problem(ErrorCode::NotConfigured, "This server was started without a home.")
}

/// The model behind the chat.
#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct ModelState {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    reachable: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    checked_at: Timestamp,
}

/// How long the last look at the model's server counts.
const FRESH: Duration = Duration::from_secs(10);

pub(crate) async fn model(State(app): State<Arc<App>>) -> Json<ModelState> {
    // One look at a time, for all who ask.
    let mut last = app.model_state.lock().await;
    if let Some((at, state)) = &*last
        && at.elapsed() < FRESH
    {
        return Json(state.clone());
    }
    let found = app.chat.probe().await;
    let checked_at = app.runtime.clock.now();
    let state = match found {
        None => ModelState { kind: "offline", name: None, reachable: true, reason: None, checked_at },
        Some((name, found)) => ModelState {
            kind: "openai",
            name: Some(name),
            reachable: found.is_ok(),
            reason: found.err().map(|error| error.to_string()),
            checked_at,
        },
    };
    *last = Some((Instant::now(), state.clone()));
    Json(state)
}
