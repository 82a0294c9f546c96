//! Step 2: may the caller use the tool at all?

use toolroom_contract::{ErrorCode, ToolError};

use super::Refusal;
use super::call::Call;
use super::resolve::Resolved;

/// A tool that the caller may use.
pub(super) struct Permitted(pub(super) Resolved);

pub(super) fn permit(call: &Call, resolved: Resolved) -> Result<Permitted, Refusal> {
    // Whatever went on by the credential is being stopped; nothing new begins.
    if call.principal.revoked.is_cancelled() {
        return Err(ToolError::new(ErrorCode::Unauthenticated, "The key was revoked.").into());
    }
    if !call.principal.grants.cover_all(&resolved.tool.definition().permissions) {
        return Err(Refusal::forbidden(&call.name));
    }
    match resolved.removed {
        Some(error) => Err(error.into()),
        None => Ok(Permitted(resolved)),
    }
}
