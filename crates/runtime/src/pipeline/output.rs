//! Step 7: is the answer what the contract says?

use std::sync::Arc;

use futures_util::FutureExt;
use toolroom_contract::error::Outcome;
use toolroom_contract::hints::{Severity, Warning, WarningKind};
use toolroom_contract::validator::{Effort, Validator};
use toolroom_contract::{Answer, ErrorCode, FieldError, ToolError};

use crate::catalogue::{Executor, Tool};
use crate::cpu_pool;

pub(super) async fn check(tool: &Tool, mut answer: Answer) -> Result<Answer, ToolError> {
    let problem = match &tool.output {
        _ if answer.data.is_null() => Some("data is null".to_owned()),
        None => None,
        Some(schema) => match schema.refusals_within(&answer.data, Effort::Small) {
            Some(refusals) => problem(refusals),
            None => problem(refusals_aside(schema, &mut answer).boxed().await?),
        },
    };
    let Some(problem) = problem else { return Ok(answer) };
    // Web services stray from their documents, and it was not they who promised anything here.
    if matches!(tool.executor, Executor::Http(_)) && !answer.data.is_null() {
        let message = format!("The answer is not what the API's document says: {problem}.");
        answer.hints.warnings.push(Warning::new(WarningKind::Validation, Severity::Low, message));
        return Ok(answer);
    }
    let message = format!("The answer of '{}' breaks its own contract: {problem}.", tool.name());
    let error = ToolError::new(ErrorCode::InvalidOutput, message);
    Err(if tool.policy.read_only { error } else { error.with_outcome(Outcome::Applied) })
}

fn problem(refusals: Vec<FieldError>) -> Option<String> {
    let first = refusals.into_iter().next()?;
    Some(format!("data{}: {}", first.pointer, first.message))
}

/// The data goes to the other thread and back: it may be large.
async fn refusals_aside(schema: &Arc<Validator>, answer: &mut Answer) -> Result<Vec<FieldError>, ToolError> {
    let (schema, data) = (Arc::clone(schema), std::mem::take(&mut answer.data));
    let checked = cpu_pool::run(move || (schema.refusals(&data), data)).await;
    let (refusals, data) = checked.map_err(ToolError::internal)?;
    answer.data = data;
    Ok(refusals)
}
