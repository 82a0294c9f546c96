//! Imported APIs: a plan of what an import changes, and the import.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::Deserialize;
use toolroom_contract::entry::ToolEntry;
use toolroom_runtime::registrar::{Import, ImportPlan};

use super::Caller;
use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::of_error;

/// The tools of an API.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "ApiImport")]
pub(crate) struct Api {
    /// Entries of type `http` that name this API.
    tools: Vec<ToolEntry>,
    /// All operations that the API has, as `GET /pets/{petId}`: tools of others are removed.
    operations: Vec<String>,
    /// Replace tools that there are, and add none.
    #[serde(default)]
    known_only: bool,
    /// Change nothing.
    #[serde(default)]
    plan: bool,
    /// Approve that the hosts get the secrets; counts if you are a person.
    #[serde(default)]
    approve_hosts: bool,
}

/// Imports an API, or tells what that would change.
pub(crate) async fn store(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(api): Path<String>,
    StrictJson(body): StrictJson<Api>,
) -> Result<Json<ImportPlan>, Problem> {
    let Api { tools, operations, known_only, plan, approve_hosts } = body;
    let approve_hosts = approve_hosts && caller.person;
    let import = Import { api: api.clone(), entries: tools, operations, known_only, plan, approve_hosts };
    let done = app.registrar.import(import).await.map_err(|error| of_error(&error.into()))?;
    if !plan {
        tracing::info!(api, tools = done.tools.len(), user = %caller.user.key, "an API was imported");
    }
    Ok(Json(done))
}
