//! Idempotency keys: the same key and body give the first answer again.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use serde_json::Value;
use toolroom_contract::canonical::digest;
use toolroom_contract::context::Claim;
use toolroom_contract::ids::UserId;
use toolroom_contract::{Answer, ErrorCode, ToolContext, ToolError};
use toolroom_store::idempotency::{self, Begun, State};

use super::call::Call;
use super::{Ended, Origin};
use crate::Runtime;
use crate::catalogue::Tool;
use crate::journal::Secrets;

/// The keys of calls that run in this process now.
#[derive(Default)]
pub struct Claims(Mutex<HashSet<(UserId, String)>>);

/// A key that is held while its call runs.
pub(super) struct IdempotencyGuard {
    pub(super) claim: Arc<Claim>,
    /// Whether the pipeline itself writes the record, because the tool's effect has no transaction of ours.
    pub(super) outside: bool,
    /// Left out of the record: who brings the key again brings them too.
    secrets: Secrets,
    runtime: Arc<Runtime>,
}

impl Drop for IdempotencyGuard {
    fn drop(&mut self) {
        let mut running = self.runtime.claims.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(&(self.claim.user, self.claim.key.clone()));
    }
}

pub(super) enum Claimed {
    /// An earlier call with this key has been answered.
    Answer(Box<Ended>),
    /// Leave to run, holding the key if there is one.
    Run(Option<IdempotencyGuard>),
}

/// Queries need no record: repeating them is harmless.
pub(super) async fn claim(
    call: &Call,
    tool: &Tool,
    context: &ToolContext,
    resolved_params: &Value,
) -> Result<Claimed, ToolError> {
    let (Some(key), Some(user), false) =
        (&call.context.idempotency_key, &context.user, tool.policy.read_only)
    else {
        return Ok(Claimed::Run(None));
    };
    claim_key(call, tool, user.id, key, resolved_params).boxed().await
}

async fn claim_key(
    call: &Call,
    tool: &Tool,
    user: UserId,
    key: &str,
    resolved_params: &Value,
) -> Result<Claimed, ToolError> {
    if key.is_empty() || key.len() > 255 || key.chars().any(char::is_control) {
        return Err(ToolError::new(
            ErrorCode::InvalidInput,
            "An idempotency key has 1 to 255 characters, none of them control characters.",
        ));
    }
    let claim = Arc::new(Claim {
        user,
        key: key.to_owned(),
        body_hash: digest(tool.name(), resolved_params).to_hex(),
        run: call.runtime.journal.run(),
    });
    let held = hold(&call.runtime, claim, tool, Secrets::of(resolved_params, &tool.mask))?;
    let found = if held.outside {
        let claim = Arc::clone(&held.claim);
        let deadline = call.deadline(tool);
        let begun = call.runtime.store.write_by(deadline, move |unit| idempotency::begin(unit, &claim)).await;
        match begun.map_err(ToolError::from)? {
            Begun::Fresh => None,
            Begun::Exists(record) => Some(record),
        }
    } else {
        let claim = Arc::clone(&held.claim);
        let looked =
            call.runtime.store.read(move |unit| idempotency::lookup(unit, claim.user, &claim.key)).await;
        looked.map_err(ToolError::from)?
    };
    match found {
        None => Ok(Claimed::Run(Some(held))),
        Some(mut record) => {
            if let (true, State::Done(answer)) = (held.outside, &mut record.state) {
                *answer = rewritten(answer, |answer| held.secrets.unseal(answer))?;
            }
            let answer = idempotency::earlier_answer(&held.claim, &record)?;
            Ok(Claimed::Answer(Box::new(Ended::new(answer, Origin::Replayed))))
        }
    }
}

/// A stored answer, changed.
fn rewritten(text: &str, change: impl FnOnce(&Value) -> Value) -> Result<String, ToolError> {
    let value: Value = serde_json::from_str(text).map_err(ToolError::internal)?;
    Ok(change(&value).to_string())
}

fn hold(
    runtime: &Arc<Runtime>,
    claim: Arc<Claim>,
    tool: &Tool,
    secrets: Secrets,
) -> Result<IdempotencyGuard, ToolError> {
    let mut running = runtime.claims.0.lock().unwrap_or_else(PoisonError::into_inner);
    if !running.insert((claim.user, claim.key.clone())) {
        return Err(idempotency::in_progress());
    }
    drop(running);
    let outside = !tool.executor.handler().is_some_and(|handler| handler.records_claim());
    Ok(IdempotencyGuard { claim, outside, secrets, runtime: Arc::clone(runtime) })
}

/// The call has ended, or will not run: write the record, where the tool does not write it itself.
pub(super) async fn settle(
    call: &Call,
    held: Option<&IdempotencyGuard>,
    answer: Result<&Answer, &ToolError>,
) {
    let Some(held) = held.filter(|held| held.outside) else { return };
    if let Err(error) = write(held, answer).boxed().await {
        tracing::error!(%error, traceId = %call.trace_id, "the record of an idempotency key was not written");
    }
}

async fn write(held: &IdempotencyGuard, answer: Result<&Answer, &ToolError>) -> Result<(), ToolError> {
    let claim = Arc::clone(&held.claim);
    let store = &held.runtime.store;
    match answer {
        Ok(answer) => {
            let record = answer.to_record().map_err(ToolError::internal)?;
            let record = rewritten(&record, |answer| held.secrets.seal(answer))?;
            store.write(move |unit| idempotency::finish(unit, &claim, &record)).await.map(drop)
        }
        // What may have run must not run again under this key; what did not run may.
        Err(error) if error.outcome.is_some() => return Ok(()),
        Err(_) => store.write(move |unit| idempotency::forget(unit, claim.user, &claim.key)).await.map(drop),
    }
    .map_err(ToolError::from)
}
