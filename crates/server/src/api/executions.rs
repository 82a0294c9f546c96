//! The execution log over REST: your own calls, or everybody's with `executions:read`.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_contract::ids::ExecutionId;
use toolroom_contract::{ErrorCode, TraceId};
use toolroom_runtime::journal::{self, Edge, Execution, Status};

use super::Caller;
use crate::app::App;
use crate::log_reads::LogFailure;
use crate::middleware::Problem;
use crate::problems::{bad_query, of_error, problem};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    /// The tool's name; `*` stands for any characters.
    tool: Option<String>,
    /// Whose calls; others' need the grant `executions:read`.
    user: Option<String>,
    status: Option<Status>,
    /// The error code; `*` stands for any characters.
    code: Option<String>,
    /// The program that called; `*` stands for any characters.
    agent: Option<String>,
    /// The way in.
    edge: Option<Edge>,
    profile: Option<String>,
    since: Option<jiff::Timestamp>,
    until: Option<jiff::Timestamp>,
    /// Calls that took at least as long.
    #[serde(rename = "minMs")]
    min_ms: Option<f64>,
    /// Calls that were answered from the cache; `false`: that were not.
    cached: Option<bool>,
    /// Calls that failed or timed out; `false`: all others.
    failed: Option<bool>,
    /// Calls that `/stats` counts: those that have ended, without the notes of the server itself.
    counted: Option<bool>,
    /// Words that stand somewhere in the entry.
    q: Option<String>,
    /// In any of its forms.
    #[serde(rename = "traceId")]
    trace_id: Option<TraceId>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
    /// At most this many: 1 to 1000.
    limit: Option<usize>,
    /// Follow: what started or ended since this cursor. An empty one starts at the end.
    after: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExecutionList")]
pub(crate) struct Listing {
    /// The entries, newest first; oldest first when following.
    executions: Vec<Execution>,
    /// The next page.
    #[serde(rename = "nextCursor")]
    next_cursor: Option<String>,
    /// Only so far back was the log searched for this page, which may be empty for that; the next one goes on there.
    #[serde(rename = "searchedTo", skip_serializing_if = "Option::is_none")]
    searched_to: Option<jiff::Timestamp>,
}

/// How much of the log one request reads for what is rare.
const MOST_BYTES: u64 = 64 << 20;

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    filter: Result<Query<Filter>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Listing>, Problem> {
    let Query(filter) = filter.map_err(bad_query)?;
    let all = caller.grants.hold("executions", "read");
    let user = match (filter.user, all) {
        (wanted, true) => wanted,
        (None, false) => Some(caller.user.key.to_string()),
        (Some(wanted), false) if wanted == *caller.user.key => Some(wanted),
        // Somebody else's log reads as empty, whether they exist or not.
        (Some(_), false) => {
            return Ok(Json(Listing { executions: Vec::new(), next_cursor: None, searched_to: None }));
        }
    };
    // A place in the files tells how much there is between two rows.
    let sees_places = all && caller.profiles.is_none();
    let cursor = shown_cursor(&app, sees_places, filter.cursor).await?;
    let after = match filter.after {
        Some(after) if after.is_empty() => Some(after),
        after => shown_cursor(&app, sees_places, after).await?,
    };
    let query = journal::Query {
        tool: filter.tool,
        user,
        profiles: caller.profiles.clone(),
        status: filter.status,
        code: filter.code,
        agent: filter.agent,
        edge: filter.edge,
        profile: filter.profile,
        min_ms: filter.min_ms,
        cached: filter.cached,
        failed: filter.failed,
        counted: filter.counted,
        words: filter.q.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect(),
        for_caller: !all,
        since: filter.since,
        until: filter.until,
        trace_id: filter.trace_id,
        limit: filter.limit.unwrap_or(50).clamp(1, 1000),
        cursor,
        most_bytes: MOST_BYTES,
        ..journal::Query::default()
    };
    let read = app.read_log(move |reader| match after {
        Some(after) if after.is_empty() => {
            let cursor = reader.tail()?;
            Ok(journal::Page { cursor: Some(cursor), ..journal::Page::default() })
        }
        after => reader.page(&journal::Query { after, ..query }),
    });
    let page = read.await.map_err(of_failure)?;
    let next_cursor = match page.cursor {
        Some(cursor) if !sees_places => {
            let sealed = app.cursors.seal(&app.runtime.store, &cursor).await;
            Some(sealed.map_err(|error| of_error(&error))?)
        }
        cursor => cursor,
    };
    Ok(Json(Listing { executions: page.rows, next_cursor, searched_to: page.searched_to }))
}

/// The cursor that was shown as this one.
async fn shown_cursor(
    app: &App,
    sees_places: bool,
    shown: Option<String>,
) -> Result<Option<String>, Problem> {
    match shown {
        Some(sealed) if !sees_places => {
            let opened = app.cursors.open(&app.runtime.store, &sealed).await;
            opened.map_err(|error| of_error(&error))?.ok_or_else(not_a_cursor).map(Some)
        }
        plain => Ok(plain),
    }
}

fn not_a_cursor() -> Problem {
    problem(ErrorCode::InvalidInput, "cursor: not a cursor of this log")
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(id): Path<String>,
) -> Result<Json<Execution>, Problem> {
    let missing = || problem(ErrorCode::NotFound, "You have no execution with that id.");
    let id: ExecutionId = id.parse().map_err(|_| missing())?;
    let found = app.read_log(move |reader| reader.get(id)).await.map_err(of_failure)?;
    let all = caller.grants.hold("executions", "read");
    let found = found.filter(|row| caller.may_use_profile(&row.profile));
    let found = match all {
        true => found,
        false => found.filter(|row| row.concerns(&caller.user.key)).map(Execution::for_its_caller),
    };
    found.map(Json).ok_or_else(missing)
}

pub(super) fn of_failure(failure: LogFailure) -> Problem {
    match failure {
        LogFailure::Cursor => not_a_cursor(),
        LogFailure::Failed(error) => of_error(&error),
    }
}
