//! The catalogue, as far as the caller may use it.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_contract::{Category, ErrorCode, ToolDefinition};
use toolroom_profiles::DEFAULT;
use toolroom_runtime::catalogue::Tool;
use toolroom_runtime::federation::Unavailable;
use toolroom_runtime::search;

use super::{Caller, servers};
use crate::app::App;
use crate::middleware::Problem;
use crate::problems::{bad_query, problem};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    category: Option<Category>,
    tag: Option<String>,
    q: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Listing {
    /// The tools; with `q`, best match first.
    tools: Vec<Arc<ToolDefinition>>,
    /// How many there are.
    total: usize,
    /// The servers whose tools cannot be called now, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unavailable: Vec<Unavailable>,
}

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    filter: Result<Query<Filter>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Listing>, Problem> {
    let Query(filter) = filter.map_err(bad_query)?;
    let snapshot = app.runtime.registry.snapshot();
    // Calls of this route use `default`: a key without it can call none of these.
    let view = snapshot.view(&caller, DEFAULT, app.runtime.today());
    let found: Vec<Arc<Tool>> = match (&view, &filter.q) {
        (None, _) => Vec::new(),
        (Some(view), Some(words)) => search::search(view, words).into_iter().map(|hit| hit.tool).collect(),
        (Some(view), None) => view.tools().map(|shown| Arc::clone(shown.tool)).collect(),
    };
    let tools: Vec<Arc<ToolDefinition>> = found
        .iter()
        .map(|tool| tool.definition())
        .filter(|tool| filter.category.is_none_or(|category| tool.category == category))
        .filter(|tool| filter.tag.as_ref().is_none_or(|tag| tool.tags.contains(tag)))
        .cloned()
        .collect();
    Ok(Json(Listing { total: tools.len(), tools, unavailable: servers::unavailable(&app, &caller) }))
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Arc<ToolDefinition>>, Problem> {
    let snapshot = app.runtime.registry.snapshot();
    let view = snapshot.view(&caller, DEFAULT, app.runtime.today());
    view.and_then(|view| view.find(&name))
        .map(|shown| Json(Arc::clone(shown.tool.definition())))
        .ok_or_else(|| problem(ErrorCode::ToolNotFound, "Unknown tool, or not allowed for you."))
}
