//! Step 4: has the caller used up the tool's calls?

use futures_util::FutureExt;
use toolroom_contract::definition::RateLimit;
use toolroom_contract::ids::UserId;
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_store::counters::{self, Counted};
use toolroom_store::{Lease, StoreError};

use super::call::Call;
use super::params::Checked;
use crate::catalogue::Tool;
use crate::users::counted_as;

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
    within(call, tool, Counter { scope: tool.limit_scope, user: counted_as(call.on_behalf_of()), limit })
        .await?;
    match call.actor() {
        None => Ok(()),
        Some(_) => within(call, tool, for_all_users(call, tool, limit)).boxed().await,
    }
}

/// What calls are counted by.
#[derive(Clone, Copy)]
struct Counter {
    scope: u64,
    user: UserId,
    limit: RateLimit,
}

/// Whoever may act for others could name as many as it likes: all of them together have so many times the limit of one.
const ALL_USERS: u32 = 100;

fn for_all_users(call: &Call, tool: &Tool, limit: RateLimit) -> Counter {
    // Any other number does, as long as no tool's name gives it. The owner without a key is no key of the same number.
    let scope = tool.limit_scope ^ 0x5bd1_e995_a3c7_2f81;
    let user = call.principal.key.map_or(UserId(!call.principal.user.id.0), |key| UserId(key.0));
    let max_calls = limit.max_calls.saturating_mul(ALL_USERS);
    Counter { scope, user, limit: RateLimit { max_calls, ..limit } }
}

async fn within(call: &Call, tool: &Tool, counter: Counter) -> Result<(), ToolError> {
    let counted = match call.runtime.store.lease() {
        None => count_here(call, counter),
        Some(lease) => count_in_all(call, tool, counter, lease).boxed().await,
    };
    let Counted::No { wait } = counted else { return Ok(()) };
    let RateLimit { max_calls: most, window_ms: window } = counter.limit;
    let whose = if counter.scope == tool.limit_scope { "" } else { " by one key for all its users" };
    let message = format!("At most {most} calls of '{}' in {window} ms{whose}. Wait {wait} ms.", call.name);
    Err(ToolError::new(ErrorCode::RateLimited, message).retry_after_ms(wait))
}

fn count_here(call: &Call, counter: Counter) -> Counted {
    let Counter { scope, user, limit } = counter;
    call.runtime.limits.count(scope, user, limit, || call.runtime.clock.steady_ms())
}

/// Over all processes that share the database: in Redis where there is one, else in the database. While that is away,
/// each process counts its share. What it let through before is known here, so that the share is not on top of it.
async fn count_in_all(call: &Call, tool: &Tool, counter: Counter, lease: &Lease) -> Counted {
    let (store, Counter { scope, user, limit }) = (&call.runtime.store, counter);
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
        let limit = RateLimit { max_calls: limit.max_calls.div_ceil(replicas), ..limit };
        return count_here(call, Counter { limit, ..counter });
    };
    if counted == Counted::Yes {
        call.runtime.limits.note(scope, user, limit, || call.runtime.clock.steady_ms());
    }
    counted
}
