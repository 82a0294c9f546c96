//! Step 4: has the caller used up the tool's calls?

use toolroom_contract::{ErrorCode, ToolError};

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

pub(super) fn limit(call: &Call, checked: Checked) -> Result<Limited, ToolError> {
    let counted = call.context.approval_id.is_none();
    if counted {
        count(call, &checked.resolved.tool)?;
    }
    Ok(Limited { checked, counted })
}

pub(super) fn count(call: &Call, tool: &Tool) -> Result<(), ToolError> {
    let Some(limit) = tool.definition().rate_limit else { return Ok(()) };
    let now = call.at.as_millisecond().max(0) as u64;
    call.runtime.limits.count(tool.limit_scope, call.principal.user.id, limit, now).map_err(|wait| {
        let message = format!(
            "At most {} calls of '{}' in {} ms. Wait {wait} ms.",
            limit.max_calls, call.name, limit.window_ms
        );
        ToolError::new(ErrorCode::RateLimited, message).retry_after_ms(wait)
    })
}
