//! Step 4: has the caller used up the tool's calls?

use futures_util::FutureExt;
use toolroom_contract::definition::RateLimit;
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_store::counters::{self, Counted};
use toolroom_store::{Lease, StoreError};

use super::call::Call;
use super::params::Checked;
use crate::catalogue::Tool;

/// A call that is within its limits.
pub(super) struct Limited {
    pub(super) checked: Checked,
    /// Not if the call comes back with a decision: it was counted when it asked for that. Admission, which finds out
    /// whether there is one, counts all others that say so.
    pub(super) counted: bool,
}

pub(super) async fn limit(call: &Call, checked: Checked) -> Result<Limited, ToolError> {
    let counted = call.context.approval_id.is_none();
    if counted {
        count(call, &checked.resolved.tool).await?;
    }
    Ok(Limited { checked, counted })
}

pub(super) async fn count(call: &Call, tool: &Tool) -> Result<(), ToolError> {
    let Some(limit) = tool.definition().rate_limit else { return Ok(()) };
    let counted = match call.runtime.store.lease() {
        None => count_here(call, tool, limit),
        Some(lease) => count_in_all(call, tool, limit, lease).boxed().await,
    };
    let Counted::No { wait } = counted else { return Ok(()) };
    let (most, window) = (limit.max_calls, limit.window_ms);
    let message = format!("At most {most} calls of '{}' in {window} ms. Wait {wait} ms.", call.name);
    Err(ToolError::new(ErrorCode::RateLimited, message).retry_after_ms(wait))
}

fn count_here(call: &Call, tool: &Tool, limit: RateLimit) -> Counted {
    call.runtime.limits.count(tool.limit_scope, call.known_user().id, limit, || now_ms(call))
}

fn now_ms(call: &Call) -> u64 {
    call.runtime.clock.now().as_millisecond().max(0) as u64
}

/// Over all processes that share the database: in Redis where there is one, else in the database. While that is away,
/// each process counts its share. What it let through before is known here, so that the share is not on top of it.
async fn count_in_all(call: &Call, tool: &Tool, limit: RateLimit, lease: &Lease) -> Counted {
    let (store, scope, user) = (&call.runtime.store, tool.limit_scope, call.known_user().id);
    let counted = match call.runtime.redis() {
        Some(redis) => redis.count(scope, user, limit).await.ok(),
        None => {
            let counted = store.once(move |unit| counters::count(unit, scope, user, limit)).await;
            let is_away = |error: &StoreError| {
                tracing::debug!(%error, tool = tool.name(), "calls are counted here: the database is away");
            };
            counted.inspect_err(is_away).ok()
        }
    };
    let Some(counted) = counted else {
        call.runtime.metrics.limit_shares.inc();
        let replicas = u32::try_from(lease.replicas()).unwrap_or(u32::MAX);
        return count_here(call, tool, RateLimit { max_calls: limit.max_calls.div_ceil(replicas), ..limit });
    };
    if counted == Counted::Yes {
        call.runtime.limits.note(scope, user, limit, || now_ms(call));
    }
    counted
}
