//! What is wrong with a value, in one sentence.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

/// Bytes of allowed values in a message.
const MOST_SHOWN: usize = 1000;

/// One sentence on what is wrong. The offending value itself is never repeated: it may be a secret.
pub(super) fn sentence(kind: &ValidationErrorKind, error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::Type { kind } => format!("must be {}, not {}", types(kind), type_of(error.instance())),
        Kind::Enum { options } => format!("must be one of {}", shortened(options)),
        Kind::Constant { expected_value } => format!("must be {}", shortened(expected_value)),
        Kind::MinLength { limit: 1 } => "must not be empty".into(),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::MinProperties { limit } => format!("must have at least {limit} fields"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} fields"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::UniqueItems => "must not repeat an item".into(),
        Kind::Pattern { pattern } => format!("must match the pattern {pattern}"),
        Kind::Format { format } => format!("must be a valid {format}"),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => "fits none of the allowed forms".into(),
        Kind::OneOfMultipleValid { .. } => "fits more than one of the allowed forms".into(),
        Kind::FalseSchema => "nothing is allowed here".into(),
        _ => format!("breaks the rule '{}' of the schema", kind.keyword()),
    }
}

/// What is allowed, as far as a message has room for it.
fn shortened(allowed: &Value) -> String {
    let whole = allowed.to_string();
    if whole.len() <= MOST_SHOWN {
        return whole;
    }
    let cut = whole.floor_char_boundary(MOST_SHOWN);
    format!("{}… (the tool's schema lists them all)", &whole[..cut])
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => format!("of type {one}"),
        TypeKind::Multiple(many) => {
            let names: Vec<String> = many.iter().map(|one| one.to_string()).collect();
            format!("of type {}", names.join(" or "))
        }
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
