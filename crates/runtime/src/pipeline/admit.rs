//! Step 5: a kept answer, the answer of an earlier call, a wait for a person, or permission to run.

use futures_util::FutureExt;
use std::sync::Arc;

use serde_json::{Value, json};
use toolroom_contract::canonical::{Digest, digest};
use toolroom_contract::ids::UserId;
use toolroom_contract::{CommitGate, HintsDraft, ToolContext, ToolError};

use super::call::Call;
use super::idempotency::{self, Claimed, IdempotencyGuard};
use super::limit::Limited;
use super::params::Checked;
use super::{Ended, Origin, approval, limit};
use crate::catalogue::{Executor, Tool};
use crate::generations::{Generations, append_shared};
use crate::users::NOBODY;

#[expect(clippy::large_enum_variant, reason = "the usual admission is the large one")]
pub(super) enum Admission {
    /// The tool need not run.
    Answer(Ended),
    /// The tool may run.
    Run(Admitted),
}

/// Leave to run.
pub(super) struct Admitted {
    pub(super) tool: Arc<Tool>,
    pub(super) params: Arc<Value>,
    /// The parameters with phrases resolved: what decisions of a person are bound to.
    pub(super) resolved_params: Arc<Value>,
    pub(super) context: ToolContext,
    /// Where the answer may be kept.
    pub(super) keep_as: Option<Digest>,
    /// The idempotency key, held while the call runs.
    pub(super) claim: Option<IdempotencyGuard>,
}

pub(super) async fn admit(call: &mut Call, limited: Limited) -> Result<Admission, ToolError> {
    let Limited { checked, counted } = limited;
    if counted {
        return decide(call, checked, &mut false).await;
    }
    // Boxed, as is whatever is rare: calls that go straight through need not carry its room.
    count_late(call, checked).boxed().await
}

/// A call that brings the id of a decision. If there was none to use up, it counts like any other.
async fn count_late(call: &mut Call, checked: Checked) -> Result<Admission, ToolError> {
    let tool = Arc::clone(&checked.resolved.tool);
    let mut taken = false;
    let admission = decide(call, checked, &mut taken).await;
    if taken {
        return admission;
    }
    if let Err(error) = limit::count(call, &tool).await {
        if let Ok(Admission::Run(admitted)) = &admission {
            idempotency::settle(call, admitted.claim.as_ref(), Err(&error)).await;
        }
        return Err(error);
    }
    admission
}

/// `taken` is set if a person's decision on this call was used up.
async fn decide(call: &mut Call, checked: Checked, taken: &mut bool) -> Result<Admission, ToolError> {
    let Checked { resolved, params, user } = checked;
    let tool = Arc::clone(&resolved.tool);
    let user_id = user.id;
    let hook = if tool.policy.read_only {
        Default::default()
    } else {
        call.gate = CommitGate::until(call.deadline(&tool));
        call.runtime.generations.commit_hook(&tool, user_id)
    };
    let mut context = call.tool_context(user, hook);
    let resolved_params = tool
        .executor
        .handler()
        .and_then(|handler| handler.resolve(&params, &context))
        .map_or_else(|| Arc::clone(&params), Arc::new);

    let mut keep_as = None;
    // Users who do not exist yet share one id: what is told to one of them is not kept for the others.
    if tool.policy.cache.is_some() && user_id != NOBODY {
        let mut scope = cache_scope(&tool, user_id);
        let may_keep = match &call.runtime.generations {
            Generations::Here(counters) => {
                counters.append(&tool, user_id, &mut scope);
                true
            }
            Generations::Shared(store) => append_shared(store, &tool, user_id, &mut scope).boxed().await,
        };
        if may_keep {
            let key = digest(scope, &resolved_params);
            if let Some(kept) = call.runtime.cache.get(&key) {
                tool.metrics.cache_hits.inc();
                return Ok(Admission::Answer(Ended::from_cache(&kept, Origin::Cached(kept.staleness()))));
            }
            keep_as = Some(key);
        }
    }
    if call.context.dry_run && !tool.policy.read_only {
        // A published shape has no words for "it would be tried": it says how the call would end.
        let published = resolved.shape.as_ref().is_some_and(|shape| shape.binding().is_some());
        if let Some(handler) = tool.executor.handler().filter(|_| published) {
            handler.rehearse(&params, &context).await?;
        }
        return dry_run(call, &tool, &params, &context, resolved.requires_approval).map(Admission::Answer);
    }
    let claim = match idempotency::claim(call, &tool, &context, &resolved_params).await? {
        Claimed::Answer(ended) => return Ok(Admission::Answer(*ended)),
        Claimed::Run(claim) => claim,
    };
    context.claim = claim.as_ref().map(|held| Arc::clone(&held.claim));
    // A call that comes back with the answers to its server's questions has been agreed to before it asked.
    let goes_on = match &tool.executor {
        Executor::Upstream(federated) if federated.comes_back(&context) => {
            federated.goes_on(&context).boxed().await
        }
        _ => false,
    };
    let requires_approval = resolved.requires_approval && tool.policy.needs_approval && !goes_on;
    let asks = tool.executor.handler().is_some_and(|handler| handler.asks());
    let decided = call.context.approval_id.is_some() || approval::confirm(call).is_some();
    if requires_approval || asks || (decided && !goes_on) {
        // Boxed, as is whatever is rare: calls that go straight through need not carry its room.
        match approval::decided(call, &tool, &context, &params, &resolved_params, requires_approval, taken)
            .boxed()
            .await
        {
            Ok(answer) => context.answer = answer,
            Err(error) => {
                idempotency::settle(call, claim.as_ref(), Err(&error)).await;
                return Err(error);
            }
        }
    }
    Ok(Admission::Run(Admitted { tool, params, resolved_params, context, keep_as, claim }))
}

/// The key of an answer: tool, definition, state of its script, effective user; then the generations of what it reads,
/// and canonical parameters.
fn cache_scope(tool: &Tool, user: UserId) -> Vec<u8> {
    let mut scope = Vec::with_capacity(128);
    scope.extend_from_slice(tool.fingerprint.as_bytes());
    if let Executor::Script(script) = &tool.executor {
        scope.extend_from_slice(&script.stamp());
    }
    scope.extend_from_slice(&user.0.to_le_bytes());
    scope
}

fn dry_run(
    call: &Call,
    tool: &Tool,
    params: &Value,
    context: &ToolContext,
    requires_approval: bool,
) -> Result<Ended, ToolError> {
    let preview = tool.executor.handler().and_then(|handler| handler.preview(params, context));
    let mut data = json!({
        "dryRun": true,
        "tool": tool.name(),
        // This goes to the journal too.
        "params": approval::masked(tool, params)?,
        "needsApproval": requires_approval && tool.policy.needs_approval,
        "repeatable": tool.policy.repeatable,
    });
    if let (Some(preview), Some(object)) = (preview, data.as_object_mut()) {
        object.insert("preview".into(), preview);
    }
    let hints = HintsDraft::default().because(format!(
        "A dry run: '{}' would be called with these parameters; nothing was changed.",
        call.name
    ));
    Ok(Ended { data: Arc::new(data), hints, content: None, origin: Origin::DryRun })
}
