//! Step 4: has the caller used up the tool's calls?

use futures_util::FutureExt;
use toolroom_contract::definition::RateLimit;
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_store::redis::Counted;
use toolroom_store::{Lease, counters};

use super::call::Call;
use super::params::Checked;
use crate::catalogue::Tool;
use crate::limits;

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
    counted.map_err(|wait| {
        let message = format!(
            "At most {} calls of '{}' in {} ms. Wait {wait} ms.",
            limit.max_calls, call.name, limit.window_ms
        );
        ToolError::new(ErrorCode::RateLimited, message).retry_after_ms(wait)
    })
}

fn count_here(call: &Call, tool: &Tool, limit: RateLimit) -> Result<(), u64> {
    call.runtime.limits.count(tool.limit_scope, call.principal.user.id, limit, now_ms(call))
}

fn now_ms(call: &Call) -> u64 {
    call.at.as_millisecond().max(0) as u64
}

/// Over all processes that share the database: in Redis where there is one, else in the database. While that is away,
/// each process counts its share. What it let through before is known here, so that the share is not on top of it.
async fn count_in_all(call: &Call, tool: &Tool, limit: RateLimit, lease: &Lease) -> Result<(), u64> {
    let counted = match call.runtime.redis() {
        Some(redis) => match redis.count(tool.limit_scope, call.principal.user.id, limit).await {
            Ok(Counted::Yes) => Some(Ok(())),
            Ok(Counted::No(window)) => Some(Err(limits::wait(window, limit))),
            Err(_) => None,
        },
        None => count_in_database(call, tool, limit).await,
    };
    match counted {
        Some(Ok(())) => {
            let (scope, user) = (tool.limit_scope, call.principal.user.id);
            call.runtime.limits.note(scope, user, limit, now_ms(call));
            Ok(())
        }
        Some(Err(wait)) => Err(wait),
        None => {
            call.runtime.metrics.limit_shares.inc();
            let replicas = u32::try_from(lease.replicas()).unwrap_or(u32::MAX);
            count_here(call, tool, RateLimit { max_calls: limit.max_calls.div_ceil(replicas), ..limit })
        }
    }
}

/// `None` if the database is away.
async fn count_in_database(call: &Call, tool: &Tool, limit: RateLimit) -> Option<Result<(), u64>> {
    let (store, scope, user) = (&call.runtime.store, tool.limit_scope, call.principal.user.id);
    match store.once(move |unit| counters::count(unit, scope, user, limit)).await {
        Ok(true) => Some(Ok(())),
        Ok(false) => {
            let window = store.read(move |unit| counters::window(unit, scope, user)).await;
            Some(Err(window.ok().flatten().map_or(limit.window_ms, |window| limits::wait(window, limit))))
        }
        Err(error) => {
            tracing::debug!(%error, tool = tool.name(), "calls are counted here: the database is away");
            None
        }
    }
}
