//! A tool of another server: its calls are passed on, and what comes back is passed on whole.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolroom_contract::error::Outcome;
use toolroom_contract::text::shell_word;
use toolroom_contract::{Answer, Ending, ErrorCode, HintsDraft, ToolContext, ToolError};
use toolroom_upstream::{
    CallOptions, Era, HeaderParam, RemoteResult, Reply, Resumption, Target, ToolAnswer, UpstreamError,
    answers,
};

use super::bridge::{self, ServerDialogue};
use super::parked_elsewhere::Next;
use super::pending_review::ToolStanding;
use super::resource_tool::ResourceTool;
use super::server::Server;
use super::toolroom;
use crate::catalogue::{Executor, Tool};

/// A tool of another server.
pub struct Federated {
    pub(super) server: Arc<Server>,
    /// The server's own name for it.
    pub(super) remote: String,
    pub(super) headers: Arc<[HeaderParam]>,
    /// The hash of the definition that was approved.
    pub(super) hash: String,
    /// Whether it waits for review.
    pub(super) blocked: bool,
    /// What it reads, where it is not a tool of the server's but our way to its resources and prompts.
    pub(super) reading: Option<ResourceTool>,
}

impl Federated {
    /// The server that it is of.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// What it reads, where it is our way to the server's resources and prompts.
    pub fn reading(&self) -> Option<ResourceTool> {
        self.reading
    }

    /// The server's own name for it.
    pub fn remote(&self) -> &str {
        &self.remote
    }

    /// Whether it is this very tool, in this state.
    pub(super) fn is(&self, server: &Arc<Server>, hash: &str, blocked: bool) -> bool {
        Arc::ptr_eq(&self.server, server) && self.hash == hash && self.blocked == blocked
    }

    /// Tells its answers from those of another definition or server.
    pub(crate) fn identity(&self) -> String {
        format!("{} of {}, {}", self.remote, self.server.name(), self.hash)
    }

    /// Whether this is a call that comes back with answers.
    pub(crate) fn comes_back(&self, context: &ToolContext) -> bool {
        bridge::State::of(context).is_some()
    }

    /// Whether such a call was allowed before it asked.
    pub(crate) async fn goes_on(&self, context: &ToolContext) -> bool {
        let Some(state) = bridge::State::of(context) else { return false };
        self.server.parking.knows(&state) || self.server.was_asked_elsewhere(&state).await
    }

    /// Calls it. Dropping the future calls it off.
    pub(crate) async fn run(&self, tool: &Tool, params: &Arc<Value>, context: &ToolContext) -> Ending {
        if self.blocked {
            // Nobody waits for that: the next call finds it open if the server lists what was approved.
            let server = Arc::clone(&self.server);
            tokio::spawn(async move { drop(server.reviewed().await) });
            return Ending::Failed(self.pending());
        }
        self.server.metrics.calls.inc();
        let ran = match self.reading {
            None => self.try_run(tool, params, context).await,
            Some(reading) => self.read(reading, tool, params, context).await,
        };
        let ending = match ran {
            Ok(ending) => ending,
            Err(error) => Ending::Failed(self.failed(tool, error)),
        };
        if let Ending::Failed(_) = &ending {
            self.server.metrics.failures.inc();
        }
        ending
    }

    async fn try_run(
        &self,
        tool: &Tool,
        params: &Arc<Value>,
        context: &ToolContext,
    ) -> Result<Ending, UpstreamError> {
        let client = context.client.as_deref();
        let mut theirs = None;
        match bridge::State::of(context) {
            Some(bridge::State::Parked(id)) => {
                return Ok(match self.server.parking.take(&id, &owner(context), &self.remote) {
                    Some(talk) => self.converse(talk.resumed(context)).await,
                    None => self.converse_elsewhere(tool, &id, context).await,
                });
            }
            Some(bridge::State::Theirs { nonce, state }) => {
                if !self.server.use_up(&nonce).await {
                    return Ok(Ending::Failed(forgotten(tool)));
                }
                theirs = Some(state);
            }
            None => {}
        }
        let upstream = self.server.reachable()?;
        let mut options = CallOptions {
            owner: owner(context),
            reporter: context.reporter.clone(),
            timeout: Some(tool.policy.timeout),
            meta: self.meta(context),
            capabilities: client.map(|client| answers::passed_on(&client.capabilities)),
            log_level: context.reporter.is_on().then_some("info"),
            repeatable: tool.policy.repeatable,
            review: Some(self.server.reviewer(&self.remote, &self.hash)),
            ..CallOptions::default()
        };
        if let Some(client) = client
            && (theirs.is_some() || !client.responses.is_empty())
        {
            options.resumption =
                Some(Resumption { responses: client.responses.clone(), state: theirs.flatten() });
        }
        let may_ask = client.is_some_and(|client| answers::can_answer(&client.capabilities));
        if may_ask && upstream.era() != Some(Era::Stateless) {
            let call = bridge::Call {
                upstream: upstream.clone(),
                remote: self.remote.clone(),
                params: Arc::clone(params),
                headers: Arc::clone(&self.headers),
            };
            return Ok(self.converse(ServerDialogue::begin(call, options, context)).await);
        }
        let target = Target::Tool { name: &self.remote, arguments: params, headers: &self.headers };
        upstream.reach(target, &options).await.map(|reply| self.ending(reply))
    }

    /// Waits for the answer, or for a question of the server's; then the call is set aside until it is answered.
    async fn converse(&self, mut talk: ServerDialogue) -> Ending {
        match talk.next().await {
            bridge::Turn::Answered(Ok(reply)) => self.ending(reply),
            bridge::Turn::Answered(Err(UpstreamError::NotPermitted)) => Ending::Failed(self.not_permitted()),
            bridge::Turn::Answered(Err(error)) => Ending::Failed(error.into_tool_error(self.server.name())),
            bridge::Turn::Asks(requests) => {
                let place = self.server.parking_place();
                let id = place.0.clone();
                match self.server.parking.park(talk, &self.remote, &self.server.stop, place) {
                    true => bridge::asks(requests, &bridge::State::Parked(id)),
                    false => Ending::Failed(
                        ToolError::new(
                            ErrorCode::Busy,
                            "Too many calls are already waiting for an answer from their client.",
                        )
                        .retry_after_ms(1000),
                    ),
                }
            }
        }
    }

    /// The same for a call that may have been set aside by another of several servers.
    async fn converse_elsewhere(&self, tool: &Tool, id: &str, context: &ToolContext) -> Ending {
        let responses = context.client.as_ref().map(|client| client.responses.clone()).unwrap_or_default();
        let next = self.server.resume_elsewhere(id, &owner(context), &self.remote, responses).await;
        match next {
            Some(Ok(Next::Answered(result))) => self.complete(&result),
            Some(Ok(Next::Asks(requests, id))) => bridge::asks(requests, &bridge::State::Parked(id)),
            Some(Err(error)) => Ending::Failed(error),
            None => Ending::Failed(forgotten(tool)),
        }
    }

    fn ending(&self, reply: Reply) -> Ending {
        match reply {
            Reply::Complete(result) => self.complete(&result),
            Reply::InputRequired(wanted) => {
                bridge::asks(wanted.requests, &self.server.parking.state(wanted.state))
            }
        }
    }

    /// A whole result.
    fn complete(&self, result: &RemoteResult) -> Ending {
        let server = self.server.name();
        let answer = match result.tool_answer() {
            Err(error) => return Ending::Failed(error.into_tool_error(server)),
            Ok(answer) => answer,
        };
        if self.is_toolroom()
            && let Some(ending) = toolroom::unwrapped(server, &answer, |name| self.beside(name))
        {
            return ending;
        }
        if answer.failed {
            return Ending::Failed(refused(server, answer));
        }
        let text = || json!({ "text": answer.text() });
        let data = answer.data.clone().unwrap_or_else(text);
        let content = Some(Arc::new(answer.content));
        Ending::Done(Answer { data, hints: HintsDraft::default(), content })
    }

    fn is_toolroom(&self) -> bool {
        self.server.config().is_some_and(|config| config.toolroom)
    }

    /// The name here of another tool of the same server.
    fn beside(&self, remote: &str) -> Option<String> {
        let runtime = self.server.runtime.upgrade()?;
        let snapshot = runtime.registry.snapshot();
        let is_it = |tool: &&Arc<Tool>| match &tool.executor {
            Executor::Upstream(other) => Arc::ptr_eq(&other.server, &self.server) && other.remote == remote,
            _ => false,
        };
        snapshot.tools.values().find(is_it).map(|tool| tool.name().to_owned())
    }

    /// What the server is told beside the arguments.
    fn meta(&self, context: &ToolContext) -> Map<String, Value> {
        let mut meta = meta(context);
        if self.is_toolroom() {
            toolroom::introduce(&mut meta, &owner(context));
        }
        meta
    }

    /// Why it was not called, by what the server lists now.
    fn not_permitted(&self) -> ToolError {
        let seen = self.server.seen.load();
        match seen.tools.get(&self.remote).map(|tool| &tool.standing) {
            // Approved again since the call began.
            Some(ToolStanding::Open) => {
                let message =
                    "The definition of this tool changed while it was called. Check it, then call again.";
                ToolError::new(ErrorCode::DefinitionPending, message)
            }
            Some(standing) if standing.is_pending_review() => self.pending(),
            _ => {
                let server = self.server.name();
                let message = format!("The server '{server}' no longer has this tool. It was not called.");
                ToolError::new(ErrorCode::ToolNotFound, message)
            }
        }
    }

    fn pending(&self) -> ToolError {
        let (server, command) = (self.server.name(), self.server.published());
        let remote = shell_word(&self.remote);
        let message = format!(
            "The definition of this tool is pending review: the server '{server}' has changed it since it was approved. \
             It was not called. A person can look at it: toolroom servers show {command}; and approve it: \
             toolroom servers approve {command} --tool {remote}"
        );
        ToolError::new(ErrorCode::DefinitionPending, message)
    }

    fn failed(&self, tool: &Tool, error: UpstreamError) -> ToolError {
        if matches!(error, UpstreamError::NotPermitted) {
            return self.not_permitted();
        }
        let mut failed = error.into_tool_error(self.server.name());
        failed.outcome = failed.outcome.filter(|_| !tool.policy.read_only);
        failed
    }
}

/// Who calls, for the server's questions: those of one person's call are never put to another.
pub(super) fn owner(context: &ToolContext) -> Arc<str> {
    context.user.as_ref().map_or_else(|| Arc::clone(&context.caller.user.key), |user| Arc::clone(&user.key))
}

/// What a server is told beside the arguments: the trace, and nothing of the caller.
pub(super) fn meta(context: &ToolContext) -> Map<String, Value> {
    let mut digits = [0; 32];
    let trace = context.trace_id.encode_w3c(&mut digits);
    let span = context.execution_id.0.simple().to_string();
    let mut meta = Map::new();
    meta.insert("traceparent".to_owned(), format!("00-{trace}-{}-01", &span[16..]).into());
    meta
}

fn forgotten(tool: &Tool) -> ToolError {
    let message = "The server's question was not answered in time, and the call was cancelled. Call again.";
    let error = ToolError::new(ErrorCode::Cancelled, message);
    if tool.policy.read_only { error } else { error.with_outcome(Outcome::Unknown) }
}

/// The longest text of a failure that is repeated in its message.
const LONGEST_MESSAGE: usize = 1_000;

/// The tool ran, and says itself that it failed.
fn refused(server: &str, answer: ToolAnswer) -> ToolError {
    let said = answer.text();
    let said = said.trim();
    let end = said.char_indices().nth(LONGEST_MESSAGE).map_or(said.len(), |(end, _)| end);
    let message = match &said[..end] {
        "" => format!("The tool of the server '{server}' failed without saying why."),
        said => format!("The tool of the server '{server}' failed: {said}"),
    };
    let mut error = ToolError::new(ErrorCode::ToolExecutionError, message);
    error.data = answer.data.map(Box::new);
    error.content = Some(Arc::new(answer.content));
    error
}
