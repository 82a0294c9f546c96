//! Standing approvals: which there are, what each let through, and the end of one.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use http::StatusCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolroom_contract::ErrorCode;
use toolroom_contract::ids::{KeyId, PendingId, UserId};
use toolroom_store::standing::{self, Standing};
use toolroom_store::{StoreError, keys, users};

use super::Caller;
use super::approvals::{must_be_a_person, sees_all};
use crate::app::App;
use crate::middleware::Problem;
use crate::problems::{of_error, problem};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StandingApprovalList")]
pub(crate) struct Listing {
    /// Those that have not ended, newest first.
    standing: Vec<Shown>,
}

/// A standing approval, as people see it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StandingApproval")]
struct Shown {
    /// That of the request which it answered.
    #[schemars(with = "String")]
    id: PendingId,
    tool: String,
    /// Whose calls.
    user: String,
    /// The first characters of the key; empty where no key is used.
    key: String,
    /// The program that asked, by its own account.
    #[serde(rename = "agentId", skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    created_at: Timestamp,
    expires_at: Timestamp,
    /// Who gave it.
    by: String,
    /// The tool was changed or removed since, so that it lets nothing through.
    changed: bool,
    /// How many calls it let through.
    used: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<Timestamp>,
    /// The last fifty of these calls, newest first: `executionId`, `at` and `target`.
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    uses: Value,
}

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
) -> Result<Json<Listing>, Problem> {
    let user = if sees_all(&caller) { None } else { Some(caller.user.id) };
    let read = app.runtime.store.read_much(move |unit| {
        let found = standing::list(unit, user)?;
        let names = users::names(unit, found.iter().flat_map(|one| [one.user, one.decided_by]))?;
        let prefixes = keys::list(unit)?.into_iter().map(|owned| (owned.key.id, owned.key.prefix));
        Ok((found, names, prefixes.collect::<HashMap<_, _>>()))
    });
    let (found, names, prefixes) = read.await.map_err(|error: StoreError| of_error(&error.into()))?;
    let found = found.into_iter().filter(|one| caller.may_use_profile(&one.profile));
    let snapshot = app.runtime.registry.snapshot();
    let changed = |one: &Standing| {
        snapshot.tools.get(&one.tool).is_none_or(|tool| tool.reviewed_state() != one.definition)
    };
    Ok(Json(Listing { standing: found.map(|one| shown(changed(&one), one, &names, &prefixes)).collect() }))
}

/// Ends one, for its own user too: who may see it may end it, if they are a person.
pub(crate) async fn end(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let missing = || problem(ErrorCode::NotFound, "You have no standing approval with that id.");
    let id: PendingId = id.parse().map_err(|_| missing())?;
    let user = if sees_all(&caller) { None } else { Some(caller.user.id) };
    let found = app.runtime.store.read(move |unit| standing::list(unit, user)).await;
    let found = found.map_err(|error: StoreError| of_error(&error.into()))?;
    let mut mine = found.iter().filter(|one| caller.may_use_profile(&one.profile));
    mine.find(|one| one.id == id).ok_or_else(missing)?;
    must_be_a_person(&caller)?;
    let ended = app.runtime.store.write(move |unit| standing::end(unit, id)).await;
    match ended.map_err(|error: StoreError| of_error(&error.into()))? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(missing()),
    }
}

fn shown(
    changed: bool,
    one: Standing,
    names: &HashMap<UserId, String>,
    prefixes: &HashMap<KeyId, String>,
) -> Shown {
    let name = |user| names.get(&user).cloned().unwrap_or_default();
    Shown {
        id: one.id,
        tool: one.tool,
        user: name(one.user),
        key: one.key.and_then(|key| prefixes.get(&key).cloned()).unwrap_or_default(),
        agent: one.agent,
        created_at: one.created_at,
        expires_at: one.expires_at,
        by: name(one.decided_by),
        changed,
        used: one.used,
        last_used_at: one.last_used_at,
        uses: one.uses,
    }
}
