//! Step 2: may the caller use the tool at all?

use super::Refusal;
use super::call::Call;
use super::resolve::{Resolved, not_found};

/// A tool that the caller may use.
pub(super) struct Permitted(pub(super) Resolved);

pub(super) fn permit(call: &Call, resolved: Resolved) -> Result<Permitted, Refusal> {
    if !call.principal.grants.cover_all(&resolved.tool.definition().permissions) {
        // What is not yours does not exist: only the journal says why.
        return Err(Refusal { error: not_found(&call.name), logged: Some("permission_denied") });
    }
    match resolved.removed {
        Some(error) => Err(error.into()),
        None => Ok(Permitted(resolved)),
    }
}
