//! `?wait=S`: how long a request may wait for something, and waiting for a person's decision on a call.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};
use toolroom_contract::ErrorCode;
use toolroom_contract::context::ContextFields;
use toolroom_contract::error::PendingNotice;
use toolroom_runtime::{CallRequest, Reply};
use toolroom_store::pending::{self, State};
use toolroom_store::{StoreError, standing};

use crate::app::{self, App};
use crate::middleware::Problem;
use crate::problems::{bad_query, problem};

/// The query of routes that can wait.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wait {
    /// How many seconds to wait for what is not there yet.
    wait: Option<f64>,
}

/// The longest that a request waits for a person.
pub(crate) const FOR_A_PERSON: u32 = 300;
/// The longest that a request waits for another server.
pub(crate) const FOR_A_SERVER: u32 = 60;

/// How long a request may wait, checked before anything is done; `None` if it did not ask to.
pub(crate) fn checked(
    query: Result<Query<Wait>, QueryRejection>,
    most: u32,
) -> Result<Option<Duration>, Problem> {
    let Query(Wait { wait }) = query.map_err(bad_query)?;
    let Some(seconds) = wait else { return Ok(None) };
    // Neither NaN nor an infinity is within.
    if !(0.0..=f64::from(most)).contains(&seconds) {
        let detail = format!("wait must be a number of seconds from 0 to {most}.");
        return Err(problem(ErrorCode::InvalidInput, detail));
    }
    Ok(Some(Duration::from_secs_f64(seconds)))
}

/// Makes a call. If a person must decide, waits for that, then makes the call again with the decision.
pub(crate) async fn call(
    app: &Arc<App>,
    wait: Duration,
    mut context: ContextFields,
    request: impl Fn(ContextFields) -> CallRequest,
) -> Reply {
    let until = Instant::now() + wait;
    loop {
        let reply = app.runtime.call(request(context.clone())).await;
        let asked = reply.result.error().and_then(|error| error.pending.as_ref());
        // What is decided elsewhere is not heard of here.
        let Some(notice) = asked.filter(|notice| notice.is_here()) else { return reply };
        if !decided(app, notice, until).await {
            return reply;
        }
        context.approval_id = Some(notice.id);
    }
}

/// Waits until the request is no longer open; `false` if time is up or the server stops first.
async fn decided(app: &App, notice: &PendingNotice, until: Instant) -> bool {
    let id = notice.id;
    // Subscribed before the check, so that no decision is missed in between.
    let mut ring = app.runtime.store.subscribe(app::DECIDED, "");
    loop {
        let snapshot = app.runtime.registry.snapshot().clone();
        let found = app.runtime.store.read(move |unit| {
            let Some(request) = pending::get(unit, id)? else { return Ok(None) };
            // A person may since have agreed to every call of this tool by this caller.
            let stands = match snapshot.tools.get(&request.tool) {
                Some(tool) => {
                    let agent = request.origin.agent.as_deref();
                    standing::find(unit, request.asker(), agent, &request.tool, &tool.reviewed_state())?
                }
                None => None,
            };
            Ok(Some((request, stands.is_some())))
        });
        let found = found.await;
        match found {
            Ok(Some((request, false))) if request.state == State::Open => {}
            Ok(_) => return true,
            Err::<_, StoreError>(error) => {
                tracing::warn!(%error, "a pending request cannot be read");
            }
        }
        if Instant::now() >= until {
            return false;
        }
        tokio::select! {
            _ = timeout_at(until, ring.rung()) => {}
            () = app.stopping.cancelled() => return false,
        }
    }
}
