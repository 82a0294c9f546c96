//! Step 2: may the caller use the tool at all?

use toolroom_contract::definition::Deprecation;
use toolroom_contract::{ErrorCode, Priority, SuggestedAction, ToolError};

use super::Refusal;
use super::call::Call;
use super::resolve::Resolved;
use crate::catalogue::{Access, Tool};

/// A tool that the caller may use.
pub(super) struct Permitted(pub(super) Resolved);

pub(super) fn permit(call: &Call, resolved: Resolved) -> Result<Permitted, Refusal> {
    // Whatever went on by the credential is being stopped; nothing new begins.
    if call.principal.revoked.is_cancelled() {
        return Err(ToolError::new(ErrorCode::Unauthenticated, "The key was revoked.").into());
    }
    allow(call, &resolved.tool)?;
    Ok(Permitted(resolved))
}

/// Refuses a tool that the view of this caller does not give them.
pub(super) fn allow(call: &Call, tool: &Tool) -> Result<(), Refusal> {
    match call.view().map(|view| view.access(tool)) {
        Some(Access::Granted) => Ok(()),
        Some(Access::Removed(deprecated)) => Err(removed(tool, deprecated).into()),
        Some(Access::Denied) | None => Err(Refusal::forbidden(&call.name)),
    }
}

fn removed(tool: &Tool, deprecated: &Deprecation) -> ToolError {
    let Deprecation { replacement, removal_date, .. } = deprecated;
    let message = format!("'{}' was removed on {removal_date}. Use '{replacement}' instead.", tool.name());
    ToolError::new(ErrorCode::ToolRemoved, message).with_next(
        SuggestedAction::new(replacement.clone(), Priority::High).described("The tool that replaces it."),
    )
}
