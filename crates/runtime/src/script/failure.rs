//! Why a script gave no answer, in words that its caller can use.

use std::sync::Arc;

use serde_json::json;
use toolroom_contract::error::Outcome;
use toolroom_contract::ids::ExecutionId;
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_worker::{Kind, ScriptError, ScriptSpec};

use crate::catalogue::Tool;
use crate::journal::Secrets;

/// The error of the call. Nothing that the script said reaches its caller, because it may hold paths, queries and
/// secrets of the owner's: the journal has that, under the id.
pub(super) fn of(
    tool: &Tool,
    spec: &ScriptSpec,
    secrets: &Secrets,
    id: ExecutionId,
    error: ScriptError,
) -> ToolError {
    let name = tool.name();
    let (code, message, outcome) = match &error {
        ScriptError::Missing => (
            ErrorCode::ToolExecutionError,
            format!(
                "The script of '{name}' is missing. Its owner must restore it or register the tool again."
            ),
            None,
        ),
        ScriptError::Foreign => (
            ErrorCode::ToolExecutionError,
            format!(
                "The script of '{name}' is not run: another user owns or can write it or its folder. Its owner must check the script and fix the permissions: chmod go-w on both, or chown."
            ),
            None,
        ),
        ScriptError::NotExecutable => (
            ErrorCode::ToolExecutionError,
            format!(
                "The script of '{name}' cannot be executed. Its owner must make it executable, with a first line that names its interpreter."
            ),
            None,
        ),
        ScriptError::Interpreter { .. } => {
            let program = match spec.kind {
                Kind::Python { .. } => "Python",
                Kind::Shell => "A shell",
                Kind::Executable => "The program that its first line names",
            };
            let message = format!(
                "{program} could not be started for '{name}'. Its owner must install it, or see 'toolroom doctor'."
            );
            (ErrorCode::ToolExecutionError, message, None)
        }
        ScriptError::Raised { kind, .. } => {
            let kind = type_name(kind);
            let message = format!(
                "'{name}' failed with {kind}. Its owner can find the reason in the log, under execution {id}."
            );
            (ErrorCode::ToolExecutionError, message, Some(Outcome::Unknown))
        }
        ScriptError::Ended { how, .. } => {
            let message = format!(
                "'{name}' failed. {how} Its owner can find the reason in the log, under execution {id}."
            );
            (ErrorCode::ToolExecutionError, message, Some(Outcome::Unknown))
        }
        // It came to its end: what it does, it has done.
        ScriptError::BadOutput { reason, .. } => {
            let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            let message = format!(
                "The answer of '{name}' is not JSON{reason}. Only the answer may go to stdout; log lines belong on stderr. Its owner can find more in the log, under execution {id}."
            );
            (ErrorCode::InvalidOutput, message, Some(Outcome::Applied))
        }
        ScriptError::TooLarge { limit, .. } => (
            ErrorCode::OutputTooLarge,
            format!(
                "The answer of '{name}' is larger than {limit} bytes and was cut off. Ask for less, or have its owner raise config.limits.output."
            ),
            Some(Outcome::Unknown),
        ),
        ScriptError::Stopped => (
            ErrorCode::ServiceUnavailable,
            "The server is stopping. Try again when it is back.".to_owned(),
            Some(Outcome::Unknown),
        ),
        ScriptError::System(_) => (
            ErrorCode::ServiceUnavailable,
            format!("The system could not start a process for '{name}'. Try again in a moment."),
            Some(Outcome::Unknown),
        ),
        ScriptError::Sandbox(failed) => (
            ErrorCode::NotConfigured,
            format!(
                "The sandbox of '{name}' could not be set up ({failed}); nothing was run. See 'toolroom doctor'."
            ),
            None,
        ),
        ScriptError::Unconfined { reason } => (
            ErrorCode::NotConfigured,
            format!(
                "'{name}' was not run, because this system cannot provide its sandbox: {reason}. See 'toolroom doctor'."
            ),
            None,
        ),
        ScriptError::BadFileName { .. } => return ToolError::internal(error),
    };
    let mut failed = ToolError::new(code, message);
    if let ScriptError::TooLarge { limit, .. } = &error {
        failed = failed.with_data(json!({ "truncated": true, "limitBytes": limit }));
    }
    if code == ErrorCode::ServiceUnavailable {
        failed = failed.retry_after_ms(1000);
    }
    failed.outcome = outcome.filter(|_| !tool.policy.read_only);
    failed.detail = detail(secrets, &error).map(Arc::new);
    failed.caused_by(error)
}

/// The name of an exception's type, which its author could have made of anything.
fn type_name(kind: &str) -> &str {
    let plain = kind.chars().all(|c| c.is_alphanumeric() || c == '_');
    if plain && !kind.is_empty() { kind } else { "an exception" }
}

/// What the owner is told of it besides: what the script itself said, without the secrets of the call.
fn detail(secrets: &Secrets, error: &ScriptError) -> Option<String> {
    let said = match error {
        // The traceback ends in type and message, unless the message is too long for it.
        ScriptError::Raised { traceback, .. } if !traceback.is_empty() => traceback.clone(),
        ScriptError::Raised { kind, message, .. } => format!("{kind}: {message}"),
        ScriptError::Ended { stderr, .. } => stderr.clone(),
        ScriptError::BadOutput { detail, .. } => detail.clone(),
        _ => return None,
    };
    let said = secrets.hide(said.trim_end());
    (!said.is_empty()).then(|| said.into_owned())
}
