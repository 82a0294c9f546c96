//! The context of a call, as a caller sent it: every field that is wrong is named, in plain words.

use serde_json::{Map, Value};

use crate::context::ContextFields;
use crate::error::FieldError;

impl ContextFields {
    /// Reads a context. The errors point into the body that has it as `context`.
    pub fn read(context: Value) -> Result<Self, Vec<FieldError>> {
        let Value::Object(fields) = context else {
            return Err(vec![wrong("/context", "must be an object", "an object")]);
        };
        let refused: Vec<FieldError> = fields.iter().filter_map(|(name, value)| flaw(name, value)).collect();
        if !refused.is_empty() {
            return Err(refused);
        }
        serde_json::from_value(Value::Object(fields))
            .map_err(|_| vec![wrong("/context", "cannot be read", "an object of the published schema")])
    }
}

/// What is wrong with one field by itself.
fn flaw(name: &str, value: &Value) -> Option<FieldError> {
    toolroom_work::step(1 + name.len());
    let pointer = format!("/context/{}", crate::pointer::token(name));
    let Some(expected) = expected(name) else {
        return Some(wrong(
            &pointer,
            "is not a field of the context",
            "one of the published fields, or metadata",
        ));
    };
    let alone = Map::from_iter([(name.to_owned(), value.clone())]);
    let fits = serde_json::from_value::<ContextFields>(Value::Object(alone)).is_ok();
    (!fits).then(|| wrong(&pointer, &format!("must be {expected}"), expected))
}

fn expected(name: &str) -> Option<&'static str> {
    Some(match name {
        "userId" | "sessionId" | "correlationId" | "agentId" | "agentVersion" | "idempotencyKey" => "a text",
        "traceId" => "a trace id: a UUID, or 32 hexadecimal digits",
        "timestamp" => "a time such as 2026-11-20T15:00:00Z",
        "timezone" => "a time zone name such as Europe/Berlin",
        "metadata" => "an object",
        "approvalId" => "the id of a pending request",
        "dryRun" => "true or false",
        _ => return None,
    })
}

fn wrong(pointer: &str, message: &str, expected: &str) -> FieldError {
    FieldError {
        pointer: pointer.to_owned(),
        message: message.to_owned(),
        expected: Some(expected.to_owned()),
        example: None,
    }
}
