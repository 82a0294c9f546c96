//! Calls that wait for a person. A call that waits for approval keeps nothing alive: when a person has decided, the
//! caller calls again, and the call goes through every step again.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolroom_contract::canonical::digest;
use toolroom_contract::context::Confirm;
use toolroom_contract::effect::{Named, line};
use toolroom_contract::error::{PendingKind, PendingNotice};
use toolroom_contract::handler::Question;
use toolroom_contract::{ErrorCode, ToolContext, ToolError};
use toolroom_store::pending::{self, Asker, Kind, NewPending, OpenError, Origin, PendingRequest, Taken};

use super::call::Call;
use super::standing::StandingUse;
use crate::catalogue::Tool;
use crate::journal::Masked;

/// What a person has decided about this very call: nothing for a yes, their answer to a question.
pub(super) async fn decided(
    call: &mut Call,
    tool: &Tool,
    context: &ToolContext,
    params: &Value,
    resolved_params: &Value,
    requires_approval: bool,
    used_up: &mut bool,
) -> Result<Option<Value>, ToolError> {
    let asker = asker(call);
    let hash = arguments_hash(call, tool, context, resolved_params);
    let (name, given) = (tool.name().to_owned(), call.context.approval_id);
    if let (Some(confirm), None) = (confirm(call), given) {
        let (message, ttl) = (confirm.message.clone(), confirm.ttl);
        let prompt = prompt(call, tool, params, message, &names(tool, params, context).await)?;
        let request =
            open(call, tool, context, resolved_params, params, Kind::Confirmation, prompt, ttl).await?;
        return Err(required(call, &request));
    }
    let stands = StandingUse::new(call, tool, params).filter(|_| requires_approval);
    let taken: Result<_, ToolError> = call
        .runtime
        .store
        .write_by(call.deadline(tool), move |unit| {
            let id = match given {
                Some(id) => Some(id),
                None => pending::find_current(unit, asker, &name, &hash)?.map(|request| request.id),
            };
            let taken = id.map(|id| pending::take(unit, id, asker, &name, &hash)).transpose()?;
            let standing = match &stands {
                Some(stands) => stands.instead_of(unit, asker, &name, taken.as_ref())?,
                None => None,
            };
            Ok(match standing {
                Some(standing) => (Some(Taken::Approved), Some(standing), true),
                None => (taken, id, false),
            })
        })
        .await;
    let (taken, id, by_standing) = taken?;
    call.approval = id;
    call.by_standing = by_standing;
    // Also where what stands has settled the request that the call brought: it was counted when it asked.
    *used_up =
        given.is_some() && matches!(taken, Some(Taken::Approved | Taken::Answered(_) | Taken::Denied(_)));
    match taken {
        Some(Taken::Approved) => Ok(None),
        Some(Taken::Answered(answer)) => Ok(Some(answer)),
        Some(Taken::Denied(reason) | Taken::DeniedBefore(reason)) => Err(denied(reason)),
        Some(Taken::Expired) => Err(ToolError::new(
            ErrorCode::ApprovalExpired,
            "Nobody answered in time, the answer was not used in time, or the key that asked was revoked. Call again without approvalId to ask again.",
        )),
        Some(Taken::StillOpen(request)) => Err(required(call, &request)),
        Some(Taken::NotFound) => Err(ToolError::new(
            ErrorCode::NotFound,
            "No pending request with that id belongs to this call. Call again without approvalId to ask again.",
        )),
        Some(Taken::Used) => Err(ToolError::new(
            ErrorCode::ApprovalExpired,
            "The person's answer was used by another call that is the same as this one; an answer is good for one \
             call. Nothing was done. If it is to be done once more, call again without approvalId to ask again.",
        )),
        None if requires_approval => {
            let (shown, names) = (masked(tool, params)?, names(tool, params, context).await);
            let does = tool.effect.question_text(&shown, &shown, &names);
            let does = does.map(|does| format!(" to {does}")).unwrap_or_default();
            let prompt = prompt(call, tool, params, format!("Allow '{}'{does}?", call.name), &names)?;
            let ttl = call.runtime.settings.approval_ttl;
            let request =
                open(call, tool, context, resolved_params, params, Kind::Approval, prompt, ttl).await?;
            Err(required(call, &request))
        }
        None => Ok(None),
    }
}

/// Whether the conversation in which the call is made wants the person's yes, and how it asks.
pub(super) fn confirm(call: &Call) -> Option<&Confirm> {
    call.context.dialogue.as_ref()?.confirm.as_ref()
}

/// What the targets of a call are called, for the person.
async fn names(tool: &Tool, params: &Value, context: &ToolContext) -> Vec<Named> {
    match tool.executor.handler() {
        Some(handler) => handler.names(params, context).await,
        None => Vec::new(),
    }
}

fn prompt(
    call: &Call,
    tool: &Tool,
    params: &Value,
    message: String,
    names: &[Named],
) -> Result<Value, ToolError> {
    let arguments = masked(tool, params)?;
    let targets = tool.effect.targets(&arguments, &Value::Null);
    let target = targets.iter().map(|one| one.in_words(names)).collect::<Vec<_>>().join(", ");
    let mut prompt = json!({ "message": message, "tool": call.name, "arguments": arguments });
    if let (false, Some(fields)) = (target.is_empty(), prompt.as_object_mut()) {
        fields.insert("target".into(), target.into());
    }
    Ok(prompt)
}

/// Puts a tool's question before a person; the call is to come back with the request's id. A question that was
/// answered since the same call asked it is answered at once.
pub(super) async fn ask(
    call: &mut Call,
    tool: &Tool,
    context: &ToolContext,
    params: &Value,
    resolved_params: &Value,
    question: Question,
) -> Result<Value, ToolError> {
    let mut prompt = json!({ "message": question.text, "choices": question.choices, "tool": call.name });
    if let (Some(schema), Some(fields)) = (question.schema, prompt.as_object_mut()) {
        fields.insert("schema".into(), schema);
    }
    if let Some(answer) = asked_before(call, tool, context, resolved_params, &prompt).await? {
        return Ok(answer);
    }
    let ttl = Duration::from_secs_f64(question.timeout.clamp(1.0, 86_400.0));
    let request = open(call, tool, context, resolved_params, params, Kind::Question, prompt, ttl).await?;
    Err(required(call, &request))
}

/// The state of the same question of the same call, if it was asked before.
async fn asked_before(
    call: &mut Call,
    tool: &Tool,
    context: &ToolContext,
    resolved_params: &Value,
    prompt: &Value,
) -> Result<Option<Value>, ToolError> {
    let asker = asker(call);
    let hash = arguments_hash(call, tool, context, resolved_params);
    let (name, prompt) = (tool.name().to_owned(), prompt.clone());
    let taken = call
        .runtime
        .store
        .write_by(call.deadline(tool), move |unit| {
            let current = pending::find_current(unit, asker, &name, &hash)?
                .filter(|request| request.kind == Kind::Question && request.prompt == prompt);
            current.map(|request| pending::take(unit, request.id, asker, &name, &hash)).transpose()
        })
        .await
        .map_err(ToolError::from)?;
    match taken {
        Some(Taken::Answered(answer)) => Ok(Some(answer)),
        Some(Taken::StillOpen(request)) => Err(required(call, &request)),
        Some(Taken::Denied(reason) | Taken::DeniedBefore(reason)) => Err(denied(reason)),
        Some(Taken::Approved | Taken::Expired | Taken::Used | Taken::NotFound) | None => Ok(None),
    }
}

fn denied(reason: Option<String>) -> ToolError {
    let message = match reason {
        Some(reason) => format!("A person said no to this call. Their reason: {reason}"),
        None => "A person said no to this call.".to_owned(),
    };
    ToolError::new(ErrorCode::ApprovalDenied, message)
}

#[expect(clippy::too_many_arguments, reason = "they are the columns of one row")]
async fn open(
    call: &Call,
    tool: &Tool,
    context: &ToolContext,
    resolved_params: &Value,
    params: &Value,
    kind: Kind,
    prompt: Value,
    ttl: Duration,
) -> Result<PendingRequest, ToolError> {
    let request = NewPending {
        kind,
        asker: asker(call),
        tool: tool.name().to_owned(),
        profile: call.profile.to_string(),
        arguments_hash: arguments_hash(call, tool, context, resolved_params),
        origin: origin(call, tool),
        arguments: masked(tool, params)?,
        prompt,
        expires_at: call.runtime.clock.now() + ttl,
    };
    let deadline = call.deadline(tool);
    let opened = call.runtime.store.write_by(deadline, move |unit| pending::open(unit, &request)).await;
    opened.map_err(|error| match error {
        OpenError::Store(error) => error.into(),
        OpenError::TooMany(first_lapses) => too_many(call, first_lapses),
    })
}

fn origin(call: &Call, tool: &Tool) -> Origin {
    Origin {
        agent: Some(line(&call.agent_id)).filter(|agent| !agent.is_empty()),
        edge: Some(call.edge.as_str().to_owned()),
        execution: Some(call.id.to_string()),
        conversation: call.context.dialogue.as_ref().map(|dialogue| dialogue.scope.clone()),
        definition: Some(tool.reviewed_state()),
    }
}

/// A decision is good for the user for whom it was asked and the credential that asked, and ends with that. What is asked
/// in a conversation is asked of whoever speaks in it.
fn asker(call: &Call) -> Asker {
    let user = if call.context.dialogue.is_some() { &call.principal.user } else { call.on_behalf_of() };
    Asker { user: user.id, key: call.principal.key }
}

fn too_many(call: &Call, first_lapses: Timestamp) -> ToolError {
    let wait = first_lapses.duration_since(call.runtime.clock.now()).as_millis().clamp(1000, 3_600_000);
    let message = format!(
        "{} of your calls and questions already wait for a person, which is the limit. Nothing was done. Have some of them decided ('toolroom approvals list' shows them), then call again.",
        pending::MOST_OPEN
    );
    ToolError::new(ErrorCode::Busy, message).retry_after_ms(u64::try_from(wait).unwrap_or(1000))
}

/// Bound to the tool as it is now, its arguments, the user on whose behalf it would run, and the conversation if it is in
/// one: what a person agreed to is not what a changed tool would do.
fn arguments_hash(call: &Call, tool: &Tool, context: &ToolContext, resolved_params: &Value) -> String {
    let user = context.user.as_ref().map_or(0, |user| user.id.0);
    let scope = match &call.context.dialogue {
        Some(dialogue) => format!("{}|{user}|{}", tool.name(), dialogue.scope),
        None => format!("{}|{user}", tool.name()),
    };
    digest(format!("{scope}|{}", tool.reviewed_state()), resolved_params).to_hex()
}

pub(super) fn masked(tool: &Tool, params: &Value) -> Result<Value, ToolError> {
    serde_json::to_value(Masked::new(params, &tool.mask)).map_err(ToolError::internal)
}

fn required(call: &mut Call, request: &PendingRequest) -> ToolError {
    call.approval = Some(request.id);
    let (kind, message) = match request.kind {
        Kind::Question => (PendingKind::Question, "A person must answer a question first."),
        Kind::Approval | Kind::Confirmation => (PendingKind::Approval, "A person must agree first."),
    };
    let message = format!(
        "{message} They can use 'toolroom approvals'. Afterwards make the same call again, with context.approvalId {} where the caller can set it.",
        request.id
    );
    let mut error = ToolError::new(ErrorCode::ApprovalRequired, message);
    error.pending = Some(Box::new(PendingNotice {
        id: request.id,
        kind,
        expires_at: request.expires_at,
        prompt: request.prompt.clone(),
        server: None,
    }));
    error
}
