//! Profiles of the home's owner: shown, planned, made and removed. Those that are built in or stand in `toolroom.toml`
//! are read-only here.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_contract::{ErrorCode, Principal};
use toolroom_profiles::{DEFAULT, ProfileSettings};

use super::Caller;
use super::tool_views::tokens;
use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::{of_error, problem};

/// A profile with what a client gets of it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Profile")]
pub(crate) struct Shown {
    /// As profiles.json has it; of one that is read-only, its description.
    settings: Value,
    tools: Vec<Published>,
    /// What the list of tools costs a model, estimated: a fourth of its length.
    tokens: usize,
    /// Whether it is built in or stands in toolroom.toml.
    read_only: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PublishedTool")]
struct Published {
    tool: String,
    r#as: String,
    tokens: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProfileDraft")]
pub(crate) struct Planned {
    settings: ProfileSettings,
}

/// What a profile would publish.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProfilePlan")]
pub(crate) struct Meaning {
    tools: Vec<Published>,
    tokens: usize,
    /// Names that several tools would have: only the first of them is published.
    collisions: Vec<Collision>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NameCollision")]
struct Collision {
    r#as: String,
    tools: Vec<String>,
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
) -> Result<Json<Shown>, Problem> {
    shown(&app, &caller, &name).await.map(Json)
}

pub(crate) async fn put(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
    StrictJson(settings): StrictJson<ProfileSettings>,
) -> Result<Response, Problem> {
    unconfined(&caller)?;
    let created = app.profiles.put(name.clone(), settings).await.map_err(|error| of_error(&error.into()))?;
    tracing::info!(profile = name, user = %caller.user.key, created, "a profile was stored");
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(shown(&app, &caller, &name).await?)).into_response())
}

pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    unconfined(&caller)?;
    app.profiles.remove(name.clone()).await.map_err(|error| of_error(&error.into()))?;
    tracing::info!(profile = name, user = %caller.user.key, "a profile was removed");
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn plan(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    StrictJson(body): StrictJson<Planned>,
) -> Json<Meaning> {
    let snapshot = app.runtime.registry.snapshot();
    let view = snapshot.view(&caller, DEFAULT, app.runtime.today());
    let known = |tool: &str| view.is_some_and(|view| view.find(tool).is_some());
    let profile = body.settings.profile("planned");
    let preview = snapshot.preview(&profile);
    let tools: Vec<Published> = preview
        .tools
        .into_iter()
        .filter(|(_, tool)| known(tool.name()))
        .map(|(name, tool)| {
            let definition = tool.published();
            let tokens = match profile.tools.shape(&name, definition, tool.executor.source()) {
                Some(shape) => tokens(&name, &shape.description, &shape.parameters),
                None => tokens(&name, &definition.description, &definition.parameters),
            };
            Published { tool: tool.name().to_owned(), r#as: name, tokens }
        })
        .collect();
    let collisions = preview.collisions.into_iter().filter(|(_, tools)| tools.iter().all(|tool| known(tool)));
    Json(Meaning {
        tokens: tools.iter().map(|one| one.tokens).sum(),
        tools,
        collisions: collisions.map(|(name, tools)| Collision { r#as: name, tools }).collect(),
    })
}

async fn shown(app: &App, caller: &Principal, name: &str) -> Result<Shown, Problem> {
    let settings = app.profiles.settings(name).await;
    let snapshot = app.runtime.registry.snapshot();
    let view = snapshot.view(caller, name, app.runtime.today());
    let view = view.ok_or_else(|| {
        problem(ErrorCode::NotFound, "Unknown profile, or not allowed for you; see /api/v1/profiles.")
    })?;
    let published = |shown: toolroom_runtime::catalogue::Shown<'_>| Published {
        tool: shown.tool.name().to_owned(),
        r#as: shown.name.to_owned(),
        tokens: tokens(shown.name, shown.description, shown.parameters),
    };
    Ok(Shown {
        settings: match settings {
            Some(settings) => json!(settings),
            None => json!({ "description": view.profile.description }),
        },
        tokens: view.listed().map(|shown| published(shown).tokens).sum(),
        tools: view.tools().map(published).collect(),
        read_only: app.profiles.is_fixed(name),
    })
}

/// A key that is confined to profiles must not widen them.
fn unconfined(caller: &Principal) -> Result<(), Problem> {
    match caller.profiles {
        None => Ok(()),
        Some(_) => Err(problem(
            ErrorCode::Forbidden,
            "This key is confined to profiles, so it cannot change any. Use a key without --profile.",
        )),
    }
}
