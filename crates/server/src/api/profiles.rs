//! Profiles: their tools as OpenAI functions, and calls that answer in their own shape.

use std::sync::Arc;

use axum::RequestExt;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, Request, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use toolroom_contract::context::ContextFields;
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_profiles::{Answers, openai};
use toolroom_runtime::{CallRequest, Edge, Reply};

use super::Caller;
use super::call::{self, Wire};
use super::wait::{self, Wait};
use crate::access::nobody;
use crate::app::App;
use crate::middleware::{CallBody, Problem};
use crate::problems::{of_error, problem};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProfileList")]
pub(crate) struct Listing {
    profiles: Vec<Brief>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BriefProfile")]
struct Brief {
    name: String,
    description: String,
    /// The tools that it lists, by the names that it gives them.
    tools: Vec<String>,
    /// Whether it is built in or stands in toolroom.toml.
    read_only: bool,
}

/// A function as OpenAI describes it.
#[derive(JsonSchema)]
#[schemars(rename = "FunctionTool")]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) struct Function {
    /// Always `function`.
    r#type: String,
    function: Signature,
}

#[derive(JsonSchema)]
#[schemars(rename = "FunctionSignature")]
#[allow(dead_code, reason = "only its schema is used")]
struct Signature {
    name: String,
    description: String,
    /// A JSON Schema.
    parameters: Map<String, Value>,
}

pub(crate) async fn list(State(app): State<Arc<App>>, Extension(caller): Caller) -> Json<Listing> {
    let snapshot = app.runtime.registry.snapshot();
    let profiles = snapshot.views(&caller, app.runtime.today()).map(|(name, view)| Brief {
        name: name.to_owned(),
        description: view.profile.description.to_string(),
        tools: view.listed().map(|shown| shown.name.to_owned()).collect(),
        read_only: app.profiles.is_fixed(name),
    });
    Json(Listing { profiles: profiles.collect() })
}

pub(crate) async fn functions(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
) -> Result<Json<Vec<Value>>, Problem> {
    let snapshot = app.runtime.registry.snapshot();
    let view = snapshot.view(&caller, &name, app.runtime.today()).ok_or_else(unknown)?;
    let listed = view.listed().map(|shown| (shown.name, shown.description, shown.parameters));
    Ok(Json(openai::functions(listed)))
}

pub(crate) async fn call(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    wire: Wire,
    Path((profile, name)): Path<(String, String)>,
    wait: Result<Query<Wait>, QueryRejection>,
    CallBody(body): CallBody,
) -> Result<Response, Problem> {
    let wait = wait::checked(wait, wait::FOR_A_PERSON)?;
    app.runtime.registry.snapshot().view(&caller, &profile, app.runtime.today()).ok_or_else(unknown)?;
    let given = body.as_ref().ok().cloned();
    let read = body.and_then(|params| Ok((params, wire.context(ContextFields::default())?)));
    let (params, context) = match read {
        Ok(read) => read,
        Err(error) => {
            let request = wire.refused(profile.into(), name, given, caller, Edge::Functions);
            return Ok(published_answer(app.runtime.refuse(request, error)));
        }
    };
    let request = |context| CallRequest {
        profile: profile.clone().into(),
        name: name.clone(),
        params: params.clone(),
        principal: Arc::clone(&caller),
        context,
        edge: wire.edge(Edge::Functions),
        reporter: toolroom_contract::Reporter::default(),
    };
    let reply = match wait {
        None => app.runtime.call(request(context)).await,
        Some(wait) => wait::call(&app, wait, context, request).await,
    };
    Ok(published_answer(reply))
}

/// Where the body is a contract, its own `success` says how the call went; plain data cannot.
fn published_answer(reply: Reply) -> Response {
    let waits = reply.result.error().is_some_and(|error| error.pending.is_some());
    match &reply.published {
        Some(answer) if waits => (StatusCode::ACCEPTED, Json(answer)).into_response(),
        Some(answer) if reply.answers == Answers::Contract => Json(answer).into_response(),
        Some(answer) => (call::status(&reply), Json(answer)).into_response(),
        None => call::envelope(reply),
    }
}

/// The answer while the caller cannot be identified: a failure as the profile publishes it.
pub(crate) fn unserved(app: Arc<App>, request: Request, why: ToolError) -> BoxFuture<'static, Response> {
    async move {
        let mut request = request;
        let Ok(Path((profile, name))) = request.extract_parts::<Path<(String, String)>>().await else {
            return of_error(&why).into_response();
        };
        let (wire, params) = Wire::split(request).await;
        let request = wire.refused(profile.into(), name, params, nobody(), Edge::Functions);
        published_answer(app.runtime.unserved(request, why))
    }
    .boxed()
}

fn unknown() -> Problem {
    problem(ErrorCode::NotFound, "Unknown profile, or not allowed for you; see /api/v1/profiles.")
}
