//! Keys: only for the home's owner. A secret is shown once, when its key is created.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_contract::ids::KeyId;
use toolroom_contract::permission::{Grant, Grants};
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_store::keys::OwnedKey;
use toolroom_store::{StoreError, keys};

use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::{of_error, problem};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewKey {
    /// Whose key it is; created if needed.
    user: String,
    /// What it may do; not given: `tasks:*`, `cards:*`, `web:search`, `humans:ask`; `["none"]`: nothing.
    grants: Option<Vec<String>>,
    /// The profiles it is limited to; not given: all.
    profiles: Option<Vec<String>>,
    /// Whether it is a person's, who may decide approvals.
    #[serde(default)]
    person: bool,
    /// What it is for, in your words.
    #[schemars(length(max = 200))]
    note: Option<String>,
    /// When it stops being valid by itself.
    expires_at: Option<jiff::Timestamp>,
}

/// The keys, without their secrets.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KeyList")]
pub(crate) struct Listing {
    keys: Vec<Shown>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Key")]
struct Shown {
    id: i64,
    user: String,
    prefix: String,
    grants: Vec<String>,
    profiles: Option<Vec<String>>,
    person: bool,
    note: Option<String>,
    created_at: jiff::Timestamp,
    expires_at: Option<jiff::Timestamp>,
    /// To within a minute.
    last_used_at: Option<jiff::Timestamp>,
    revoked_at: Option<jiff::Timestamp>,
}

/// A key that was just made.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedKey")]
pub(crate) struct Created {
    id: i64,
    user: String,
    /// The secret, which is shown this once.
    key: String,
    grants: Vec<String>,
    profiles: Option<Vec<String>>,
    person: bool,
    note: Option<String>,
    expires_at: Option<jiff::Timestamp>,
    /// Whether it is the home's first key: from now on a key is needed.
    first: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RevokedKey")]
pub(crate) struct Revoked {
    id: i64,
    revoked: bool,
}

impl From<OwnedKey> for Shown {
    fn from(owned: OwnedKey) -> Self {
        let OwnedKey { key, user } = owned;
        Self {
            id: key.id.0,
            user: user.key,
            prefix: key.prefix,
            grants: key.grants,
            profiles: key.profiles,
            person: key.person,
            note: key.note,
            created_at: key.created_at,
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
            revoked_at: key.revoked_at,
        }
    }
}

pub(crate) async fn list(State(app): State<Arc<App>>) -> Result<Json<Listing>, Problem> {
    let found = app.runtime.store.read(keys::list).await;
    let found = found.map_err(|error: StoreError| of_error(&error.into()))?;
    Ok(Json(Listing { keys: found.into_iter().map(Shown::from).collect() }))
}

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    StrictJson(wanted): StrictJson<NewKey>,
) -> Result<(StatusCode, Json<Created>), Problem> {
    let grants = grants(wanted.grants)?;
    check_profiles(&app, wanted.profiles.as_deref())?;
    let keyed = app.auth.ever_keyed().await.map_err(|error| of_error(&error.into()))?;
    let note = wanted.note.map(checked_note).transpose()?;
    if wanted.expires_at.is_some_and(|at| at <= app.runtime.clock.now()) {
        let message = "must be a time to come";
        return Err(
            problem(ErrorCode::InvalidInput, format!("expires_at {message}.")).error("/expires_at", message)
        );
    }
    let user =
        app.runtime.users.ensure(&wanted.user).await.map_err(|error| of_error(&ToolError::from(error)))?;
    let new = keys::NewKey {
        user: user.id,
        grants,
        profiles: wanted.profiles,
        person: wanted.person,
        note,
        expires_at: wanted.expires_at,
    };
    let made = app.runtime.store.write(move |unit| keys::create(unit, &new)).await;
    let (key, secret) = made.map_err(|error: StoreError| of_error(&error.into()))?;
    app.auth.set_keyed();
    let body = Created {
        id: key.id.0,
        user: user.key.to_string(),
        key: secret.reveal().to_owned(),
        grants: key.grants,
        profiles: key.profiles,
        person: key.person,
        note: key.note,
        expires_at: key.expires_at,
        first: !keyed,
    };
    Ok((StatusCode::CREATED, Json(body)))
}

fn grants(wanted: Option<Vec<String>>) -> Result<Vec<String>, Problem> {
    let Some(wanted) = wanted else {
        return Ok(Grants::of_a_plain_key().iter().map(ToString::to_string).collect());
    };
    if wanted == ["none"] {
        return Ok(Vec::new());
    }
    for (at, grant) in wanted.iter().enumerate() {
        grant.parse::<Grant>().map_err(|error| {
            problem(ErrorCode::InvalidInput, error.to_string())
                .error(format!("/grants/{at}"), error.to_string())
        })?;
    }
    Ok(wanted)
}

fn checked_note(note: String) -> Result<String, Problem> {
    let note = note.trim();
    if note.chars().nth(200).is_none() && !note.contains(char::is_control) {
        return Ok(note.to_owned());
    }
    let message = "must be at most 200 characters on one line";
    Err(problem(ErrorCode::InvalidInput, format!("note {message}.")).error("/note", message))
}

fn check_profiles(app: &App, wanted: Option<&[String]>) -> Result<(), Problem> {
    let snapshot = app.runtime.registry.snapshot();
    let unknown = wanted.unwrap_or_default().iter().position(|name| !snapshot.profiles.contains_key(name));
    match unknown {
        None => Ok(()),
        Some(at) => {
            let known: Vec<&str> = snapshot.profiles.keys().map(String::as_str).collect();
            let detail = format!("Unknown profile; the profiles are: {}.", known.join(", "));
            Err(problem(ErrorCode::InvalidInput, detail.clone()).error(format!("/profiles/{at}"), detail))
        }
    }
}

pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Revoked>, Problem> {
    let missing = || problem(ErrorCode::NotFound, "No active key has that id.");
    let id = KeyId(id.parse().map_err(|_| missing())?);
    let revoked = app.runtime.store.write(move |unit| keys::revoke(unit, id)).await;
    let revoked = revoked.map_err(|error: StoreError| of_error(&error.into()))?;
    app.auth.revoked(id);
    // Calls of this key that wait for a person end now.
    app.ring_decided();
    if revoked { Ok(Json(Revoked { id: id.0, revoked: true })) } else { Err(missing()) }
}
