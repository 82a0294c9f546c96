//! Scripts while they are written: the text that is registered, what saving another would mean, and a try of it.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::{HeaderValue, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_contract::check::{self, Stage};
use toolroom_contract::context::ContextFields;
use toolroom_contract::diff::Change;
use toolroom_contract::entry::ToolEntry;
use toolroom_contract::{ErrorCode, Reporter, ToolDefinition};
use toolroom_runtime::registrar::{Draft, Plan};
use toolroom_runtime::{CallRequest, Edge};

use super::Caller;
use super::call::{Wire, envelope};
use super::tool_views::Line;
use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::{of_error, problem};

/// The script of a tool.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RegisteredScript")]
pub(crate) struct Script {
    /// Its entry of tools.json.
    entry: ToolEntry,
    /// Its text.
    script: String,
    language: &'static str,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ScriptDraft")]
pub(crate) struct Planned {
    /// The text of the script.
    script: String,
    /// The entry, where the script does not describe itself.
    entry: Option<ToolEntry>,
    /// The tool that it would replace.
    replaces: Option<String>,
}

/// What saving a script would mean.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ScriptPlan")]
pub(crate) struct Meaning {
    /// What `POST /tools` takes, without the script; null if the script cannot be read.
    entry: Option<ToolEntry>,
    definition: Option<ToolDefinition>,
    /// What was filled in on the safe side.
    derived: Vec<String>,
    /// The checklist of the contract.
    findings: Vec<Line>,
    /// What is different for callers.
    changes: Vec<Change>,
    /// Whether it would be refused because it breaks callers.
    refused: bool,
    /// The name under which it could be published instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_name: Option<String>,
    /// What can be done about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    ways_out: Option<String>,
    mistakes: Vec<Mistake>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ScriptMistake")]
struct Mistake {
    /// Counted from 1.
    line: usize,
    column: usize,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DraftCall")]
pub(crate) struct Tried {
    /// The text of the script.
    script: String,
    /// Its entry, as the plan gives it.
    entry: ToolEntry,
    /// The parameters.
    params: Value,
}

pub(crate) async fn show(State(app): State<Arc<App>>, Path(name): Path<String>) -> Result<Response, Problem> {
    let found = app.registrar.read_registered(&name).await.map_err(|error| of_error(&error.into()))?;
    let found = found
        .ok_or_else(|| problem(ErrorCode::NotFound, "No tool of tools.json with a script has that name."))?;
    let language = match found.entry.config.script_path.as_deref().and_then(|path| path.rsplit_once('.')) {
        Some((_, "py")) => "python",
        Some((_, "ts" | "mts")) => "typescript",
        Some((_, "js" | "mjs")) => "javascript",
        _ => "shell",
    };
    let tag = found.tag();
    let mut response = Json(Script { entry: found.entry, script: found.script, language }).into_response();
    if let Ok(tag) = HeaderValue::try_from(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

pub(crate) async fn plan(
    State(app): State<Arc<App>>,
    StrictJson(body): StrictJson<Planned>,
) -> Result<Json<Meaning>, Problem> {
    let draft = Draft { script: body.script, entry: body.entry, replaces: body.replaces };
    let plan = app.registrar.plan(&draft).await.map_err(|error| of_error(&error.into()))?;
    let Plan { entry, definition, changes, refused, next_name, ways_out, mistakes } = plan;
    let stage = Stage::Registering(app.runtime.today());
    let findings = definition.as_ref().map(|definition| check::check(definition, stage)).unwrap_or_default();
    let derived = definition.as_ref().map(|definition| definition.derived.clone()).unwrap_or_default();
    let mistake = |one: toolroom_runtime::registrar::Mistake| Mistake {
        line: one.line,
        column: 1,
        message: one.message,
        hint: one.hint,
    };
    Ok(Json(Meaning {
        entry,
        definition,
        derived,
        findings: findings.into_iter().map(Line::from).collect(),
        changes,
        refused,
        next_name,
        ways_out,
        mistakes: mistakes.into_iter().map(mistake).collect(),
    }))
}

/// Calls the draft once. It is confined, and in no list.
pub(crate) async fn run(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    wire: Wire,
    StrictJson(body): StrictJson<Tried>,
) -> Result<Response, Problem> {
    let context = wire.context(ContextFields::default()).map_err(|error| of_error(&error))?;
    let draft = app.registrar.draft(body.entry, body.script, caller.person).await;
    let draft = draft.map_err(|error| of_error(&error.into()))?;
    tracing::info!(tool = draft.tool.name(), user = %caller.user.key, "a draft is tried");
    let request = CallRequest {
        profile: Cow::Borrowed(toolroom_profiles::DEFAULT),
        name: draft.tool.name().to_owned(),
        params: body.params,
        principal: caller,
        context,
        edge: wire.edge(Edge::Rest),
        reporter: Reporter::default(),
    };
    Ok(envelope(app.runtime.call_draft(&draft.tool, request).await))
}
