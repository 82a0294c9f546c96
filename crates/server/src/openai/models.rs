//! A model per profile: choosing one in a chat client chooses the tools. Which language model answers is the home's
//! setting.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use http::StatusCode;
use serde_json::{Value, json};
use toolroom_contract::Principal;

use crate::api::Caller;
use crate::api::chat::usual_profile;
use crate::app::App;
use crate::middleware::Problem;

/// The model that stands for the caller's usual profile; `toolroom/NAME` stands for another.
const USUAL: &str = "toolroom";

/// What a model's name means here.
pub(super) struct Chosen {
    pub(super) profile: String,
    /// A language model by its own name; without, the usual one.
    pub(super) model: Option<String>,
}

pub(crate) async fn list(State(app): State<Arc<App>>, Extension(caller): Caller) -> Json<Value> {
    Json(json!({ "object": "list", "data": all(&app, &caller) }))
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let found = all(&app, &caller).into_iter().find(|model| model["id"] == *id);
    found.map(Json).ok_or_else(|| unknown(&id))
}

/// The profile and model that a name stands for.
pub(super) fn choose(app: &App, caller: &Principal, id: &str) -> Result<Chosen, Problem> {
    let snapshot = app.runtime.registry.snapshot();
    let of = |profile: &str| Chosen { profile: profile.to_owned(), model: None };
    if id == USUAL {
        return Ok(of(&usual_profile(caller)));
    }
    let profile = id.strip_prefix(USUAL).and_then(|rest| rest.strip_prefix('/')).unwrap_or(id);
    if snapshot.view(caller, profile, app.runtime.today()).is_some() {
        return Ok(of(profile));
    }
    if app.chat.models().iter().any(|name| name == id) {
        return Ok(Chosen { model: Some(id.to_owned()), ..of(&usual_profile(caller)) });
    }
    Err(unknown(id))
}

fn all(app: &App, caller: &Principal) -> Vec<Value> {
    let answers = app.chat.models().into_iter().next().unwrap_or_default();
    let created = app.runtime.clock.now().as_second();
    let snapshot = app.runtime.registry.snapshot();
    let usual = usual_profile(caller);
    let model = |id: String, profile: &str, description: &str| {
        json!({
            "id": id,
            "object": "model",
            "created": created,
            "owned_by": "toolroom",
            "description": description,
            "profile": profile,
            "answered_by": answers,
        })
    };
    let mut models: Vec<Value> = snapshot
        .views(caller, app.runtime.today())
        .map(|(name, view)| {
            let id = if *name == *usual { USUAL.to_owned() } else { format!("{USUAL}/{name}") };
            model(id, name, &view.profile.description)
        })
        .collect();
    models.sort_by_key(|model| model["id"] != USUAL);
    models
}

fn unknown(id: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "model_not_found")
        .detail(format!("There is no model '{id}' here that you may use; GET /v1/models lists them."))
        .error("/model", "unknown model")
}
