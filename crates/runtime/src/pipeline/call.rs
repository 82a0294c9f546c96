//! One call in progress: who, what, since when. Dropped before it is answered, it is journaled as cancelled.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Instant;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use toolroom_contract::context::{CommitHook, ContextFields, TraceId};
use toolroom_contract::hints::Warning;
use toolroom_contract::ids::{ExecutionId, PendingId};
use toolroom_contract::report::Reporter;
use toolroom_contract::{CommitGate, Principal, ToolContext, User};

use super::params::Checked;
use super::request::{CallRequest, Edge};
use super::resolve::Resolved;
use crate::Runtime;
use crate::catalogue::{Bound, Snapshot, Tool, View};
use crate::journal::{EndRecord, EndStatus, Mask, Masked, Secrets, StartRecord, Steps};

pub(super) struct Call {
    pub(super) runtime: Arc<Runtime>,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) id: ExecutionId,
    pub(super) at: Timestamp,
    pub(super) began: Instant,
    pub(super) profile: Cow<'static, str>,
    pub(super) name: String,
    pub(super) params: Arc<Value>,
    pub(super) principal: Arc<Principal>,
    pub(super) context: ContextFields,
    pub(super) trace_id: TraceId,
    pub(super) correlation_id: Arc<str>,
    pub(super) agent_id: Arc<str>,
    pub(super) agent_version: Arc<str>,
    pub(super) time_zone: TimeZone,
    pub(super) edge: Edge,
    pub(super) reporter: Reporter,
    /// The tool that handed the call on.
    pub(super) via: Option<Arc<str>>,
    /// Whether the tool is in no catalogue.
    pub(super) is_draft: bool,
    pub(super) tool: Option<Arc<Tool>>,
    pub(super) shape: Option<Arc<Bound>>,
    pub(super) warning: Option<Warning>,
    /// On whose behalf, once that is known to be allowed.
    pub(super) user: Option<User>,
    /// How far it came.
    pub(super) steps: Steps,
    /// The request or the standing approval by which a person decides about it.
    pub(super) approval: Option<PendingId>,
    /// Whether that is a standing approval.
    pub(super) by_standing: bool,
    /// Whether the start record is in the journal.
    pub(super) started: bool,
    /// What its effect passes, where that is a transaction of the store.
    pub(super) gate: CommitGate,
    answered: bool,
    secrets: OnceLock<Secrets>,
    /// The caller must not learn that the tool exists.
    concealed: bool,
}

impl Call {
    /// Boxed: it is handed from step to step, and large.
    pub(super) fn begin(runtime: &Arc<Runtime>, request: CallRequest) -> Box<Self> {
        let CallRequest { profile, name, params, principal, mut context, edge, reporter } = request;
        let id = context.execution.take().unwrap_or_else(|| runtime.journal.new_id());
        let text = |given: Option<String>, otherwise: &Arc<str>| match given {
            Some(text) if !text.is_empty() => text.into(),
            _ => Arc::clone(otherwise),
        };
        let correlation_id = match context.correlation_id.take() {
            Some(id) => id.into(),
            None => id.0.hyphenated().encode_lower(&mut [0; uuid::fmt::Hyphenated::LENGTH])[..].into(),
        };
        let zone = context.timezone.as_deref().and_then(|name| TimeZone::get(name).ok());
        runtime.metrics.running.inc();
        Box::new(Self {
            snapshot: Arc::clone(&runtime.registry.snapshot()),
            id,
            at: runtime.clock.now(),
            began: Instant::now(),
            profile,
            name,
            params: Arc::new(params),
            trace_id: context.trace_id.unwrap_or_default(),
            correlation_id,
            agent_id: text(context.agent_id.take(), &runtime.unknown_agent),
            agent_version: text(context.agent_version.take(), &runtime.unknown_version),
            time_zone: zone
                .or_else(|| principal.time_zone.clone())
                .unwrap_or_else(|| runtime.settings.time_zone.clone()),
            principal,
            context,
            edge,
            reporter,
            via: None,
            is_draft: false,
            tool: None,
            shape: None,
            warning: None,
            user: None,
            steps: Steps { now: "resolve", ..Steps::default() },
            approval: None,
            by_standing: false,
            started: false,
            gate: CommitGate::default(),
            answered: false,
            secrets: OnceLock::new(),
            concealed: false,
            runtime: Arc::clone(runtime),
        })
    }

    /// At debug level, because a span costs a third of a whole call; lines that are logged without it carry
    /// the trace id themselves.
    pub(super) fn span(&self) -> tracing::Span {
        tracing::debug_span!("call", tool = self.name, traceId = %self.trace_id, executionId = %self.id)
    }

    /// What the caller may see and call under the profile.
    pub(super) fn view(&self) -> Option<View<'_>> {
        self.snapshot.view(&self.principal, &self.profile, crate::day_of(self.at))
    }

    pub(super) fn note_tool(&mut self, resolved: &Resolved) {
        self.tool = Some(Arc::clone(&resolved.tool));
        self.shape = resolved.shape.clone();
        self.warning = resolved.warning.clone();
    }

    /// The answer must be that of a tool that nobody has. Masks still apply: the journal has the input.
    pub(super) fn conceal(&mut self) {
        self.concealed = true;
        self.shape = None;
        self.warning = None;
    }

    /// The tool, as far as the caller may know of it.
    pub(super) fn shown_tool(&self) -> Option<&Arc<Tool>> {
        self.tool.as_ref().filter(|_| !self.concealed)
    }

    pub(super) fn note_user(&mut self, checked: &Checked) {
        self.tool = Some(Arc::clone(&checked.resolved.tool));
        self.user = Some(checked.user.clone());
    }

    /// Whose call it is: the user whom the caller named and may act for, else the caller.
    pub(super) fn on_behalf_of(&self) -> &User {
        self.user.as_ref().unwrap_or(&self.principal.user)
    }

    /// The caller, where that acts for another user.
    pub(super) fn actor(&self) -> Option<&str> {
        let own = &self.principal.user.key;
        (self.on_behalf_of().key != *own).then_some(own)
    }

    /// When the call must have ended.
    pub(super) fn deadline(&self, tool: &Tool) -> Instant {
        self.began + tool.policy.timeout
    }

    /// The next of the steps that are timed has ended, and this one begins.
    pub(super) fn next_timed(&mut self, step: &'static str) {
        self.steps.end_timed(self.began.elapsed().as_micros());
        self.steps.now = step;
    }

    pub(super) fn milliseconds(&self) -> f64 {
        // Microseconds are as fine as anybody can use.
        (self.began.elapsed().as_nanos() / 1000) as f64 / 1000.0
    }

    /// What a handler is told.
    pub(super) fn tool_context(&self, user: User, committed: CommitHook) -> ToolContext {
        ToolContext {
            execution_id: self.id,
            user: Some(user),
            caller: Arc::clone(&self.principal),
            profile: self.profile.clone(),
            session_id: self.context.session_id.as_deref().map(Into::into),
            correlation_id: Arc::clone(&self.correlation_id),
            trace_id: self.trace_id,
            agent_id: Arc::clone(&self.agent_id),
            agent_version: Arc::clone(&self.agent_version),
            timestamp: self.context.timestamp.unwrap_or(self.at),
            time_zone: self.time_zone.clone(),
            metadata: self.context.metadata.clone(),
            answer: None,
            client: self.context.client.clone(),
            claim: None,
            committed,
            gate: self.gate.clone(),
            reporter: self.reporter.clone(),
        }
    }

    /// One of the tool's masks; without a tool, only the names of secrets count.
    pub(super) fn mask(&self, of: impl FnOnce(&Tool) -> &Mask) -> &Mask {
        static NAMES_ONLY: LazyLock<Mask> = LazyLock::new(Mask::default);
        self.tool.as_deref().map_or(&NAMES_ONLY, of)
    }

    /// The secret values among the parameters. Asked for once the tool is known, which says what is secret.
    pub(super) fn secrets(&self) -> &Secrets {
        self.secrets.get_or_init(|| Secrets::of(&self.params, self.mask(|tool| &tool.mask)))
    }

    /// Hands the start record to `write`.
    pub(super) fn with_start<T>(&self, write: impl FnOnce(&StartRecord<'_>) -> T) -> T {
        write(&StartRecord {
            id: self.id,
            at: self.at,
            tool: &self.name,
            profile: &self.profile,
            user: &self.on_behalf_of().key,
            by: self.actor(),
            agent_id: &self.agent_id,
            agent_version: &self.agent_version,
            edge: self.edge,
            trace_id: self.trace_id.as_str(),
            correlation_id: &self.correlation_id,
            via: self.via.as_deref().or(self.is_draft.then_some("draft")),
            conversation: self.context.dialogue.as_ref().map(|dialogue| dialogue.scope.as_str()),
            input: Masked::new(&self.params, self.mask(|tool| &tool.mask)).without(self.secrets()),
        })
    }

    /// Writes the end of the call, with its start if that is not there yet.
    pub(super) fn journal_end(&self, end: &EndRecord<'_>) -> bool {
        let journal = &self.runtime.journal;
        let written =
            if self.started { journal.end(end) } else { self.with_start(|start| journal.call(start, end)) };
        if let Err(error) = &written {
            self.runtime.metrics.journal_failures.inc();
            tracing::error!(%error, traceId = %self.trace_id, executionId = %self.id, "the end of a call could not be written to the execution log");
        }
        written.is_ok()
    }

    /// The call has been answered: from here on a drop means nothing.
    pub(super) fn set_answered(&mut self) {
        self.answered = true;
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.runtime.metrics.running.dec();
        if self.answered {
            return;
        }
        // Closed before anything is said about it.
        self.gate.close();
        let outcome = self.tool.as_ref().filter(|_| self.started).and_then(|tool| tool.outcome(&self.gate));
        self.journal_end(&EndRecord {
            id: self.id,
            at: self.runtime.clock.now(),
            status: EndStatus::Cancelled,
            code: Some("cancelled"),
            message: None,
            detail: None,
            ms: self.milliseconds(),
            cached: false,
            replayed: false,
            dry_run: false,
            outcome: outcome.map(Into::into),
            output: None,
            truncated: false,
            approval: self.approval,
            steps: self.steps,
        });
    }
}
