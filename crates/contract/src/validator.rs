//! JSON Schema 2020-12, compiled once per tool; refusals name each bad field and how to repair it.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{PatternOptions, ValidationError};
use serde_json::Value;
use thiserror::Error;

use crate::error::FieldError;

/// A compiled schema.
pub struct Validator {
    compiled: jsonschema::Validator,
    schema: Value,
}

/// A schema that cannot be used.
#[derive(Debug, Error)]
#[error("not a usable JSON Schema 2020-12 at '{pointer}': {message}")]
pub struct BadSchema {
    /// Where in the schema.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

/// More bad fields than this help nobody.
const MOST_ERRORS: usize = 16;
/// A schema larger than this is refused before it is compiled.
const MOST_SCHEMA_BYTES: usize = 256 * 1024;

impl Validator {
    /// Compiles a schema. References to the network or to files are refused.
    pub fn compile(schema: &Value) -> Result<Self, BadSchema> {
        if schema.to_string().len() > MOST_SCHEMA_BYTES {
            let message = format!("larger than {MOST_SCHEMA_BYTES} bytes");
            return Err(BadSchema { pointer: String::new(), message });
        }
        let bad = |error: ValidationError<'_>| BadSchema {
            pointer: error.instance_path().to_string(),
            message: error.to_string(),
        };
        jsonschema::draft202012::meta::validate(schema).map_err(bad)?;
        let compiled = jsonschema::draft202012::options()
            .should_validate_formats(true)
            // A foreign pattern must not be able to keep a core busy: this engine takes linear time. It refuses
            // look-around and back references, whose engine takes quadratic time whatever its limits.
            .with_pattern_options(PatternOptions::regex())
            .build(schema)
            .map_err(bad)?;
        Ok(Self { compiled, schema: schema.clone() })
    }

    /// The schema as it was given.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Whether the value fits: the quick way, for the usual case.
    pub fn accepts(&self, value: &Value) -> bool {
        self.compiled.is_valid(value)
    }

    /// Each bad field of a value that does not fit; empty if it does.
    pub fn refusals(&self, value: &Value) -> Vec<FieldError> {
        let mut found: Vec<FieldError> = Vec::new();
        for error in self.compiled.iter_errors(value) {
            self.explain(&error, &mut found);
            if found.len() >= MOST_ERRORS {
                break;
            }
        }
        found.truncate(MOST_ERRORS);
        found
    }

    fn explain(&self, error: &ValidationError<'_>, found: &mut Vec<FieldError>) {
        let at = error.instance_path().to_string();
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let pointer = child(&at, name);
                let expected = self.describe(&pointer);
                found.push(FieldError {
                    pointer,
                    message: format!("'{name}' is required"),
                    expected,
                    example: None,
                });
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let known = self.known_fields(&at);
                found.extend(unexpected.iter().take(MOST_ERRORS).map(|name| FieldError {
                    pointer: child(&at, name),
                    message: format!("unknown field '{name}'"),
                    expected: known.clone(),
                    example: None,
                }));
            }
            kind => found.push(FieldError {
                message: sentence(kind, error),
                expected: self.describe(&at),
                example: None,
                pointer: at,
            }),
        }
    }

    /// The description of the property that a pointer into the value leads to.
    fn describe(&self, pointer: &str) -> Option<String> {
        let property = self.property(pointer)?;
        property.get("description")?.as_str().map(str::to_owned)
    }

    fn known_fields(&self, pointer: &str) -> Option<String> {
        let fields = self.property(pointer)?.get("properties")?.as_object()?;
        let names: Vec<&str> = fields.keys().map(String::as_str).collect();
        Some(if names.is_empty() { "no fields".into() } else { format!("one of: {}", names.join(", ")) })
    }

    fn property(&self, pointer: &str) -> Option<&Value> {
        pointer.split('/').skip(1).try_fold(&self.schema, |schema, token| {
            let name = token.replace("~1", "/").replace("~0", "~");
            schema
                .get("properties")
                .and_then(|properties| properties.get(&name))
                .or_else(|| schema.get("items").filter(|_| token.bytes().all(|b| b.is_ascii_digit())))
        })
    }
}

/// The pointer of a field below a pointer.
pub fn child(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// One sentence on what is wrong. The offending value itself is never repeated: it may be a secret.
fn sentence(kind: &ValidationErrorKind, error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::Type { kind } => format!("must be {}, not {}", types(kind), type_of(error.instance())),
        Kind::Enum { options } => format!("must be one of {options}"),
        Kind::Constant { expected_value } => format!("must be {expected_value}"),
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
