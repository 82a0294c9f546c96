//! Calls that outlive their request: the extension `io.modelcontextprotocol/tasks`. A slow tool that has not answered
//! after a moment goes on by itself; its client holds an id, asks for the outcome, and answers what the tool asks.
//!
//! | file | what is there |
//! | --- | --- |
//! | `job` | one deferred call: how it stands, what it asks, how it ended |
//! | `reports` | what it says on its way |
//!
//! `methods/deferred_call` makes such calls.

mod job;
mod reports;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use toolroom_contract::Principal;
use toolroom_mcp::RpcError;

pub(crate) use job::{Job, Snapshot};
pub(crate) use reports::JobReports;
pub(crate) use toolroom_mcp::meta::TASKS_EXTENSION as EXTENSION;

use super::caller::Owner;
use super::read::request::Request;
use serde_json::json;

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

    pub(crate) fn forget(&self, id: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// The caller's own of that id.
    pub(crate) fn find(&self, id: &str, owner: &Owner, now: Timestamp) -> Option<Arc<Job>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(id).filter(|job| job.owner == *owner && job.is_deferred() && !job.is_over(now)).cloned()
    }
}

/// The caller's deferred call that a request names.
pub(crate) fn of_request(request: &Request<'_>, id: &str) -> Result<Arc<Job>, RpcError> {
    let app = request.app;
    let owner = Owner::of(&request.caller.principal);
    app.mcp
        .jobs
        .find(id, &owner, app.runtime.clock.now())
        .ok_or_else(|| RpcError::invalid_params("taskId: you have no task with that id."))
}

/// Nothing of the extension without the client's having declared it.
pub(crate) fn check_declared(request: &Request<'_>) -> Result<(), RpcError> {
    if request.client.capabilities.has_extension(EXTENSION) {
        return Ok(());
    }
    Err(RpcError::missing_capability(&json!({ "extensions": { EXTENSION: {} } })))
}
