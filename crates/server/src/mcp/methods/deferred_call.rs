//! A slow call on its own task: answered in place if it ends soon, deferred if not.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;
use toolroom_contract::ResponseTime;
use toolroom_mcp::content::TASK;
use toolroom_mcp::{Client, Code, Id, Params, RpcError};

use super::tools_call::in_place;
use crate::app::App;
use crate::mcp::caller::Caller;
use crate::mcp::jobs::{self, EXTENSION, Job};
use crate::mcp::peer::Peer;
use crate::mcp::read::call_params::CallParams;
use crate::mcp::read::request::Request;
use crate::mcp::write::result::{self, Nothing};

/// What ends within this is answered in place.
const GRACE: Duration = Duration::from_millis(100);

/// A tool whose calls may be deferred.
pub(crate) struct Slow {
    /// Its canonical name.
    name: String,
    is_repeatable: bool,
}

/// The tool, if a call of it may be deferred: it is slow, and the client knows what that is.
pub(crate) fn slow_tool(request: &Request<'_>, name: &str) -> Option<Slow> {
    if !request.client.revision.is_stateless() || !request.client.capabilities.has_extension(EXTENSION) {
        return None;
    }
    let (runtime, caller) = (&request.app.runtime, request.caller);
    let snapshot = runtime.registry.snapshot();
    let shown = snapshot.view(&caller.principal, &caller.profile, runtime.today())?.find(name)?;
    let is_slow = shown.definition().response_time == ResponseTime::Slow;
    let tool = shown.tool;
    is_slow.then(|| Slow { name: tool.name().to_owned(), is_repeatable: tool.policy.repeatable })
}

/// Makes the call. Until the client holds its id, dropping this stops it.
pub(crate) async fn run(request: &Request<'_>, tool: &Slow) -> Result<Vec<u8>, RpcError> {
    let app = request.app;
    if let Some(left) = jobs::leave(request, &tool.name, tool.is_repeatable).await {
        return Ok(result::write(request.client.revision, TASK, &Nothing {}, &left));
    }
    let Some(job) = app.mcp.jobs.reserve(&request.caller.principal, app.runtime.clock.now()) else {
        return in_place(request, None).await;
    };
    let mut worker = tokio::spawn(Owned::of(request).work(Arc::clone(&job)));
    let mut bound =
        Bound { app: Arc::clone(app), job: Arc::clone(&job), worker: Some(worker.abort_handle()) };
    tokio::select! {
        biased;
        done = &mut worker => return done.unwrap_or_else(|_| Err(lost())),
        () = tokio::time::sleep(GRACE) => {}
    }
    let tool = CallParams::of(&request.fields)?.name;
    if !jobs::defer(app, &job, &tool).await {
        return worker.await.unwrap_or_else(|_| Err(lost()));
    }
    bound.worker = None;
    Ok(result::write(request.client.revision, TASK, &Nothing {}, &job.created()))
}

fn lost() -> RpcError {
    RpcError::new(Code::Internal, "The call was lost.")
}

/// A call that its client still waits for: it goes with the request, and its place with it.
struct Bound {
    app: Arc<App>,
    job: Arc<Job>,
    worker: Option<AbortHandle>,
}

impl Drop for Bound {
    fn drop(&mut self) {
        if let Some(worker) = &self.worker {
            worker.abort();
            self.app.mcp.jobs.forget(&self.job.id);
        }
    }
}

/// A request that can outlive its transport.
pub(crate) struct Owned {
    pub(crate) app: Arc<App>,
    pub(crate) id: Id,
    pub(crate) caller: Caller,
    pub(crate) client: Client,
    pub(crate) params: Option<Box<str>>,
    pub(crate) peer: Peer,
}

impl Owned {
    fn of(request: &Request<'_>) -> Self {
        Self {
            app: Arc::clone(request.app),
            id: request.id.clone(),
            caller: request.caller.clone(),
            client: request.client.clone(),
            params: request.fields.text.map(Into::into),
            peer: request.peer.clone(),
        }
    }

    async fn work(self, job: Arc<Job>) -> Result<Vec<u8>, RpcError> {
        // Its client may say something to another server.
        let _mail = self.app.mcp.expect_mail(&self.app);
        let outcome = tokio::select! {
            outcome = self.call(&job) => outcome,
            () = job.stop.cancelled() => return Err(lost()),
            () = self.app.stopping.cancelled() => Err(RpcError::new(Code::Internal, "The server has stopped.")),
        };
        if job.settle_in_place() {
            return outcome;
        }
        if job.finish(outcome, self.app.runtime.clock.now()) {
            jobs::tell(&self.app, &job).await;
        }
        Err(lost())
    }

    pub(crate) async fn call(&self, job: &Arc<Job>) -> Result<Vec<u8>, RpcError> {
        let fields = Params::read(self.params.as_deref());
        let meta = fields.meta()?.unwrap_or_default();
        let (app, id, caller, client, peer) = (&self.app, &self.id, &self.caller, &self.client, &self.peer);
        let request = Request { app, id, caller, client, meta: &meta, fields, peer };
        in_place(&request, Some(job)).await
    }
}
