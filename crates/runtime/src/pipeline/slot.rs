//! A slot to run in, for tools whose calls may not all run side by side.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use toolroom_contract::{ErrorCode, ToolError};

use crate::catalogue::Tool;

/// A slot; given back when dropped.
pub(super) struct Slot(#[expect(dead_code, reason = "held, not read")] Option<OwnedSemaphorePermit>);

/// Waits for a slot in a bounded queue. The caller's deadline covers the wait.
pub(super) async fn acquire(tool: &Tool) -> Result<Slot, ToolError> {
    let Some(slots) = &tool.slots else { return Ok(Slot(None)) };
    if let Ok(permit) = Arc::clone(&slots.free).try_acquire_owned() {
        return Ok(Slot(Some(permit)));
    }
    let _place = slots.queue.try_acquire().map_err(|_| {
        ToolError::new(ErrorCode::Busy, format!("Too many calls of '{}' are already waiting.", tool.name()))
            .retry_after_ms(1000)
    })?;
    tool.metrics.queue_depth.inc();
    let _depth = Depth(tool);
    let permit = Arc::clone(&slots.free).acquire_owned().await.map_err(ToolError::internal)?;
    Ok(Slot(Some(permit)))
}

struct Depth<'a>(&'a Tool);

impl Drop for Depth<'_> {
    fn drop(&mut self) {
        self.0.metrics.queue_depth.dec();
    }
}
