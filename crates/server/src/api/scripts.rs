//! Scripts that say themselves which tools they have: reading one, and registering all its tools at once.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_contract::ToolDefinition;
use toolroom_contract::entry::ToolEntry;

use super::Caller;
use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::of_error;

/// A script to be read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ScriptFile")]
pub(crate) struct Script {
    /// The file's name, relative to the folder of the tools.
    file: String,
    /// Its text.
    text: String,
}

/// The tools that a script describes.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DescribedTools")]
pub(crate) struct Described {
    /// Entries of tools.json; none if the script does not describe any.
    tools: Vec<ToolEntry>,
}

/// The text of a script, and what is to become of the tools that it has already.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ScriptText")]
pub(crate) struct Text {
    /// The text of the script.
    text: String,
    /// Whether tools that exist are replaced.
    #[serde(default)]
    replace: bool,
}

/// What was registered.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "StoredScript")]
pub(crate) struct Stored {
    /// The tools of the file.
    tools: Vec<Arc<ToolDefinition>>,
    /// Tools that the file had before, and has no longer.
    removed: Vec<String>,
}

/// Runs a script once, confined, and tells which tools it has. Nothing is registered.
pub(crate) async fn read(
    State(app): State<Arc<App>>,
    StrictJson(script): StrictJson<Script>,
) -> Result<Json<Described>, Problem> {
    let found = app.registrar.read_script(&script.file, &script.text).await;
    let tools = found.map_err(|error| of_error(&error.into()))?;
    Ok(Json(Described { tools }))
}

/// Registers the tools of a script.
pub(crate) async fn store(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(file): Path<String>,
    StrictJson(body): StrictJson<Text>,
) -> Result<Response, Problem> {
    let stored = app.registrar.put_script(&file, body.text, body.replace).await;
    let stored = stored.map_err(|error| of_error(&error.into()))?;
    tracing::info!(file, tools = stored.tools.len(), user = %caller.user.key, "a script was registered");
    let tools = stored.tools.iter().map(|tool| Arc::clone(tool.definition())).collect();
    Ok((StatusCode::OK, Json(Stored { tools, removed: stored.removed })).into_response())
}
