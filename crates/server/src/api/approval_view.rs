//! A request that waits for a person, as the person sees it: who asks, through what, for what, and what undoes it.

use std::collections::HashMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolroom_contract::ids::{PendingId, UserId};
use toolroom_runtime::catalogue::Tool;
use toolroom_store::pending::{Kind, PendingRequest};
use toolroom_store::{StoreError, Unit, users};

use crate::app::App;

/// A pending request, as people see it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Approval {
    #[schemars(with = "String")]
    id: PendingId,
    kind: &'static str,
    state: &'static str,
    tool: String,
    profile: String,
    /// The arguments, secrets masked.
    arguments: Value,
    /// What the person is asked.
    prompt: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Value>,
    created_at: Timestamp,
    expires_at: Timestamp,
    #[serde(flatten)]
    about: About,
}

/// Who asks for what, and what was decided.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct About {
    /// Who asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The program that made the call, by its own account.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    /// The way in: `rest`, `mcp`, `chat` and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    edge: Option<String>,
    /// The call's entry in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_id: Option<String>,
    /// The conversation in which it is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_id: Option<String>,
    /// What the call is about, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// How it can be taken back, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<String>,
    destructive: bool,
    /// Whether a person may approve this tool for this caller for some hours.
    standing_allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_at: Option<Timestamp>,
    /// Why it was denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Approval {
    pub(crate) fn new(app: &App, request: PendingRequest, names: &HashMap<UserId, String>) -> Self {
        let snapshot = app.runtime.registry.snapshot();
        let tool = snapshot.tools.get(&request.tool);
        let origin = request.origin;
        let about = About {
            user: names.get(&request.user).cloned(),
            agent_id: origin.agent,
            edge: origin.edge,
            execution_id: origin.execution,
            conversation_id: origin.conversation,
            target: request.prompt["target"].as_str().map(str::to_owned),
            undo: tool.and_then(|tool| undo(tool)),
            destructive: tool.is_some_and(|tool| tool.definition().destructive),
            standing_allowed: request.kind == Kind::Approval
                && tool.is_some_and(|tool| tool.policy.standing_approval),
            decided_by: request.decided_by.and_then(|by| names.get(&by).cloned()),
            decided_at: request.decided_at,
            reason: request.reason,
        };
        Self {
            id: request.id,
            kind: request.kind.as_str(),
            state: request.state.as_str(),
            tool: request.tool,
            profile: request.profile,
            arguments: request.arguments,
            prompt: request.prompt,
            answer: request.answer,
            created_at: request.created_at,
            expires_at: request.expires_at,
            about,
        }
    }
}

fn undo(tool: &Tool) -> Option<String> {
    let undo = tool.effect.undo.as_ref()?;
    Some(format!("It can be taken back with {}.", undo.tool))
}

/// The people of these requests, by name.
pub(crate) fn people(
    unit: &mut Unit<'_>,
    requests: &[PendingRequest],
) -> Result<HashMap<UserId, String>, StoreError> {
    users::names(unit, requests.iter().flat_map(|request| [Some(request.user), request.decided_by]).flatten())
}
