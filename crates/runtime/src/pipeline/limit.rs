//! Step 4: has the caller used up the tool's calls?

use toolroom_contract::{ErrorCode, ToolError};

use super::call::Call;
use super::params::Checked;

/// A call that is within its limits.
pub(super) struct Limited(pub(super) Checked);

pub(super) fn limit(call: &Call, checked: Checked) -> Result<Limited, ToolError> {
    let tool = &checked.resolved.tool;
    let Some(limit) = tool.definition().rate_limit else { return Ok(Limited(checked)) };
    let now = call.at.as_millisecond().max(0) as u64;
    call.runtime.limits.count(tool.limit_scope, call.principal.user.id, limit, now).map_err(|wait| {
        let message = format!(
            "At most {} calls of '{}' in {} ms. Wait {wait} ms.",
            limit.max_calls, call.name, limit.window_ms
        );
        ToolError::new(ErrorCode::RateLimited, message).retry_after_ms(wait)
    })?;
    Ok(Limited(checked))
}
