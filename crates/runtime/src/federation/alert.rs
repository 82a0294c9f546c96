//! Tells people that a definition waits for review: a line in the log, and a row in the journal.

use serde_json::json;
use toolroom_contract::ids::ExecutionId;
use toolroom_contract::text::shell_word;
use toolroom_contract::{ErrorCode, TraceId};

use super::pending_review::{SeenTool, ToolStanding};
use super::server::Server;
use crate::Runtime;
use crate::journal::{Edge, EndRecord, EndStatus, Mask, Masked, StartRecord, Steps};

/// The code of such rows.
const CODE: &str = ErrorCode::DefinitionPending.as_str();

pub(super) fn pending_review(runtime: &Runtime, server: &Server, remote: &str, tool: &SeenTool) {
    let (server, command) = (server.name(), server.published());
    let what = match &tool.standing {
        ToolStanding::Changed(_) => "has changed",
        _ => "is new",
    };
    let message = format!(
        "The tool '{remote}' of the server '{server}' {what} since its tools were approved, and is pending review. A person can approve it: toolroom servers approve {command} --tool {}",
        shell_word(remote)
    );
    tracing::warn!(server, tool = remote, "{message}");
    let (id, at, trace) = (ExecutionId::new(), runtime.clock.now(), TraceId::new());
    let input = json!({ "server": server, "tool": remote, "changes": changes(tool) });
    let mask = Mask::default();
    let trace = trace.as_str();
    let start = StartRecord {
        id,
        at,
        tool: tool.name.as_deref().unwrap_or(remote),
        profile: toolroom_profiles::DEFAULT,
        user: "toolroom",
        by: None,
        agent_id: "toolroom",
        agent_version: crate::VERSION,
        edge: Edge::System,
        trace_id: trace,
        correlation_id: trace,
        via: None,
        conversation: None,
        input: Masked::new(&input, &mask),
    };
    let end = EndRecord {
        id,
        at,
        status: EndStatus::Error,
        code: Some(CODE),
        message: Some(&message),
        detail: None,
        ms: 0.0,
        cached: false,
        replayed: false,
        dry_run: false,
        outcome: None,
        output: None,
        truncated: false,
        approval: None,
        steps: Steps::default(),
    };
    if let Err(error) = runtime.journal.call(&start, &end) {
        runtime.metrics.journal_failures.inc();
        tracing::error!(%error, server, tool = remote, "an alert could not be written to the execution log");
    }
}

fn changes(tool: &SeenTool) -> serde_json::Value {
    match &tool.standing {
        ToolStanding::Changed(changes) => json!(changes),
        _ => json!([]),
    }
}
