//! `tools/call`: its reports on the way, what its client is asked, its reply in the end. It is made in place, or by itself
//! if it is slow and the client can wait for it elsewhere.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value};
use toolroom_contract::context::ContextFields;
use toolroom_contract::error::PendingNotice;
use toolroom_contract::{ClientInput, ClientSide, ErrorCode, Reporter};
use toolroom_mcp::meta::TASKS_EXTENSION;
use toolroom_mcp::{Code, RpcError};
use toolroom_runtime::{CallRequest, Reply};

use super::deferred_call;
use crate::mcp::approval::{self, Settled};
use crate::mcp::input::{self, MOST_ROUNDS, Requests};
use crate::mcp::jobs::{self, Job, JobReports};
use crate::mcp::name_index::is_shown;
use crate::mcp::peer::Reports;
use crate::mcp::read::call_params::CallParams;
use crate::mcp::read::request::Request;
use crate::mcp::seal::{Bound, State};
use crate::mcp::write::input_required::required;
use crate::mcp::write::tool_result;

/// Answers the request.
pub(crate) async fn answer(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    if request.client.capabilities.has_extension(TASKS_EXTENSION) {
        let CallParams { name, .. } = CallParams::of(&request.fields)?;
        if let Some(tool) = deferred_call::slow_tool(request, &meant(request, name)) {
            return deferred_call::run(request, &tool).await;
        }
    }
    in_place(request, None).await
}

/// The call, to its end; with a job, that end may come after the request's.
pub(crate) async fn in_place(request: &Request<'_>, job: Option<&Arc<Job>>) -> Result<Vec<u8>, RpcError> {
    let CallParams { name, arguments, input_responses, request_state } = CallParams::of(&request.fields)?;
    let mut turn = Turn {
        request,
        name: meant(request, name),
        arguments: Some(arguments.unwrap_or_default()),
        context: request.context(),
        may_ask: true,
        job,
    };
    let told = match request_state {
        Some(text) => turn.resume(&text, input_responses.as_ref()).await?,
        None => None,
    };
    turn.introduce(input_responses.unwrap_or_default(), told);
    for _ in 0..MOST_ROUNDS {
        let reply = turn.call().await;
        if let Some(error) = unknown(request, &turn.name, &reply).or_else(|| turn.broken(&reply)) {
            return Err(error);
        }
        match turn.next(&reply).await? {
            Next::Answer(result) => return Ok(result),
            Next::Again => {}
        }
    }
    turn.may_ask = false;
    let reply = turn.call().await;
    Ok(tool_result::render(&reply, request, &turn.name).await)
}

/// One `tools/call`, which may take several calls of the tool.
struct Turn<'a> {
    request: &'a Request<'a>,
    name: String,
    /// Until the first call; they are read again from the request where they are needed once more.
    arguments: Option<Map<String, Value>>,
    context: ContextFields,
    /// Not if a person has put the question off.
    may_ask: bool,
    /// Where the call goes on when its request has been answered.
    job: Option<&'a Arc<Job>>,
}

enum Next {
    /// That is the result.
    Answer(Vec<u8>),
    /// The client has answered: call again.
    Again,
}

impl<'a> Turn<'a> {
    /// Takes up what an earlier try left with a stateless client: a request, or what the tool wants to be told again.
    async fn resume(
        &mut self,
        state: &str,
        responses: Option<&Map<String, Value>>,
    ) -> Result<Option<String>, RpcError> {
        let app = self.request.app;
        let (bound, now) = (self.bound(), app.runtime.clock.now());
        match app.mcp.seals.open(&app.runtime.store, state, &bound, now).await? {
            State::PendingRequest(id) => {
                let response = responses.and_then(|responses| responses.get(approval::KEY));
                let settled = approval::settle(app, &self.request.caller.principal, id, response).await?;
                self.may_ask = settled != Settled::PutOff;
                self.context.approval_id = Some(id);
                Ok(None)
            }
            State::Tool(state) => Ok(Some(state)),
        }
    }

    /// Tells the tool what the client can do and has answered, if there is anything to tell.
    fn introduce(&mut self, responses: Map<String, Value>, state: Option<String>) {
        let capabilities = &self.request.client.capabilities.0;
        if !capabilities.is_empty() || !responses.is_empty() || state.is_some() {
            let capabilities = Arc::clone(capabilities);
            self.context.client = Some(Arc::new(ClientSide { capabilities, responses, state }));
        }
    }

    async fn call(&mut self) -> Reply {
        let request = self.request;
        let params = Value::Object(self.arguments.take().unwrap_or_else(|| read_arguments(request)));
        // Only older clients are asked in the middle, and the call made again from here.
        let once = request.client.revision.is_stateless() && self.job.is_none();
        let context = if once { std::mem::take(&mut self.context) } else { self.context.clone() };
        let call = CallRequest {
            profile: request.caller.profile.clone(),
            name: self.name.clone(),
            params,
            principal: Arc::clone(&request.caller.principal),
            context,
            edge: request.caller.edge,
            reporter: reporter(request, &self.name, self.job),
        };
        request.app.runtime.call(call).await
    }

    async fn next(&mut self, reply: &Reply) -> Result<Next, RpcError> {
        let client = self.request.client;
        if let Some(asked) = &reply.asks {
            return self.ask_client(asked, reply).await;
        }
        match pending(reply).filter(|_| self.may_ask && client.capabilities.elicits_forms()) {
            Some(notice) => self.ask_person(notice, reply).await,
            None => Ok(Next::Answer(tool_result::render(reply, self.request, &self.name).await)),
        }
    }

    /// The tool needs something of the client itself.
    async fn ask_client(&mut self, asked: &ClientInput, reply: &Reply) -> Result<Next, RpcError> {
        let Request { app, client, peer, .. } = self.request;
        input::check_capabilities(&client.capabilities, &asked.requests)?;
        if let Some(job) = self.deferred() {
            let responses = self.ask_later(job, &asked.requests).await;
            self.introduce(responses, asked.state.clone());
            return Ok(Next::Again);
        }
        if client.revision.is_stateless() {
            let state = match &asked.state {
                Some(state) => {
                    let until = app.runtime.clock.now() + input::PATIENCE;
                    Some(self.seal(State::Tool(state.clone()), until).await?)
                }
                None => None,
            };
            return Ok(Next::Answer(required(client, &asked.requests, state)));
        }
        match input::ask(peer, &asked.requests).await {
            Ok(responses) => {
                self.introduce(responses, asked.state.clone());
                Ok(Next::Again)
            }
            Err(error) => {
                tracing::debug!(%error, tool = self.name, "a client did not answer what a tool asked");
                Ok(Next::Answer(tool_result::render(reply, self.request, &self.name).await))
            }
        }
    }

    /// The call waits for a person, whom the client can show a form.
    async fn ask_person(&mut self, notice: &PendingNotice, reply: &Reply) -> Result<Next, RpcError> {
        let Request { app, client, peer, caller, .. } = self.request;
        let form = approval::form(notice);
        let job = self.deferred();
        if client.revision.is_stateless() && job.is_none() {
            let state = self.seal(State::PendingRequest(notice.id), notice.expires_at).await?;
            return Ok(Next::Answer(required(client, &form, Some(state))));
        }
        let asked = match job {
            Some(job) => Ok(self.ask_later(job, &form).await),
            None => input::ask(peer, &form).await,
        };
        let settled = match asked {
            Ok(responses) => {
                approval::settle(app, &caller.principal, notice.id, responses.get(approval::KEY)).await?
            }
            Err(error) => {
                tracing::debug!(%error, tool = self.name, "a client did not show a form");
                Settled::PutOff
            }
        };
        if settled == Settled::PutOff {
            return Ok(Next::Answer(tool_result::render(reply, self.request, &self.name).await));
        }
        self.context.approval_id = Some(notice.id);
        Ok(Next::Again)
    }

    /// The job, once its client holds the id; from then on it is asked by what the job says.
    fn deferred(&self) -> Option<&'a Arc<Job>> {
        self.job.filter(|job| !job.settle_in_place())
    }

    async fn ask_later(&self, job: &Arc<Job>, requests: &Requests) -> Map<String, Value> {
        let app = self.request.app;
        job.ask(requests, app.runtime.clock.now());
        jobs::tell(app, job).await;
        job.answers_while_others_run().await
    }

    /// What broke inside a deferred call is an error of the protocol, as its client expects.
    fn broken(&self, reply: &Reply) -> Option<RpcError> {
        let error = reply.result.error().filter(|error| error.code == ErrorCode::Internal)?;
        let deferred = self.job.is_some_and(|job| job.is_deferred());
        deferred.then(|| RpcError::new(Code::Internal, error.message.clone()))
    }

    async fn seal(&self, state: State, until: Timestamp) -> Result<String, RpcError> {
        let app = self.request.app;
        app.mcp.seals.seal(&app.runtime.store, state, &self.bound(), until).await
    }

    fn bound(&self) -> Bound {
        let arguments = self.arguments.clone().unwrap_or_else(|| read_arguments(self.request));
        Bound::of(self.request.caller, "tools/call", &self.name, arguments)
    }
}

fn read_arguments(request: &Request<'_>) -> Map<String, Value> {
    CallParams::of(&request.fields).ok().and_then(|params| params.arguments).unwrap_or_default()
}

/// What a person is to decide here.
fn pending(reply: &Reply) -> Option<&PendingNotice> {
    reply.result.error()?.pending.as_ref().filter(|notice| notice.is_here())
}

/// The published name behind the one that clients are shown.
pub(super) fn meant(request: &Request<'_>, shown: String) -> String {
    let index = request.app.mcp.indexes.of(&request.app.runtime.registry.snapshot());
    match index.profile(&request.caller.profile) {
        Some(profile) => profile.aliases.mean(&shown).to_owned(),
        None => shown,
    }
}

/// Reports go nowhere unless the client asked for them.
fn reporter(request: &Request<'_>, tool: &str, job: Option<&Arc<Job>>) -> Reporter {
    let token = request.meta.progress_token.clone();
    let level = request.client.log_level;
    let reports =
        (token.is_some() || level.is_some()).then(|| Reports::new(request.peer.clone(), token, level, tool));
    match (job, reports) {
        (Some(job), reports) => {
            let store = &request.app.runtime.store;
            Reporter::new(Arc::new(JobReports::new(Arc::clone(job), reports, store)))
        }
        (None, Some(reports)) => Reporter::new(Arc::new(reports)),
        (None, None) => Reporter::default(),
    }
}

/// A tool that is not there, or not for this caller, is an error of the protocol. A tool that was handed another
/// one's name and did not find it is not.
fn unknown(request: &Request<'_>, name: &str, reply: &Reply) -> Option<RpcError> {
    let error = reply.result.error().filter(|error| error.code == ErrorCode::ToolNotFound)?;
    let snapshot = request.app.runtime.registry.snapshot();
    let there = is_shown(request.app, &snapshot, request.caller, name);
    (!there).then(|| RpcError::invalid_params(error.message.clone()))
}
