//! Calls that outlive their request: the extension `io.modelcontextprotocol/tasks`. A slow tool that has not answered
//! after a moment goes on by itself; its client holds an id, asks for the outcome, and answers what the tool asks.
//!
//! | file | what is there |
//! | --- | --- |
//! | `job` | one deferred call: how it stands, what it asks, how it ended |
//! | `reports` | what it says on its way |
//! | `rows` | the same as rows, for servers that share a database |
//! | `queue` | calls that are left for a worker |
//! | `worker` | takes them, and makes them |
//!
//! `methods/deferred_call` makes such calls.

mod job;
mod queue;
mod reports;
mod rows;
mod worker;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use toolroom_contract::Principal;
use toolroom_mcp::RpcError;

pub(crate) use job::{Job, Snapshot};
pub(crate) use queue::leave;
pub(crate) use reports::JobReports;
pub(crate) use toolroom_mcp::meta::TASKS_EXTENSION as EXTENSION;
pub use worker::{Takes, Worker};

use super::caller::Owner;
use super::read::request::Request;
use super::sources::News;
use crate::app::App;

/// Deferred calls in total.
const MOST: usize = 10_000;
/// Deferred calls of one caller.
const MOST_OF_ONE: usize = 100;

/// All deferred calls of a server.
#[derive(Default)]
pub(crate) struct Jobs(Mutex<HashMap<Arc<str>, Arc<Job>>>);

impl Jobs {
    /// A place for one more; `None` if there are too many, and the call must be waited for.
    pub(crate) fn reserve(&self, caller: &Principal, now: Timestamp) -> Option<Arc<Job>> {
        let owner = Owner::of(caller);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over: Vec<Arc<Job>> = all.extract_if(|_, job| job.is_over(now)).map(|(_, job)| job).collect();
        for job in over {
            // One that still waits for answers waits forever.
            job.stop.cancel();
        }
        if all.len() >= MOST || all.values().filter(|job| job.owner == owner).count() >= MOST_OF_ONE {
            return None;
        }
        let job = Arc::new(Job::new(owner, caller.revoked.clone(), now));
        all.insert(Arc::clone(&job.id), Arc::clone(&job));
        Some(job)
    }

    /// One that is made here, and was left by another server.
    fn add(&self, job: &Arc<Job>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(Arc::clone(&job.id), Arc::clone(job));
    }

    pub(crate) fn forget(&self, id: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// The call of that id that is made here.
    fn here(&self, id: &str) -> Option<Arc<Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// The caller's own of that id.
    fn find(&self, id: &str, owner: &Owner, now: Timestamp) -> Option<Arc<Job>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(id).filter(|job| job.owner == *owner && job.is_deferred() && !job.is_over(now)).cloned()
    }
}

/// The caller's deferred call of that id, as it stands.
pub(crate) async fn snapshot(request: &Request<'_>, id: &str) -> Result<Snapshot, RpcError> {
    let store = &request.app.runtime.store;
    if store.lease().is_none() {
        return find(request, id).map(|job| job.snapshot());
    }
    rows::snapshot(store, id, &Owner::of(&request.caller.principal)).await?.ok_or_else(unknown)
}

/// Takes the client's answers to what its call asks.
pub(crate) async fn answer(
    request: &Request<'_>,
    id: &str,
    responses: Map<String, Value>,
) -> Result<(), RpcError> {
    let app = request.app;
    let is_changed = match app.runtime.store.lease() {
        None => find(request, id)?.answer(responses, app.runtime.clock.now()),
        Some(lease) => {
            let owner = Owner::of(&request.caller.principal);
            let answered = rows::answer(&app.runtime.store, id, &owner, responses, lease.run()).await?;
            answered.ok_or_else(unknown)?
        }
    };
    if is_changed {
        heard(app, id.into()).await;
    }
    Ok(())
}

/// Stops the call; one that has ended stays as it is.
pub(crate) async fn cancel(request: &Request<'_>, id: &str) -> Result<(), RpcError> {
    let app = request.app;
    let is_changed = match app.runtime.store.lease() {
        None => find(request, id)?.cancel(app.runtime.clock.now()),
        Some(lease) => {
            let owner = Owner::of(&request.caller.principal);
            rows::cancel(&app.runtime.store, id, &owner, lease.run()).await?.ok_or_else(unknown)?
        }
    };
    if is_changed {
        heard(app, id.into()).await;
    }
    Ok(())
}

/// Something has changed about a call: whoever makes it, or listens to it, is to know.
pub(crate) async fn heard(app: &Arc<App>, id: Arc<str>) {
    let job = app.mcp.jobs.here(&id);
    if let Some(job) = job.filter(|_| app.runtime.store.lease().is_some()) {
        rows::catch_up(app, &job).await;
    }
    app.mcp.sources.tell(News::Task(id));
}

/// The call itself has come further. False if that could not be written down before this process stopped.
pub(crate) async fn tell(app: &Arc<App>, job: &Job) -> bool {
    let is_told = match app.runtime.store.lease() {
        Some(lease) => rows::save(app, job, lease.run()).await,
        None => true,
    };
    app.mcp.sources.tell(News::Task(Arc::clone(&job.id)));
    is_told
}

/// Gives the client the id of its call from now on; false if the answer is there, or on its way.
pub(crate) async fn defer(app: &Arc<App>, job: &Job, tool: &str) -> bool {
    let store = &app.runtime.store;
    let Some(lease) = store.lease() else { return job.defer() };
    if !rows::begin(store, job, tool, lease.run()).await {
        return !job.settle_in_place();
    }
    let deferred = job.defer();
    if !deferred {
        rows::forget(store, job);
    }
    deferred
}

fn find(request: &Request<'_>, id: &str) -> Result<Arc<Job>, RpcError> {
    let (app, owner) = (request.app, Owner::of(&request.caller.principal));
    app.mcp.jobs.find(id, &owner, app.runtime.clock.now()).ok_or_else(unknown)
}

fn unknown() -> RpcError {
    RpcError::invalid_params("taskId: you have no task with that id.")
}

/// Nothing of the extension without the client's having declared it.
pub(crate) fn check_declared(request: &Request<'_>) -> Result<(), RpcError> {
    if request.client.capabilities.has_extension(EXTENSION) {
        return Ok(());
    }
    Err(RpcError::missing_capability(&json!({ "extensions": { EXTENSION: {} } })))
}
