//! The last step: hints, metadata, journal, metrics, and the profile's own shape.

use std::sync::Arc;

use serde_json::Value;
use toolroom_contract::error::{ErrorBody, ErrorClass};
use toolroom_contract::hints::{Severity, Warning, WarningKind};
use toolroom_contract::result::Body;
use toolroom_contract::{ErrorCode, HintsDraft, Metadata, ToolError, ToolResult};
use toolroom_profiles::{Answers, Published};

use super::call::Call;
use super::{Edge, Ended, Origin, Refusal, Reply, run};
use crate::hints::{self, Seen};
use crate::journal::{EndRecord, EndStatus, Mask, Masked, PERMISSION_DENIED};
use crate::step_timer::step;

pub(super) fn answer(mut call: Box<Call>, ending: Result<Ended, Refusal>) -> Reply {
    call.set_answered();
    let origin = ending.as_ref().map_or(Origin::Fresh, |ended| ended.origin);
    let mut asks = None;
    let mut detail = None;
    let mut refused_by_tool = false;
    let (body, draft, content, denied) = match ending {
        Ok(ended) => (Body::Data(ended.data), ended.hints, ended.content, false),
        Err(mut refusal) => {
            asks = refusal.error.client_input.take();
            refused_by_tool = refusal.error.refusal;
            if refusal.denied {
                call.conceal();
            }
            hide_secrets(&call, &mut refusal.error);
            log(&call, &refusal.error);
            // What is known not to have happened can be repeated under its key: it is done once at most.
            let keyed = call.context.idempotency_key.is_some() && refusal.error.outcome.is_none();
            let repeatable = keyed || call.shown_tool().is_none_or(|tool| tool.policy.repeatable);
            let body = ErrorBody::of(&refusal.error, repeatable);
            let draft = HintsDraft { next: refusal.error.next, ..HintsDraft::default() };
            detail = refusal.error.detail.take();
            (Body::Error(Box::new(body)), draft, refusal.error.content, refusal.denied)
        }
    };
    note_record(&call, &body, origin, refused_by_tool);
    let mut result = ToolResult {
        agent_hints: hints::finish(&seen(&call, &body, origin), draft, call.warning.clone()),
        body,
        metadata: metadata(&call, origin),
        content,
    };
    step("hints");
    let journaled = journal(&call, &result, origin, denied, detail.as_ref().map(|detail| detail.as_str()));
    step("journal, end");
    if !journaled && !call.started && result.error().is_none() {
        // Start and end are one record here: it is the start that is missing.
        return answer(call, Err(run::unavailable().into()));
    }
    if !journaled {
        result.agent_hints.warnings.push(Warning::new(
            WarningKind::Performance,
            Severity::High,
            "The end of this call could not be written to the execution log.",
        ));
    }
    measure(&call, &result);
    step("metrics");
    let (published, answers) = publish(&call, &result);
    Reply { execution_id: call.id, result, published, answers, asks }
}

/// The answer to a call that nobody is known to have made.
pub(super) fn unlogged(mut call: Box<Call>, error: ToolError) -> Reply {
    call.set_answered();
    let body = Body::Error(Box::new(ErrorBody::of(&error, true)));
    let draft = HintsDraft { next: error.next, ..HintsDraft::default() };
    let result = ToolResult {
        agent_hints: hints::finish(&seen(&call, &body, Origin::Fresh), draft, None),
        body,
        metadata: metadata(&call, Origin::Fresh),
        content: None,
    };
    let (published, answers) = publish(&call, &result);
    Reply { execution_id: call.id, result, published, answers, asks: None }
}

fn seen<'a>(call: &'a Call, body: &'a Body, origin: Origin) -> Seen<'a> {
    Seen {
        tool: call.shown_tool().map(|tool| &**tool),
        name: &call.name,
        execution: call.id,
        shaped: call.shape.is_some(),
        forwarded: call.via.is_some(),
        snapshot: &call.snapshot,
        view: call.view(),
        params: &call.params,
        mask: call.mask(|tool| &tool.mask),
        secrets: call.secrets(),
        body,
        staleness: match origin {
            Origin::Cached(share) => Some(share),
            _ => None,
        },
    }
}

fn metadata(call: &Call, origin: Origin) -> Metadata {
    let cacheable = call.shown_tool().is_some_and(|tool| tool.policy.cache.is_some());
    Metadata {
        tool_version: match call.shown_tool() {
            Some(tool) => Arc::clone(&tool.version),
            None => Arc::clone(&call.runtime.unknown_version),
        },
        timestamp: call.at,
        execution_time: call.milliseconds(),
        service_version: Arc::clone(&call.runtime.service_version),
        trace_id: Some(call.trace_id),
        correlation_id: Some(Arc::clone(&call.correlation_id)),
        cached: cacheable.then_some(matches!(origin, Origin::Cached(_))),
        execution_id: Some(call.id),
        replayed: origin == Origin::Replayed,
        dry_run: origin == Origin::DryRun,
    }
}

/// Refusals before the tool ran, and those of its author, say nothing about the tool.
fn note_record(call: &Call, body: &Body, origin: Origin, refused_by_tool: bool) {
    if let Some(tool) = call.tool.as_ref().filter(|_| call.started && origin == Origin::Fresh) {
        tool.record.note(match body {
            Body::Data(_) => true,
            Body::Error(error) => refused_by_tool || error.class == ErrorClass::Business,
        });
    }
}

fn journal(call: &Call, result: &ToolResult, origin: Origin, denied: bool, detail: Option<&str>) -> bool {
    let error = result.error();
    let status = match error.map(|error| error.code) {
        None => EndStatus::Ok,
        Some(ErrorCode::ApprovalRequired | ErrorCode::InputRequired) => EndStatus::Pending,
        Some(ErrorCode::ToolTimeout) => EndStatus::Timeout,
        Some(ErrorCode::Cancelled) => EndStatus::Cancelled,
        Some(_) => EndStatus::Error,
    };
    let mask = call.mask(|tool| &tool.output_mask);
    let output: Option<&Value> = match &result.body {
        Body::Data(data) => Some(data),
        Body::Error(error) => error.data.as_ref(),
    };
    call.journal_end(&EndRecord {
        id: call.id,
        at: call.runtime.clock.now(),
        status,
        code: error.map(|error| if denied { PERMISSION_DENIED } else { error.code.as_str() }),
        message: error.map(|error| error.message.as_str()),
        detail,
        ms: result.metadata.execution_time,
        cached: matches!(origin, Origin::Cached(_)),
        replayed: origin == Origin::Replayed,
        dry_run: origin == Origin::DryRun,
        outcome: error.and_then(|error| error.outcome).map(Into::into),
        output: output.map(|output| Masked::new(output, mask).without(call.secrets())),
        truncated: error.is_some_and(|error| error.code == ErrorCode::OutputTooLarge),
        approval: call.approval,
        steps: call.steps,
    })
}

fn measure(call: &Call, result: &ToolResult) {
    match &call.tool {
        Some(tool) => {
            tool.metrics
                .note(result.metadata.execution_time / 1000.0, result.error().map(|error| error.code));
        }
        None => {
            call.runtime.metrics.unknown_tools.inc();
        }
    }
}

/// A tool may repeat in its error what it was given; the log and the next answer must not show that.
fn hide_secrets(call: &Call, error: &mut ToolError) {
    let secrets = call.secrets();
    if secrets.is_empty() {
        return;
    }
    error.message = secrets.hide(&error.message).into_owned();
    for detail in &mut error.details {
        detail.message = secrets.hide(&detail.message).into_owned();
    }
    if let Some(data) = &mut error.data
        && let Ok(masked) = serde_json::to_value(Masked::new(data, &Mask::default()).without(secrets))
    {
        **data = masked;
    }
    error.detail = error.detail.take().map(|detail| Arc::new(secrets.hide(&detail).into_owned()));
}

/// The cause, which the caller never sees, is told here and nowhere else.
fn log(call: &Call, error: &ToolError) {
    let (code, trace) = (error.code.as_str(), call.trace_id);
    if error.code.class() == ErrorClass::System {
        let cause = error.cause.as_deref().map(chain);
        let cause = cause.as_deref().map(|cause| call.secrets().hide(cause));
        let cause = cause.as_deref();
        let detail = error.detail.as_deref();
        let (tool, user) = (&call.name, &call.principal.user.key);
        tracing::error!(code, tool, %user, cause, detail, traceId = %trace, executionId = %call.id, "a call failed: {}", error.message);
    } else {
        tracing::debug!(code, traceId = %trace, "a call was refused: {}", error.message);
    }
}

/// An error with everything that led to it.
fn chain(error: &(dyn std::error::Error + Send + Sync + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

fn publish(call: &Call, result: &ToolResult) -> (Option<Value>, Answers) {
    let shaped = match call.shape.as_ref().and_then(|shape| shape.binding()) {
        Some(binding) => Some((binding.output, binding.answers())),
        // Without a tool the profile may still have a shape; what a caller may not use has none.
        None => call.view().and_then(|view| view.profile.output),
    };
    let Some((map, answers)) = shaped else { return (None, Answers::Contract) };
    let answer = map(&Published {
        params: &call.params,
        result,
        user: call.on_behalf_of(),
        time_zone: &call.time_zone,
        alone: matches!(call.edge, Edge::Functions | Edge::Rest | Edge::Cli | Edge::Console),
    });
    (Some(answer), answers)
}
