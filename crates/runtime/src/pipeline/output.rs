//! Step 7: is the answer what the contract says?

use toolroom_contract::error::Outcome;
use toolroom_contract::{Answer, ErrorCode, ToolError};

use crate::catalogue::Tool;

pub(super) fn check(tool: &Tool, answer: Answer) -> Result<Answer, ToolError> {
    let problem = if answer.data.is_null() {
        Some("data is null".to_owned())
    } else {
        tool.output.as_ref().filter(|schema| !schema.accepts(&answer.data)).map(|schema| {
            let first = schema.refusals(&answer.data).into_iter().next();
            first.map_or_else(
                || "it does not fit".to_owned(),
                |bad| format!("data{}: {}", bad.pointer, bad.message),
            )
        })
    };
    let Some(problem) = problem else { return Ok(answer) };
    let message = format!("The answer of '{}' breaks its own contract: {problem}.", tool.name());
    let error = ToolError::new(ErrorCode::InvalidOutput, message);
    Err(if tool.policy.read_only { error } else { error.with_outcome(Outcome::Applied) })
}
