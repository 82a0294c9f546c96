//! Calls that are left for a worker, where several servers share a database and some process takes calls of the tool: what a
//! worker needs to make one, as the row keeps it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolroom_contract::ids::KeyId;
use toolroom_contract::{Principal, ToolError, TraceId};
use toolroom_mcp::{Capabilities, Client, Implementation, Revision};
use toolroom_runtime::Edge;
use toolroom_store::deferred::NewCall;
use toolroom_store::{StoreError, workers};

use super::job::{Job, Snapshot, TTL};
use crate::app::App;
use crate::mcp::caller::{Caller, Owner};
use crate::mcp::read::request::Request;

/// Deferred calls of one caller, as with one server.
const MOST_OF_ONE: usize = super::MOST_OF_ONE;

/// A call, as it is left. Who makes it later asks again what the caller may do: a credential is not in it.
#[derive(Serialize, Deserialize)]
pub(super) struct Ticket {
    user: String,
    key: Option<i64>,
    person: bool,
    profile: String,
    trace: TraceId,
    edge: Edge,
    dry_run: bool,
    revision: String,
    name_and_version: Option<(String, String)>,
    capabilities: Arc<Map<String, Value>>,
    /// The parameters of the request, as they came.
    params: Option<String>,
}

/// Leaves the call for a worker; `None` if none is there for its tool, and the call is to be made here.
pub(crate) async fn leave(request: &Request<'_>, tool: &str, is_repeatable: bool) -> Option<Snapshot> {
    let (app, caller) = (request.app, request.caller);
    let (store, lease) = (&app.runtime.store, app.runtime.store.lease()?);
    let name = tool.to_owned();
    let left = async {
        if !store.read(move |unit| workers::is_taken(unit, &name)).await? {
            return Ok(None);
        }
        let principal = &caller.principal;
        let job = Job::new(Owner::of(principal), principal.revoked.clone(), app.runtime.clock.now());
        let call = NewCall {
            id: job.id.to_string(),
            owner: job.owner.to_string(),
            tool: tool.to_owned(),
            message: None,
            replica: lease.run(),
            created_at: job.created_at(),
        };
        // Our own types have string keys: this cannot fail.
        let ticket = serde_json::to_string(&Ticket::of(request)).unwrap_or_default();
        let user = job.owner.user;
        let left = store
            .write(move |unit| workers::leave(unit, user, &call, &ticket, is_repeatable, TTL, MOST_OF_ONE));
        Ok(left.await?.then(|| job.created()))
    };
    left.await.unwrap_or_else(|error: StoreError| {
        tracing::warn!(%error, tool, "a call cannot be left for a worker now");
        None
    })
}

/// Who asked, and what they asked.
pub(super) type Redeemed = (Caller, Client, Option<Box<str>>);

impl Ticket {
    fn of(request: &Request<'_>) -> Self {
        let Request { caller, client, .. } = request;
        let principal = &caller.principal;
        Self {
            user: principal.user.key.to_string(),
            key: principal.key.map(|key| key.0),
            person: principal.person,
            profile: caller.profile.clone().into_owned(),
            trace: caller.trace,
            edge: caller.edge,
            dry_run: caller.dry_run,
            revision: client.revision.as_str().to_owned(),
            name_and_version: client.info.as_ref().map(|info| (info.name.clone(), info.version.clone())),
            capabilities: Arc::clone(&client.capabilities.0),
            params: request.fields.text.map(str::to_owned),
        }
    }

    /// Who asked, and what they asked; `None` if they may ask nothing any more. The error is that nobody can tell now.
    pub(super) async fn redeem(self, app: &App) -> Result<Option<Redeemed>, ToolError> {
        let found = app.auth.again(&self.user, self.key.map(KeyId), self.person).await;
        let principal = found.inspect_err(|error| {
            tracing::warn!(user = self.user, code = ?error.code, "who left a call cannot be looked up");
        })?;
        Ok(principal.and_then(|principal| self.of_caller(principal)))
    }

    fn of_caller(self, principal: Arc<Principal>) -> Option<Redeemed> {
        if !principal.may_use_profile(&self.profile) {
            return None;
        }
        let caller = Caller {
            principal,
            profile: self.profile.into(),
            trace: self.trace,
            edge: self.edge,
            session: None,
            dry_run: self.dry_run,
        };
        let client = Client {
            revision: Revision::parse(&self.revision)?,
            info: self.name_and_version.map(|(name, version)| Implementation { name, version }),
            capabilities: Capabilities(self.capabilities),
            log_level: None,
        };
        Some((caller, client, self.params.map(Into::into)))
    }
}
