//! The refusals that several task tools share.

use serde_json::json;
use toolroom_contract::{ErrorCode, Priority, SuggestedAction, ToolError};
use toolroom_store::tasks::Task;

/// No such task, or somebody else's, or a deleted one: anyway to the caller.
pub(super) fn not_found() -> ToolError {
    let look = SuggestedAction::new("list-tasks", Priority::Medium).described("See which tasks there are.");
    ToolError::new(ErrorCode::NotFound, "You have no task with that id.").with_next(look)
}

/// The task has moved on since the caller read it.
pub(super) fn version_conflict(current: &Task, expected: i64) -> ToolError {
    let message = format!(
        "The task has version {} now, not {expected}. Read it again before you repeat the change.",
        current.version
    );
    let read = SuggestedAction::new("get-task", Priority::High)
        .with("taskId", current.id.0)
        .described("Read the task as it is now.");
    ToolError::new(ErrorCode::VersionConflict, message)
        .with_data(json!({ "currentVersion": current.version }))
        .with_next(read)
}

/// The same refusal for parameters that stand deeper, at this pointer.
pub(super) fn below(pointer: &str, mut error: ToolError) -> ToolError {
    for detail in &mut error.details {
        detail.pointer = format!("{pointer}{}", detail.pointer);
    }
    if let [detail] = error.details.as_slice() {
        error.message = format!("{}: {}", detail.pointer, detail.message);
    }
    error
}
