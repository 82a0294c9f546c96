//! The check of a call's parameters by itself: what a form needs to know before the call is made.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_contract::context::ContextFields;
use toolroom_contract::{FieldError, Reporter};
use toolroom_profiles::DEFAULT;
use toolroom_runtime::{CallRequest, Edge};

use super::Caller;
use super::call::Wire;
use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::of_error;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ValidationRequest")]
pub(crate) struct Body {
    /// The parameters.
    params: Value,
    /// The profile under which the call would be made.
    profile: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ValidationResult")]
pub(crate) struct Verdict {
    valid: bool,
    errors: Vec<FieldError>,
    /// How dates in words were read, by a JSON pointer to each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(default)]
    resolved: BTreeMap<String, String>,
}

pub(crate) async fn check(
    State(app): State<Arc<App>>,
    axum::Extension(caller): Caller,
    wire: Wire,
    Path(name): Path<String>,
    StrictJson(body): StrictJson<Body>,
) -> Result<Json<Verdict>, Problem> {
    let profile = body.profile.unwrap_or_else(|| DEFAULT.to_owned());
    let context = wire.context(ContextFields::default()).map_err(|error| of_error(&error))?;
    let request = CallRequest {
        name: published_name(&app, &caller, &profile, name),
        profile: profile.into(),
        params: body.params,
        principal: caller,
        context,
        edge: wire.edge(Edge::Rest),
        reporter: Reporter::default(),
    };
    let found = app.runtime.validate(request).await.map_err(|error| of_error(&error))?;
    Ok(Json(Verdict {
        valid: found.errors.is_empty(),
        errors: found.errors,
        resolved: found.echoes.into_iter().collect(),
    }))
}

/// A tool may be named as in the catalogue, or as the profile calls it.
fn published_name(app: &App, caller: &toolroom_contract::Principal, profile: &str, name: String) -> String {
    let snapshot = app.runtime.registry.snapshot();
    let view = snapshot.view(caller, profile, app.runtime.today());
    let named = view.and_then(|view| {
        let canonical =
            view.tools().find(|shown| shown.tool.name() == name).map(|shown| shown.name.to_owned());
        view.find(&name).map(|shown| shown.name.to_owned()).or(canonical)
    });
    named.unwrap_or(name)
}
