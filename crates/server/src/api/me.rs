//! The caller: who they are, what they may do, their time zone.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_contract::permission::Grants;
use toolroom_contract::{ErrorCode, Principal};
use toolroom_store::{StoreError, users};

use super::Caller;
use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::{of_error, problem};

#[derive(Serialize, JsonSchema)]
pub(crate) struct Me {
    /// The user's name.
    user: String,
    /// The user's number.
    id: i64,
    /// What the credential may do.
    grants: Grants,
    /// The profiles it is confined to.
    profiles: Option<Vec<String>>,
    /// Whether it is a person's, who may decide approvals.
    person: bool,
    /// The zone for dates in words.
    timezone: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MeUpdate")]
pub(crate) struct Update {
    /// A name such as `Europe/Berlin`; null for the server's.
    timezone: Option<String>,
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
) -> Result<Json<Me>, Problem> {
    me(&app, &caller).await
}

pub(crate) async fn update(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    StrictJson(update): StrictJson<Update>,
) -> Result<Json<Me>, Problem> {
    let id = caller.user.id;
    let set =
        app.runtime.store.write(move |unit| users::set_time_zone(unit, id, update.timezone.as_deref())).await;
    set.map_err(|error| match error {
        StoreError::InvalidTimeZone => {
            problem(ErrorCode::InvalidInput, "timezone must be a name such as Europe/Berlin.")
                .error("/timezone", "unknown time zone")
        }
        error => of_error(&error.into()),
    })?;
    app.auth.forget();
    me(&app, &caller).await
}

async fn me(app: &App, caller: &Principal) -> Result<Json<Me>, Problem> {
    let id = caller.user.id;
    let user = app.runtime.store.read(move |unit| users::by_id(unit, id)).await;
    let user = user.map_err(|error: StoreError| of_error(&error.into()))?;
    Ok(Json(Me {
        user: caller.user.key.to_string(),
        id: id.0,
        grants: caller.grants.clone(),
        profiles: caller.profiles.clone(),
        person: caller.person,
        timezone: user.and_then(|user| user.time_zone),
    }))
}
