//! Calls of a run: made through the pipeline, shown in the log, told to the model.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolroom_contract::context::{Confirm, ContextFields, Dialogue};
use toolroom_contract::error::{PendingKind, PendingNotice};
use toolroom_contract::ids::ExecutionId;
use toolroom_contract::{ErrorCode, Principal, Reporter, ToolError};
use toolroom_runtime::{CallRequest, Edge, Reply, Runtime, VERSION};
use toolroom_store::StoreError;

use super::AGENT;
use super::answer::CallShown;
use super::driver::{Driver, Place};
use crate::confirm::PendingQuestion;
use crate::guard::Attempt;
use crate::log::{EventKind, TextSource};
use crate::receipt::{Receipt, receipt};
use crate::run::{Event, Planned, WaitingCall, told as told_of};
use toolroom_model::Message;

/// Makes calls on behalf of a person.
#[derive(Clone)]
pub(super) struct Caller {
    runtime: Arc<Runtime>,
    who: Arc<Principal>,
    place: Place,
}

impl Caller {
    /// Makes a call; with `confirm`, only opens the request that asks for it.
    pub(super) async fn call(
        &self,
        planned: &Planned,
        confirm: Option<Confirm>,
        execution: Option<ExecutionId>,
    ) -> Reply {
        let place = &self.place;
        // The same call of the same run never takes effect twice, not even after a crash.
        let key =
            (planned.changes && confirm.is_none()).then(|| format!("chat:{}:{}", place.run, planned.call.id));
        let context = ContextFields {
            session_id: place.conversation.map(|id| id.to_string()),
            correlation_id: Some(place.run.to_string()),
            agent_id: Some(AGENT.to_owned()),
            agent_version: Some(VERSION.to_owned()),
            timestamp: Timestamp::from_millisecond(planned.at).ok(),
            timezone: planned.zone.clone(),
            idempotency_key: key,
            approval_id: planned.approval,
            dialogue: Some(Arc::new(Dialogue { scope: planned.scope.clone(), confirm })),
            execution,
            ..ContextFields::default()
        };
        let request = CallRequest {
            profile: Cow::Owned(planned.profile.clone()),
            name: planned.name.clone(),
            params: planned.params.clone(),
            principal: Arc::clone(&self.who),
            context,
            edge: Edge::Chat,
            reporter: Reporter::default(),
        };
        self.runtime.call(request).await
    }
}

impl Driver {
    pub(super) fn caller(&self) -> Caller {
        Caller {
            runtime: Arc::clone(&self.inner.runtime),
            who: Arc::clone(&self.who),
            place: self.place.clone(),
        }
    }

    /// A call begins that will have a row in the journal; gives the row's id.
    pub(super) fn starts(&mut self, planned: &Planned) -> Option<ExecutionId> {
        let execution = self.inner.runtime.journal.new_id();
        self.started(planned, Some(execution));
        Some(execution)
    }

    pub(super) fn started(&mut self, planned: &Planned, execution: Option<ExecutionId>) {
        self.seen.executions.extend(execution.map(|id| (planned.call.id.clone(), id)));
        self.log.push(EventKind::ToolStarted {
            tool_call_id: planned.call.id.clone(),
            name: planned.name.clone(),
            input: planned.params.clone(),
            execution_id: execution,
        });
    }

    /// A call ended: what the run, the log and the person are told.
    pub(super) fn ended(&mut self, planned: Planned, reply: Reply) -> Event {
        let waits = reply.result.error().filter(|error| error.code == ErrorCode::ApprovalRequired);
        let notice = waits.and_then(|error| error.pending.clone());
        if let Some(notice) = notice.filter(PendingNotice::is_here) {
            return self.waiting(planned, &notice);
        }
        self.note_names(&planned, &reply);
        let meant = self.meant(&planned).filter(|_| planned.changes);
        let receipt = meant.and_then(|meant| receipt(&planned.name, &meant, &reply.result));
        let (output, failed) = output(&reply);
        let message = self.shown(&planned, output, failed, receipt.clone());
        let outcome = reply.result.error().and_then(|error| error.outcome);
        let attempt = Attempt::of(&planned.name, receipt.as_ref(), outcome);
        if let Some(receipt) = receipt {
            self.writer.say(&receipt.text, TextSource::Receipt);
            self.seen.receipts.push(receipt);
            self.seen.made.push((planned.name.clone(), planned.params.clone()));
        }
        Event::Returned { id: planned.call.id, message, attempt }
    }

    /// Remembers the titles of what a result shows.
    pub(super) fn note_names(&mut self, planned: &Planned, reply: &Reply) {
        let Some(meant) = self.meant(planned) else { return };
        let data = reply.result.data().or_else(|| reply.result.error()?.data.as_ref());
        if let (Some(target), Some(data)) = (&meant.tool.effect.target, data) {
            target.names_in(data, &mut self.seen.named);
        }
    }

    /// A call that waits for a person.
    pub(super) fn waiting(&mut self, planned: Planned, notice: &PendingNotice) -> Event {
        let question = notice.kind == PendingKind::Question;
        let told = if question {
            let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
            let choices = notice.prompt.get("choices").and_then(Value::as_array);
            self.seen.question.get_or_insert_with(|| PendingQuestion {
                id: notice.id,
                question: text(notice.prompt.get("message")),
                choices: choices.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
                expires_at: notice.expires_at,
            });
            json!({ "question": "asked", "message": "The person is asked; their next message is the answer." })
        } else {
            json!({ "confirmation": "asked", "message": "The person is asked. Nothing was done yet." })
        };
        // What waits for a yes was not called: it is shown as pending, and not among the calls.
        let message =
            if question { self.shown(&planned, told, true, None) } else { told_of(&planned.call, told) };
        Event::Waiting { call: WaitingCall { planned, request: notice.id, question }, message }
    }

    /// A call that was not made, because the run could not be written down.
    pub(super) fn refused(&mut self, planned: &Planned, error: StoreError) -> Event {
        let error = ToolError::from(error);
        let output = json!({ "error": { "code": error.code, "message": error.message } });
        self.started(planned, None);
        let message = self.shown(planned, output, true, None);
        Event::Returned { id: planned.call.id.clone(), message, attempt: Attempt::Failed }
    }

    /// Puts the end of a call into the log and the answer, and gives what the model is told.
    pub(super) fn shown(
        &mut self,
        planned: &Planned,
        output: Value,
        failed: bool,
        receipt: Option<Receipt>,
    ) -> Message {
        let execution_id = self.seen.executions.get(&planned.call.id).copied();
        self.log.push(EventKind::ToolFinished {
            tool_call_id: planned.call.id.clone(),
            name: planned.name.clone(),
            output: output.clone(),
            failed,
            execution_id,
            receipt,
        });
        self.seen.calls.push(CallShown {
            tool_call_id: planned.call.id.clone(),
            name: planned.name.clone(),
            input: planned.params.clone(),
            output: output.clone(),
            execution_id,
        });
        Message::Tool {
            call_id: planned.call.id.clone(),
            name: planned.call.name.clone(),
            content: output.to_string(),
            structured: Some(output),
            failed,
        }
    }
}

/// The published answer, and whether it is a failure.
pub(super) fn output(reply: &Reply) -> (Value, bool) {
    let error = reply.result.error().filter(|error| error.code != ErrorCode::NoChanges);
    match (&reply.published, reply.result.error()) {
        (Some(published), _) => (published.clone(), error.is_some() || reply.failed()),
        (None, Some(body)) => (json!({ "error": body }), error.is_some()),
        (None, None) => (reply.result.data().cloned().unwrap_or_default(), false),
    }
}
