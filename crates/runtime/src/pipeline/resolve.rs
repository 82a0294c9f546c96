//! Step 1: a profile and a name become a tool.

use std::sync::Arc;

use serde_json::Value;
use toolroom_contract::definition::Deprecation;
use toolroom_contract::hints::{Severity, Warning, WarningKind};
use toolroom_contract::validator::Fit;
use toolroom_contract::{ErrorCode, FieldError, Priority, SuggestedAction, ToolError};

use super::call::Call;
use crate::catalogue::{Access, Bound, Executor, Tool};
use crate::tools::{call_tool, search_tools};

/// A tool that was found, with the shape that the profile gives it.
pub(super) struct Resolved {
    pub(super) tool: Arc<Tool>,
    /// The published shape; `None` where the profile shows the tool as it is.
    pub(super) shape: Option<Arc<Bound>>,
    /// Whether a destructive tool waits for a person here.
    pub(super) requires_approval: bool,
    /// Said along with the answer: the tool is on its way out.
    pub(super) warning: Option<Warning>,
}

pub(super) fn resolve(call: &mut Call) -> Result<Resolved, ToolError> {
    let resolved = find(call)?;
    if !matches!(resolved.tool.executor, Executor::Forward) {
        return Ok(resolved);
    }
    forward(call, &resolved.tool)?;
    let resolved = find(call)?;
    if matches!(resolved.tool.executor, Executor::Forward) {
        return Err(ToolError::invalid("/name", format!("{} cannot call itself", call_tool::NAME)));
    }
    Ok(resolved)
}

fn find(call: &Call) -> Result<Resolved, ToolError> {
    let view = call.view().ok_or_else(|| not_found(&call.name))?;
    let shown = view.published(&call.name).ok_or_else(|| not_found(&call.name))?;
    let (tool, shape) = (Arc::clone(shown.tool), shown.bound.filter(|_| shown.shaped).cloned());
    let warning =
        tool.definition().deprecated.as_ref().filter(|_| matches!(view.access(&tool), Access::Granted));
    let warning = warning.map(|deprecated| deprecation(&tool, deprecated, call));
    Ok(Resolved { tool, shape, requires_approval: view.profile.requires_approval, warning })
}

/// The same answer for a tool that nobody has and one that this caller may not use.
pub(super) fn not_found(name: &str) -> ToolError {
    ToolError::new(ErrorCode::ToolNotFound, "Unknown tool, or not allowed for you.").with_next(
        SuggestedAction::new(search_tools::NAME, Priority::High)
            .described("Find the tool by what it does.")
            .with("query", name.replace(['-', '_'], " ")),
    )
}

fn deprecation(tool: &Tool, deprecated: &Deprecation, call: &Call) -> Warning {
    let replacement = &deprecated.replacement;
    tracing::warn!(
        tool = tool.name(),
        replacement,
        removal = %deprecated.removal_date,
        traceId = %call.trace_id,
        "deprecated tool used"
    );
    let message = format!(
        "'{}' is deprecated since {} and will be removed on {}.",
        tool.name(),
        deprecated.since,
        deprecated.removal_date
    );
    Warning {
        suggested_fix: Some(format!("Use '{replacement}' instead.")),
        auto_fixable: Some(false),
        ..Warning::new(WarningKind::Deprecation, Severity::Medium, message)
    }
}

/// `call-tool` is the call that it names: one row in the journal, one set of checks, one answer.
fn forward(call: &mut Call, tool: &Tool) -> Result<(), ToolError> {
    match tool.parameters.fit(&call.params) {
        Fit::AsSent => {}
        Fit::WithoutNulls(params) => call.params = Arc::new(params),
        Fit::Refused(refusals) => return Err(super::params::refused(refusals)),
    }
    let name = call.params.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let params = call.params.get("params").cloned().unwrap_or_else(|| Value::Object(Default::default()));
    call.via = Some(tool.name().to_owned().into());
    call.name = name;
    call.params = Arc::new(params);
    Ok(())
}

/// Pointers into the parameters of a forwarded call are pointers into what the caller sent.
pub(super) fn point_outward(call: &Call, details: &mut [FieldError]) {
    if call.via.is_some() {
        for detail in details {
            detail.pointer.insert_str(0, "/params");
        }
    }
}
