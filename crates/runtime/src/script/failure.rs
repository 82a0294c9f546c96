//! Why a script gave no answer, in words that its caller can use.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolroom_contract::error::Outcome;
use toolroom_contract::ids::ExecutionId;
use toolroom_contract::{ErrorCode, FieldError, ToolError};
use toolroom_worker::{BadValue, Kind, Refusal, ScriptError, ScriptSpec};

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
        ScriptError::Foreign { .. } => (
            ErrorCode::ToolExecutionError,
            format!(
                "The script of '{name}' is not run: another user owns or can write it, its folder or a module beside it. Its owner finds which in the log, under execution {id}, and must check it and fix the permissions: chmod go-w, or chown."
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
                Kind::Node { .. } => "Node.js 22.18 or later, Bun or Deno",
                Kind::Shell => "A shell",
                Kind::Executable => "The program that its first line names",
            };
            let message = format!(
                "{program} could not be started for '{name}'. Its owner must install it, or see 'toolroom doctor'."
            );
            (ErrorCode::ToolExecutionError, message, None)
        }
        ScriptError::Refused(refusal) => return refused(refusal),
        ScriptError::Invalid(values) => return invalid(values),
        ScriptError::Raised { kind, .. } => {
            let kind = type_name(secrets, kind);
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
            let reason =
                reason.as_ref().map_or_else(String::new, |reason| format!(": {}", secrets.hide(reason)));
            let message = format!(
                "The answer of '{name}' is not JSON that can be read{reason}. Its owner can find more in the log, under execution {id}."
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
        ScriptError::PythonVersion { wanted, .. } => (
            ErrorCode::NotConfigured,
            format!("'{name}' was not run: it needs Python {wanted}, which is not installed here."),
            None,
        ),
        ScriptError::Dependencies { .. } | ScriptError::NoIndex { .. } => (
            ErrorCode::NotConfigured,
            format!(
                "The packages of '{name}' are not installed. Its owner must run: toolroom tools update FILE."
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

/// The error without the secrets that the script was given: its author may have put them into a refusal.
pub(super) fn without(mut error: ToolError, secrets: &Secrets) -> ToolError {
    if !secrets.is_empty() {
        error.message = secrets.hide(&error.message).into_owned();
        error.data = error.data.map(|data| Box::new(secrets.hide_in(&data)));
        for field in &mut error.details {
            field.pointer = secrets.hide(&field.pointer).into_owned();
            field.message = secrets.hide(&field.message).into_owned();
            field.expected = field.expected.as_ref().map(|text| secrets.hide(text).into_owned());
            field.example = field.example.as_ref().map(|value| secrets.hide_in(value));
        }
    }
    error
}

/// A refusal in its author's words: with a published code as it is, with any other as bad input whose data names it.
fn refused(refusal: &Refusal) -> ToolError {
    let published = AUTHOR_CODES.iter().copied().find(|code| code.as_str() == refusal.code);
    let mut error = ToolError::new(published.unwrap_or(ErrorCode::InvalidInput), &refusal.message);
    let mut data = match &refusal.data {
        Some(Value::Object(data)) => data.clone(),
        Some(other) => Map::from_iter([("details".to_owned(), other.clone())]),
        None => Map::new(),
    };
    for detail in &refusal.details {
        match serde_json::from_value::<FieldError>(detail.clone()) {
            Ok(field) => error.details.push(field),
            Err(_) => {
                if let Some(list) = data.entry("details").or_insert_with(|| json!([])).as_array_mut() {
                    list.push(detail.clone());
                }
            }
        }
    }
    if published.is_none() {
        data.entry("reason").or_insert_with(|| refusal.code.clone().into());
    }
    error.retry_after = refusal.retry_after;
    error.refusal = true;
    if data.is_empty() { error } else { error.with_data(data.into()) }
}

/// Codes that a tool can refuse a call with; the others are said by Toolroom alone.
const AUTHOR_CODES: [ErrorCode; 10] = [
    ErrorCode::InvalidInput,
    ErrorCode::NotFound,
    ErrorCode::NoChanges,
    ErrorCode::VersionConflict,
    ErrorCode::AlreadyExists,
    ErrorCode::InProgress,
    ErrorCode::Ambiguous,
    ErrorCode::RateLimited,
    ErrorCode::ServiceUnavailable,
    ErrorCode::NotConfigured,
];

/// Values that fit the schema, and that the script's own types or validators do not take.
fn invalid(values: &[BadValue]) -> ToolError {
    let message = match values {
        [one] => format!("{}: {}.", one.pointer, one.message.trim_end_matches('.')),
        many => format!("{} fields are wrong; each is listed in details.", many.len()),
    };
    let field = |one: &BadValue| FieldError {
        pointer: one.pointer.clone(),
        message: one.message.clone(),
        expected: None,
        example: None,
    };
    let mut error = ToolError::new(ErrorCode::InvalidInput, message);
    error.details = values.iter().map(field).collect();
    error.refusal = true;
    error
}

/// Hints that do not fit the contract.
pub(super) fn bad_hints(tool: &Tool, wrong: &str) -> ToolError {
    let message = format!("The answer of '{}' does not fit the contract: {wrong}.", tool.name());
    let mut error = ToolError::new(ErrorCode::InvalidOutput, message);
    error.outcome = Some(Outcome::Applied).filter(|_| !tool.policy.read_only);
    error
}

/// The name of an exception's type, which its author could have made of anything, a secret too.
fn type_name<'a>(secrets: &Secrets, kind: &'a str) -> &'a str {
    let plain = kind.chars().all(|c| c.is_alphanumeric() || c == '_');
    if plain && !kind.is_empty() && secrets.hide(kind) == kind { kind } else { "an exception" }
}

/// What the owner is told about it besides: what the script itself said, without the secrets of the call.
fn detail(secrets: &Secrets, error: &ScriptError) -> Option<String> {
    let said = match error {
        // The traceback ends in type and message, unless the message is too long for it.
        ScriptError::Raised { traceback, .. } if !traceback.is_empty() => traceback.clone(),
        ScriptError::Raised { kind, message, .. } => format!("{kind}: {message}"),
        ScriptError::Ended { stderr, .. } => stderr.clone(),
        ScriptError::BadOutput { detail, .. } => detail.clone(),
        ScriptError::Foreign { .. } => error.to_string(),
        _ => return None,
    };
    let said = secrets.hide(said.trim_end());
    (!said.is_empty()).then(|| said.into_owned())
}
