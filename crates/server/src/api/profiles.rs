//! Profiles: their tools as OpenAI functions, and calls that answer in their own shape.

use std::sync::Arc;

use axum::RequestExt;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolroom_contract::context::ContextFields;
use toolroom_contract::{ErrorCode, Principal};
use toolroom_profiles::openai;
use toolroom_runtime::catalogue::{ProfileView, Snapshot};
use toolroom_runtime::{CallRequest, Edge, Reply, search};

use super::Caller;
use super::call::{self, Wire};
use crate::app::App;
use crate::auth::{nobody, unchecked};
use crate::middleware::{Problem, StrictJson};
use crate::problems::{of_error, problem};

pub(crate) async fn list(State(app): State<Arc<App>>, Extension(caller): Caller) -> Json<Value> {
    let snapshot = app.runtime.registry.snapshot();
    let profiles: Vec<Value> = snapshot
        .profiles
        .iter()
        .filter(|(name, _)| caller.may_use_profile(name))
        .map(|(name, profile)| {
            let tools: Vec<String> =
                published(&snapshot, profile, &caller).map(|(name, ..)| name.into()).collect();
            json!({ "name": name, "description": profile.description, "tools": tools })
        })
        .collect();
    Json(json!({ "profiles": profiles }))
}

pub(crate) async fn functions(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
) -> Result<Json<Vec<Value>>, Problem> {
    let snapshot = app.runtime.registry.snapshot();
    let profile = find(&snapshot, &name, &caller)?;
    Ok(Json(openai::functions(published(&snapshot, profile, &caller))))
}

pub(crate) async fn call(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    wire: Wire,
    Path((profile, name)): Path<(String, String)>,
    StrictJson(params): StrictJson<Value>,
) -> Result<Response, Problem> {
    find(&app.runtime.registry.snapshot(), &profile, &caller)?;
    let reply = match wire.context(ContextFields::default()) {
        Ok(context) => {
            let request = CallRequest {
                profile: profile.into(),
                name,
                params,
                principal: caller,
                context,
                edge: wire.edge(Edge::Functions),
                reporter: toolroom_contract::Reporter::default(),
            };
            app.runtime.call(request).await
        }
        Err(error) => {
            let request = wire.refused(profile.into(), name, Some(params), caller, Edge::Functions);
            app.runtime.refuse(request, error)
        }
    };
    Ok(published_answer(reply))
}

/// The body is the contract: its own `success` says how the call went.
fn published_answer(reply: Reply) -> Response {
    match &reply.published {
        Some(answer) => Json(answer).into_response(),
        None => call::envelope(reply),
    }
}

/// The answer while it is not known who calls: a failure as the profile publishes it.
pub(crate) fn unserved(app: Arc<App>, request: Request) -> BoxFuture<'static, Response> {
    async move {
        let mut request = request;
        let Ok(Path((profile, name))) = request.extract_parts::<Path<(String, String)>>().await else {
            return of_error(&unchecked()).into_response();
        };
        let (wire, params) = Wire::split(request).await;
        let request = wire.refused(profile.into(), name, params, nobody(), Edge::Functions);
        published_answer(app.runtime.unserved(request, unchecked()))
    }
    .boxed()
}

fn find<'a>(snapshot: &'a Snapshot, name: &str, caller: &Principal) -> Result<&'a ProfileView, Problem> {
    let profile = snapshot.profiles.get(name).filter(|_| caller.may_use_profile(name));
    profile.ok_or_else(|| {
        problem(
            ErrorCode::NotFound,
            "There is no profile of that name that you may use; see /api/v1/profiles.",
        )
    })
}

/// Name, description and parameters of what a profile shows to this caller.
fn published<'a>(
    snapshot: &'a Snapshot,
    profile: &'a ProfileView,
    caller: &'a Principal,
) -> Box<dyn Iterator<Item = (&'a str, &'a str, &'a Value)> + 'a> {
    if profile.bound.is_none() {
        let listed = search::visible(snapshot, &caller.grants).filter(|tool| profile.lists(tool));
        return Box::new(listed.map(|tool| {
            let definition = tool.definition();
            (definition.name.as_str(), definition.description.as_str(), &definition.parameters)
        }));
    }
    let usable =
        profile.order.iter().filter(|bound| caller.grants.cover_all(&bound.tool.definition().permissions));
    let listed = usable.filter(|bound| profile.lists(&bound.tool));
    Box::new(listed.map(|bound| (bound.name(), bound.description(), bound.parameters())))
}
