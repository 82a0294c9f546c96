//! The catalogue, as far as the caller may use it.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_contract::{Category, ErrorCode, Principal, ToolDefinition};
use toolroom_profiles::DEFAULT;
use toolroom_runtime::catalogue::Tool;
use toolroom_runtime::federation::Unavailable;
use toolroom_runtime::search;

use super::tool_views::{Brief, Sheet};
use super::{Caller, servers, tool_views};
use crate::app::App;
use crate::middleware::Problem;
use crate::problems::{bad_query, problem};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    category: Option<Category>,
    tag: Option<String>,
    /// What the tools are for, in words; the best match comes first.
    q: Option<String>,
    /// `brief`: a line for each, in pages.
    view: Option<View>,
    /// With `brief`: at most this many, 1 to 1000.
    limit: Option<usize>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
}

/// How tools are shown.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ToolDetail")]
enum View {
    Brief,
    Sheet,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShownAs {
    /// `sheet`: with what follows from the contract.
    view: Option<View>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolList")]
pub(crate) struct Listing {
    /// The tools; with `q`, best match first.
    tools: Vec<Arc<ToolDefinition>>,
    /// How many there are.
    total: usize,
    /// The servers whose tools cannot be called now, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    unavailable: Vec<Unavailable>,
}

/// Tools, a line for each.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BriefToolList")]
pub(crate) struct Briefs {
    tools: Vec<Brief>,
    /// How many there are in all pages.
    total: usize,
    #[serde(rename = "nextCursor")]
    next_cursor: Option<String>,
}

/// A list in one of its two forms.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ToolsShown")]
pub(crate) enum Listed {
    Whole(Listing),
    Brief(Briefs),
}

/// A tool in one of its two forms.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ToolShown")]
pub(crate) enum One {
    Definition(Arc<ToolDefinition>),
    Sheet(Box<Sheet>),
}

/// This many are shown even if they fit badly.
const A_FEW: usize = 5;

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    filter: Result<Query<Filter>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Listed>, Problem> {
    let Query(filter) = filter.map_err(bad_query)?;
    let snapshot = Arc::clone(&app.runtime.registry.snapshot());
    // Calls of this route use `default`: a key without it can call none of these.
    let view = snapshot.view(&caller, DEFAULT, app.runtime.today());
    let found: Vec<Arc<Tool>> = match (&view, &filter.q) {
        (None, _) => Vec::new(),
        (Some(view), Some(words)) => {
            search::search(view, words, A_FEW).into_iter().map(|hit| hit.tool).collect()
        }
        (Some(view), None) => view.tools().map(|shown| Arc::clone(shown.tool)).collect(),
    };
    let wanted = |tool: &&Arc<Tool>| {
        let definition = tool.definition();
        filter.category.is_none_or(|category| definition.category == category)
            && filter.tag.as_ref().is_none_or(|tag| definition.tags.contains(tag))
    };
    let found: Vec<&Arc<Tool>> = found.iter().filter(wanted).collect();
    if filter.view == Some(View::Brief) {
        return briefs(&app, &caller, &found, &filter).await.map(|briefs| Json(Listed::Brief(briefs)));
    }
    let tools: Vec<_> = found.iter().map(|tool| Arc::clone(tool.published())).collect();
    let unavailable = servers::unavailable(&app, &caller);
    Ok(Json(Listed::Whole(Listing { total: tools.len(), tools, unavailable })))
}

/// A page of the list; a cursor is the name of the tool before it.
async fn briefs(
    app: &App,
    caller: &Principal,
    found: &[&Arc<Tool>],
    filter: &Filter,
) -> Result<Briefs, Problem> {
    let limit = filter.limit.unwrap_or(1000).clamp(1, 1000);
    let calls = tool_views::calls(app, caller).await?;
    let first = match &filter.cursor {
        None => 0,
        Some(cursor) => match found.iter().position(|tool| tool.name() == cursor) {
            Some(at) => at + 1,
            // It is gone; the list is in the order of names, unless it is one of matches.
            None => found.iter().position(|tool| tool.name() > cursor.as_str()).unwrap_or(found.len()),
        },
    };
    let page = &found[first..found.len().min(first + limit)];
    let more = first + page.len() < found.len();
    Ok(Briefs {
        tools: page.iter().map(|tool| Brief::new(tool, &calls)).collect(),
        total: found.len(),
        next_cursor: page.last().filter(|_| more).map(|tool| tool.name().to_owned()),
    })
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
    shown_as: Result<Query<ShownAs>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<One>, Problem> {
    let Query(shown_as) = shown_as.map_err(bad_query)?;
    let snapshot = Arc::clone(&app.runtime.registry.snapshot());
    let view = snapshot.view(&caller, DEFAULT, app.runtime.today());
    let found = view.and_then(|view| view.find(&name)).map(|shown| shown.tool);
    let tool =
        found.ok_or_else(|| problem(ErrorCode::ToolNotFound, "Unknown tool, or not allowed for you."))?;
    Ok(Json(match shown_as.view {
        Some(View::Sheet) => One::Sheet(Box::new(Sheet::new(&app, &caller, tool).await)),
        _ => One::Definition(Arc::clone(tool.published())),
    }))
}
