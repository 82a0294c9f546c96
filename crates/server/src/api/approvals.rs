//! Requests that wait for a person, and decisions. Only persons decide; an agent's key never does.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::{Extension, Json};
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_contract::ids::PendingId;
use toolroom_contract::{ErrorCode, Principal, ToolError};
use toolroom_store::pending::{self, DecideError, Decision, Kind, PendingRequest};
use toolroom_store::{StoreError, standing};

use super::Caller;
use super::approval_view::{Approval, people};
use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::{bad_query, of_error, problem};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ApprovalList")]
pub(crate) struct Listing {
    /// Open requests in turns, the newest of each user first; with `all`, everything, newest first.
    approvals: Vec<Approval>,
    /// The next page; null at the end.
    #[serde(rename = "nextCursor")]
    next_cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Decision")]
pub(crate) struct Verdict {
    /// For an approval.
    decision: Option<Choice>,
    /// For a question.
    answer: Option<Value>,
    /// With "approve": do not ask about this tool for this key for so many seconds, at most 28800.
    #[schemars(range(min = 1, max = 28800))]
    for_seconds: Option<u32>,
    /// With "deny": why. The caller is told.
    #[schemars(length(min = 1, max = 500))]
    reason: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "DecisionChoice")]
enum Choice {
    Approve,
    Deny,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    /// Include decided ones.
    #[serde(default)]
    all: bool,
    /// At most this many: 1 to 1000.
    limit: Option<u32>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
}

/// The default size of a page.
const PAGE: u32 = 200;
/// The longest reason, in characters.
const LONGEST_REASON: usize = 500;

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    filter: Result<Query<Filter>, QueryRejection>,
) -> Result<Json<Listing>, Problem> {
    let Query(filter) = filter.map_err(bad_query)?;
    let unknown = |_| problem(ErrorCode::InvalidInput, "cursor: not a cursor of this list");
    let wanted = pending::Filter {
        user: if sees_all(&caller) { None } else { Some(caller.user.id) },
        key: caller.key,
        profiles: caller.profiles.clone(),
        open_only: !filter.all,
        limit: filter.limit.unwrap_or(PAGE).clamp(1, 1000),
        after: filter.cursor.map(|cursor| cursor.parse().map_err(unknown)).transpose()?,
    };
    let read = app.runtime.store.read_much(move |unit| {
        let page = pending::list(unit, &wanted)?;
        let names = people(unit, &page.found)?;
        Ok((page, names))
    });
    let (page, names) = read.await.map_err(|error: StoreError| of_error(&error.into()))?;
    let approvals = page.found.into_iter().map(|request| Approval::new(&app, request, &names)).collect();
    Ok(Json(Listing { approvals, next_cursor: page.next.map(|next| next.to_string()) }))
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(id): Path<String>,
) -> Result<Json<Approval>, Problem> {
    let missing = || problem(ErrorCode::NotFound, "You have no pending request with that id.");
    let id = id.parse().map_err(|_| missing())?;
    let found = seen_by(&app, &caller, id).await.map_err(|error| of_error(&error))?;
    found.map(Json).ok_or_else(missing)
}

pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(id): Path<String>,
    StrictJson(verdict): StrictJson<Verdict>,
) -> Result<Json<Approval>, Problem> {
    let request = find(&app, &caller, &id).await?;
    must_be_a_person(&caller)?;
    if request.kind == Kind::Confirmation {
        return Err(problem(
            ErrorCode::InvalidInput,
            "This was asked in a chat, where only a message of the person who was asked is a yes or a no. Answer there: \
             POST /api/v1/chat with its conversation_id and confirmation_id.",
        ));
    }
    if matches!(verdict.decision, Some(Choice::Approve)) {
        must_be_unchanged(&app, &request)?;
    }
    let stands = match (&verdict.decision, verdict.for_seconds) {
        (_, None) => None,
        (Some(Choice::Approve), Some(seconds)) => Some(standing_for(&app, &request, seconds)?),
        _ => {
            return Err(problem(
                ErrorCode::InvalidInput,
                "for_seconds goes with {\"decision\": \"approve\"}.",
            ));
        }
    };
    let reason = verdict.reason.map(checked_reason).transpose()?;
    let decision = match (verdict.decision, verdict.answer, reason) {
        (Some(Choice::Approve), None, None) => Decision::Approve,
        (Some(Choice::Deny), None, reason) => Decision::Deny(reason),
        (None, Some(answer), None) => Decision::Answer(answer),
        _ => {
            let detail = "Send {\"decision\": \"approve\"}, {\"decision\": \"deny\"} with or without a reason, or {\"answer\": …}.";
            return Err(problem(ErrorCode::InvalidInput, detail));
        }
    };
    let by = caller.user.id;
    let decided = app.runtime.store.write(move |unit| {
        let decided = pending::decide(unit, request.id, &decision, by)?;
        if let Some((definition, length)) = &stands {
            let until = unit.now + *length;
            standing::give(unit, &decided, definition, by, until)?;
        }
        Ok(decided)
    });
    let decided = decided.await;
    app.ring_decided();
    shown(&app, decided.map_err(refusal)?).await.map(Json)
}

/// The request of this id as the caller would find it in the list.
pub(crate) async fn seen_by(
    app: &App,
    caller: &Principal,
    id: PendingId,
) -> Result<Option<Approval>, ToolError> {
    let read = app.runtime.store.read(move |unit| {
        let Some(request) = pending::get(unit, id)? else { return Ok(None) };
        let names = people(unit, std::slice::from_ref(&request))?;
        Ok(Some((request, names)))
    });
    let found = read.await.map_err(|error: StoreError| ToolError::from(error))?;
    let found = found.filter(|(request, _)| may_see(caller, request));
    Ok(found.map(|(request, names)| Approval::new(app, request, &names)))
}

fn may_see(caller: &Principal, request: &PendingRequest) -> bool {
    let theirs = request.user == caller.user.id || request.key.is_some() && request.key == caller.key;
    (sees_all(caller) || theirs) && caller.may_use_profile(&request.profile)
}

/// A request that the caller may see.
async fn find(app: &App, caller: &Principal, id: &str) -> Result<PendingRequest, Problem> {
    let missing = || problem(ErrorCode::NotFound, "You have no pending request with that id.");
    let id: PendingId = id.parse().map_err(|_| missing())?;
    let found = app.runtime.store.read(move |unit| pending::get(unit, id)).await;
    let found = found.map_err(|error: StoreError| of_error(&error.into()))?;
    found.filter(|request| may_see(caller, request)).ok_or_else(missing)
}

async fn shown(app: &App, request: PendingRequest) -> Result<Approval, Problem> {
    let read = app.runtime.store.read(move |unit| {
        let names = people(unit, std::slice::from_ref(&request))?;
        Ok((request.clone(), names))
    });
    let (request, names) = read.await.map_err(|error: StoreError| of_error(&error.into()))?;
    Ok(Approval::new(app, request, &names))
}

pub(super) fn must_be_a_person(caller: &Principal) -> Result<(), Problem> {
    if caller.person {
        return Ok(());
    }
    Err(problem(
        ErrorCode::Forbidden,
        "Only a person can decide: use 'toolroom approvals', or a key created with --person.",
    ))
}

/// The definition that the person was asked about, and how long the approval stands.
fn standing_for(
    app: &App,
    request: &PendingRequest,
    seconds: u32,
) -> Result<(String, SignedDuration), Problem> {
    let length = SignedDuration::from_secs(i64::from(seconds));
    if seconds == 0 || length > standing::LONGEST {
        let longest = standing::LONGEST.as_secs();
        let detail =
            format!("for_seconds must be from 1 to {longest}: an approval stands for 8 hours at most.");
        return Err(problem(ErrorCode::InvalidInput, detail));
    }
    let snapshot = app.runtime.registry.snapshot();
    let tool = snapshot.tools.get(&request.tool).ok_or_else(changed)?;
    if request.kind != Kind::Approval || !tool.policy.standing_approval {
        let detail = "This can only be approved call by call: leave for_seconds out.";
        return Err(problem(ErrorCode::InvalidInput, detail));
    }
    let asked_about = request.origin.definition.clone().ok_or_else(changed)?;
    Ok((asked_about, length))
}

/// Refuses a yes to what the tool no longer is.
fn must_be_unchanged(app: &App, request: &PendingRequest) -> Result<(), Problem> {
    let snapshot = app.runtime.registry.snapshot();
    match (snapshot.tools.get(&request.tool), &request.origin.definition) {
        (Some(tool), Some(asked_about)) if *asked_about != tool.reviewed_state() => Err(changed()),
        _ => Ok(()),
    }
}

fn changed() -> Problem {
    problem(
        ErrorCode::VersionConflict,
        "The tool has changed since this was asked, so nothing was approved. Deny it: the call can be made again, and asks with what the tool is now.",
    )
}

fn checked_reason(reason: String) -> Result<String, Problem> {
    let reason = reason.trim();
    let fits = !reason.is_empty() && reason.chars().nth(LONGEST_REASON).is_none();
    if fits && !reason.contains(|letter: char| letter.is_control() && letter != '\n') {
        return Ok(reason.to_owned());
    }
    let message = format!("must be 1 to {LONGEST_REASON} characters of plain text");
    Err(problem(ErrorCode::InvalidInput, format!("reason {message}.")).error("/reason", message))
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
        error @ (DecideError::NotAChoice(_) | DecideError::Unfit(_)) => {
            let message = error.to_string();
            problem(ErrorCode::InvalidInput, format!("{message}.")).error("/answer", message)
        }
        DecideError::Store(error) => of_error(&error.into()),
    }
}

/// Other users' requests are visible to persons who may decide them.
pub(super) fn sees_all(caller: &Principal) -> bool {
    caller.person && caller.grants.hold("approvals", "decide")
}
