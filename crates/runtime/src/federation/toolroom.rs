//! A server that is a Toolroom itself (`"toolroom": true` in its entry): it is told for whom a call is, and its envelope is
//! taken off, so that callers find its data, hints and errors where they find those of our own tools.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};
use toolroom_contract::error::{ErrorBody, PendingKind, PendingNotice};
use toolroom_contract::{AgentHints, Answer, Content, Ending, ErrorCode, HintsDraft, ToolError};
use toolroom_upstream::ToolAnswer;

/// What it is told beside the trace: the user, whom it believes a key with `users:act-as`, and to give all of its data,
/// because it is shortened here.
pub(super) fn introduce(meta: &mut Map<String, Value>, user: &str) {
    meta.insert("dev.toolroom/user".to_owned(), user.into());
    meta.insert("dev.toolroom/textBudget".to_owned(), ALL.into());
}

/// More characters than an answer can have.
const ALL: u64 = 64 << 20;

/// The envelope. What there is besides, such as its metadata, is about its own execution, which has the same trace.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    data: Option<Value>,
    error: Option<ErrorBody>,
    agent_hints: AgentHints,
    #[serde(rename = "metadata")]
    _metadata: Map<String, Value>,
}

/// What is in the envelope of this server; `None` if the answer has none, as under a profile that gives the data alone.
pub(super) fn unwrapped(
    server: &str,
    answer: &ToolAnswer,
    rename: impl Fn(&str) -> Option<String>,
) -> Option<Ending> {
    let Envelope { data, error, agent_hints, .. } = Envelope::deserialize(answer.data.as_ref()?).ok()?;
    let hints = draft(agent_hints, rename);
    let content = own_content(&answer.content);
    match (data, error) {
        (Some(data), None) if !answer.failed => Some(Ending::Done(Answer { data, hints, content })),
        (None, Some(error)) if answer.failed => Some(Ending::Failed(failure(server, error, hints, content))),
        _ => None,
    }
}

/// Blocks that its tool made, such as images. The one text that says the same as the envelope is not among them.
fn own_content(content: &Content) -> Option<Arc<Content>> {
    let is_text_alone = matches!(&content.blocks[..], [only] if only.get().contains("\"type\":\"text\""));
    let is_made = !is_text_alone && !content.blocks.is_empty();
    is_made.then(|| Arc::new(Content { data: None, ..content.clone() }))
}

/// Next steps name its tools, which have other names here; those that are not here are left out.
fn draft(hints: AgentHints, rename: impl Fn(&str) -> Option<String>) -> HintsDraft {
    let next = hints.suggested_next_actions.into_iter().filter_map(|mut step| {
        step.action = rename(&step.action)?;
        Some(step)
    });
    HintsDraft {
        next: next.collect(),
        related: hints.related_resources,
        warnings: hints.warnings,
        context_needed: hints.context_needed,
        assumptions: hints.assumptions,
        risks: hints.risk_factors,
        reasoning: hints.reasoning,
        constraints: hints.constraints,
        ..HintsDraft::default()
    }
}

fn failure(server: &str, error: ErrorBody, hints: HintsDraft, content: Option<Arc<Content>>) -> ToolError {
    let mut failed = error.into_error();
    failed.content = content;
    match failed.pending.take() {
        Some(asked) => waits_there(server, failed, *asked),
        None => {
            if failed.code == ErrorCode::ApprovalRequired {
                // Nobody could decide about nothing.
                failed.code = ErrorCode::ToolExecutionError;
            }
            failed.next = hints.next;
            failed
        }
    }
}

/// A person must decide, and does so there: its id means nothing here, and nor do the words about it.
fn waits_there(server: &str, mut failed: ToolError, asked: PendingNotice) -> ToolError {
    let what = match asked.kind {
        PendingKind::Question => "answer a question",
        PendingKind::Approval => "agree",
    };
    let message = format!(
        "A person must {what} first, at the server '{server}': 'toolroom approvals' shows it there as {}. Afterwards \
         make the same call again.",
        asked.id
    );
    failed.code = ErrorCode::ApprovalRequired;
    failed.message = message;
    failed.pending = Some(Box::new(PendingNotice { server: Some(server.to_owned()), ..asked }));
    failed
}
