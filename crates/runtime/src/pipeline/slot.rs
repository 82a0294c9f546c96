//! A slot to run in, for tools whose calls may not all run side by side.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::sleep;
use toolroom_contract::{ErrorCode, ToolContext, ToolError};
use toolroom_store::{Lease, Store, slots};

use crate::catalogue::{Slots, Tool};

/// A slot; given back when dropped.
#[derive(Default)]
pub(super) struct Slot {
    in_all: Option<SharedSlot>,
    #[expect(dead_code, reason = "held, not read")]
    here: Option<OwnedSemaphorePermit>,
}

impl Slot {
    /// Returns when the call must stop, because another process may take the slot.
    pub(super) async fn lost(&self) {
        match &self.in_all {
            Some(slot) => slot.lease.lapsed().await,
            None => std::future::pending().await,
        }
    }

    /// Whether that can be.
    pub(super) fn is_shared(&self) -> bool {
        self.in_all.is_some()
    }
}

/// Waits for a slot in a bounded queue. The caller's deadline covers the wait.
pub(super) async fn acquire(store: &Store, tool: &Tool, context: &ToolContext) -> Result<Slot, ToolError> {
    let Some(slots) = &tool.slots else { return Ok(Slot::default()) };
    let here = match Arc::clone(&slots.free).try_acquire_owned() {
        Ok(permit) => permit,
        Err(_) => wait_here(tool, slots).await?,
    };
    let in_all = match store.lease() {
        // One at a time means over all processes that share the database.
        Some(lease) if tool.policy.slots == Some(1) => {
            Some(wait_in_all(store, lease, tool, context).boxed().await?)
        }
        _ => None,
    };
    Ok(Slot { in_all, here: Some(here) })
}

async fn wait_here(tool: &Tool, slots: &Slots) -> Result<OwnedSemaphorePermit, ToolError> {
    let _place = slots.queue.try_acquire().map_err(|_| {
        ToolError::new(ErrorCode::Busy, format!("Too many calls of '{}' are already waiting.", tool.name()))
            .retry_after_ms(1000)
    })?;
    let _depth = Depth::of(tool);
    Arc::clone(&slots.free).acquire_owned().await.map_err(ToolError::internal)
}

/// A process that does not live to give its slot back is noticed by its lease. This is for one that lives on and could
/// not reach the database: how long after the tool's timeout others wait.
const SLACK: Duration = Duration::from_secs(10);

/// The slot that one call has over all processes.
struct SharedSlot {
    store: Store,
    lease: Arc<Lease>,
    tool: Arc<str>,
    /// The call that has it.
    token: Arc<str>,
}

async fn wait_in_all(
    store: &Store,
    lease: &Arc<Lease>,
    tool: &Tool,
    context: &ToolContext,
) -> Result<SharedSlot, ToolError> {
    // Made before it is asked for: a caller who leaves may have got it meanwhile.
    let slot = SharedSlot {
        store: store.clone(),
        lease: Arc::clone(lease),
        tool: tool.name().into(),
        token: context.execution_id.to_string().into(),
    };
    let most = tool.policy.timeout + SLACK;
    let mut depth = None;
    loop {
        let (name, token, run) = (Arc::clone(&slot.tool), Arc::clone(&slot.token), lease.run());
        if store.once(move |unit| slots::take(unit, &name, run, &token, most)).await? {
            return Ok(slot);
        }
        depth.get_or_insert_with(|| Depth::of(tool));
        sleep(slots::TICK).await;
    }
}

impl Drop for SharedSlot {
    fn drop(&mut self) {
        let (tool, token) = (Arc::clone(&self.tool), Arc::clone(&self.token));
        self.store.once_unheard(move |unit| slots::give_back(unit, &tool, &token));
    }
}

/// A call that waits.
struct Depth<'a>(&'a Tool);

impl<'a> Depth<'a> {
    fn of(tool: &'a Tool) -> Self {
        tool.metrics.queue_depth.inc();
        Self(tool)
    }
}

impl Drop for Depth<'_> {
    fn drop(&mut self) {
        self.0.metrics.queue_depth.dec();
    }
}
