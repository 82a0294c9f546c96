//! Requests that wait for a person, and decisions. Only persons decide; an agent's key never does.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::{Extension, Json};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_contract::ids::PendingId;
use toolroom_contract::{ErrorCode, Principal, ToolError};
use toolroom_store::StoreError;
use toolroom_store::pending::{self, DecideError, Decision, PendingRequest};

use super::Caller;
use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::{bad_query, of_error, problem};

#[derive(Serialize, JsonSchema)]
pub(crate) struct Listing {
    /// Open requests in turns, the newest of each user first; with `all`, everything, newest first.
    approvals: Vec<Approval>,
    /// The next page; null at the end.
    #[serde(rename = "nextCursor")]
    next_cursor: Option<String>,
}

/// A pending request, as people see it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Approval {
    #[schemars(with = "String")]
    id: PendingId,
    kind: &'static str,
    state: &'static str,
    tool: String,
    profile: String,
    /// The arguments, secrets masked.
    arguments: Value,
    /// What the person is asked.
    prompt: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Value>,
    created_at: Timestamp,
    expires_at: Timestamp,
}

impl From<PendingRequest> for Approval {
    fn from(pending: PendingRequest) -> Self {
        Self {
            id: pending.id,
            kind: pending.kind.as_str(),
            state: pending.state.as_str(),
            tool: pending.tool,
            profile: pending.profile,
            arguments: pending.arguments,
            prompt: pending.prompt,
            answer: pending.answer,
            created_at: pending.created_at,
            expires_at: pending.expires_at,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Verdict {
    /// For an approval.
    decision: Option<Choice>,
    /// For a question.
    answer: Option<Value>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Choice {
    Approve,
    Deny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    /// Include decided ones.
    #[serde(default)]
    all: bool,
    /// At most this many: 1 to 1000.
    limit: Option<u32>,
    cursor: Option<String>,
}

/// The default size of a page.
const PAGE: u32 = 200;

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    filter: Result<Query<Filter>, QueryRejection>,
) -> Result<Json<Listing>, Problem> {
    let Query(filter) = filter.map_err(bad_query)?;
    let unknown = |_| problem(ErrorCode::InvalidInput, "cursor: not a cursor of this list");
    let wanted = pending::Filter {
        user: if sees_all(&caller) { None } else { Some(caller.user.id) },
        profiles: caller.profiles.clone(),
        open_only: !filter.all,
        limit: filter.limit.unwrap_or(PAGE).clamp(1, 1000),
        after: filter.cursor.map(|cursor| cursor.parse().map_err(unknown)).transpose()?,
    };
    let found = app.runtime.store.read_much(move |unit| pending::list(unit, &wanted)).await;
    let pending::Page { found, next } = found.map_err(|error: StoreError| of_error(&error.into()))?;
    let approvals = found.into_iter().map(Approval::from).collect();
    Ok(Json(Listing { approvals, next_cursor: next.map(|next| next.to_string()) }))
}

/// The request of this id as the caller would find it in the list.
pub(crate) async fn seen_by(
    app: &App,
    caller: &Principal,
    id: PendingId,
) -> Result<Option<Approval>, ToolError> {
    let found = app.runtime.store.read(move |unit| pending::get(unit, id)).await;
    let found = found.map_err(|error: StoreError| ToolError::from(error))?;
    Ok(found.filter(|request| may_see(caller, request)).map(Approval::from))
}

fn may_see(caller: &Principal, request: &PendingRequest) -> bool {
    (sees_all(caller) || request.user == caller.user.id) && caller.may_use_profile(&request.profile)
}

pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(id): Path<String>,
    StrictJson(verdict): StrictJson<Verdict>,
) -> Result<Json<Approval>, Problem> {
    let missing = || problem(ErrorCode::NotFound, "You have no pending request with that id.");
    let id: PendingId = id.parse().map_err(|_| missing())?;
    let found = app.runtime.store.read(move |unit| pending::get(unit, id)).await;
    let found = found.map_err(|error: StoreError| of_error(&error.into()))?;
    let request = found.filter(|request| may_see(&caller, request)).ok_or_else(missing)?;
    if !caller.person {
        return Err(problem(
            ErrorCode::Forbidden,
            "Only a person can decide: use 'toolroom approvals', or a key created with --person.",
        ));
    }
    let decision = match (verdict.decision, verdict.answer) {
        (Some(Choice::Approve), None) => Decision::Approve,
        (Some(Choice::Deny), None) => Decision::Deny,
        (None, Some(answer)) => Decision::Answer(answer),
        _ => {
            let detail = "Send {\"decision\": \"approve\"}, {\"decision\": \"deny\"} or {\"answer\": …}.";
            return Err(problem(ErrorCode::InvalidInput, detail));
        }
    };
    let by = caller.user.id;
    let decided = app.runtime.store.write(move |unit| pending::decide(unit, request.id, &decision, by)).await;
    app.decided.notify_waiters();
    decided.map(|request| Json(request.into())).map_err(refusal)
}

fn refusal(error: DecideError) -> Problem {
    match error {
        DecideError::NotFound => problem(ErrorCode::NotFound, "No pending request has that id."),
        DecideError::AlreadyDecided(state) => {
            let before = match state {
                pending::State::Approved => "approved",
                pending::State::Denied => "denied",
                pending::State::Answered => "answered",
                _ => "decided, and the decision has been used",
            };
            let detail = format!("The request was already {before}. Nothing was changed now.");
            problem(ErrorCode::VersionConflict, detail)
        }
        DecideError::Expired => problem(
            ErrorCode::ApprovalExpired,
            "The request's deadline has passed, or the key that asked was revoked.",
        ),
        DecideError::WrongKind => problem(
            ErrorCode::InvalidInput,
            "A question takes {\"answer\": …}, an approval {\"decision\": \"approve\" | \"deny\"}.",
        ),
        error @ DecideError::NotAChoice(_) => {
            let message = error.to_string();
            problem(ErrorCode::InvalidInput, format!("{message}.")).error("/answer", message)
        }
        DecideError::Store(error) => of_error(&error.into()),
    }
}

/// Other users' requests are visible to persons who may decide them.
fn sees_all(caller: &Principal) -> bool {
    caller.person && caller.grants.hold("approvals", "decide")
}
