//! Deferred calls as rows, where several servers share a database and a client may ask any of them. The row is the truth;
//! the server that makes the call hears of what clients say elsewhere by mail, and reads it there.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use toolroom_contract::ids::RunId;
use toolroom_mcp::{Code, RpcError};
use toolroom_store::deferred::{self, Call, NewCall, Status};
use toolroom_store::{Store, StoreError, mail};

use super::job::{Job, Snapshot, TTL};
use crate::app::App;
use crate::mcp::caller::Owner;
use crate::mcp::mail::Letter;

/// How long to wait before it is tried again to write how a call stands.
const SAVE_AGAIN: Duration = Duration::from_secs(1);

/// Keeps a call that is about to be deferred; false if that is not possible, and it must be waited for.
pub(super) async fn begin(store: &Store, job: &Job, tool: &str, replica: RunId) -> bool {
    let call = NewCall {
        id: job.id.to_string(),
        owner: job.owner.to_string(),
        tool: tool.to_owned(),
        message: job.progress().message,
        replica,
        created_at: job.created_at(),
    };
    let kept = store.once(move |unit| deferred::put(unit, &call, TTL)).await;
    kept.inspect_err(|error: &StoreError| tracing::warn!(%error, tool, "a call cannot be deferred now"))
        .is_ok()
}

/// The call was answered in place after all.
pub(super) fn forget(store: &Store, job: &Job) {
    let id = Arc::clone(&job.id);
    store.once_unheard(move |unit| deferred::forget(unit, &id));
}

/// Writes how the call stands, and tells the other servers. Nobody else can: while the database is away, it is tried again
/// until this process stops; false then.
pub(super) async fn save(app: &App, job: &Job, me: RunId) -> bool {
    loop {
        let (id, progress) = (Arc::clone(&job.id), job.progress());
        let letter = Letter::Task { id: id.to_string() }.seal();
        let saved = app.runtime.store.write(move |unit| {
            deferred::advance(unit, &id, me, &progress)?;
            mail::send_to_others(unit, me, &letter)
        });
        let Err::<(), StoreError>(error) = saved.await else { return true };
        tracing::error!(%error, task = %job.id, "how a deferred call stands cannot be written now");
        if app.stopping.run_until_cancelled(tokio::time::sleep(SAVE_AGAIN)).await.is_none() {
            return false;
        }
    }
}

/// The owner's call of that id.
pub(super) async fn snapshot(store: &Store, id: &str, owner: &Owner) -> Result<Option<Snapshot>, RpcError> {
    let (id, owner) = (id.to_owned(), owner.to_string());
    let found = store.read(move |unit| deferred::get(unit, &id, &owner)).await.map_err(unreachable)?;
    Ok(found.map(Snapshot::of_row))
}

/// Takes the client's answers; `None` if there is no such call, else whether anything changed.
pub(super) async fn answer(
    store: &Store,
    id: &str,
    owner: &Owner,
    responses: Map<String, Value>,
    me: RunId,
) -> Result<Option<bool>, RpcError> {
    let (id, owner) = (id.to_owned(), owner.to_string());
    let letter = Letter::Task { id: id.clone() }.seal();
    let answered = store.write(move |unit| {
        let now = unit.now;
        let Some((_, is_changed)) = deferred::answer(unit, &id, &owner, &responses, now)? else {
            return Ok(None);
        };
        if is_changed {
            mail::send_to_others(unit, me, &letter)?;
        }
        Ok(Some(is_changed))
    });
    answered.await.map_err(unreachable)
}

/// Nobody wants the outcome; `None` if there is no such call, else whether it had not ended.
pub(super) async fn cancel(
    store: &Store,
    id: &str,
    owner: &Owner,
    me: RunId,
) -> Result<Option<bool>, RpcError> {
    let (id, owner) = (id.to_owned(), owner.to_string());
    let letter = Letter::Task { id: id.clone() }.seal();
    let cancelled = store.write(move |unit| {
        let now = unit.now;
        let cancelled = deferred::cancel(unit, &id, &owner, now)?;
        if cancelled == Some(true) {
            mail::send_to_others(unit, me, &letter)?;
        }
        Ok(cancelled)
    });
    cancelled.await.map_err(unreachable)
}

/// Lets a call that is made here know what its client said, at whichever server.
pub(super) async fn catch_up(app: &App, job: &Job) {
    let (id, owner) = (Arc::clone(&job.id), job.owner.to_string());
    let found = app.runtime.store.read(move |unit| deferred::get(unit, &id, &owner)).await;
    let now = app.runtime.clock.now();
    match found {
        Ok(Some(Call { progress, responses, .. })) => match progress.status {
            Status::Cancelled => _ = job.cancel(now),
            _ => _ = job.answer(responses, now),
        },
        Ok(None) => {}
        Err::<_, StoreError>(error) => {
            tracing::error!(%error, task = %job.id, "what was said of a deferred call cannot be read");
        }
    }
}

fn unreachable(error: StoreError) -> RpcError {
    tracing::error!(%error, "deferred calls cannot be read");
    RpcError::new(Code::Internal, "The database cannot be reached; try again in a moment.")
}
