//! JSON Schema 2020-12, compiled once per tool; refusals name each bad field and how to repair it.
//!
//! Schemas and values are untrusted. What a schema costs is bounded when it is compiled (`cost`), and what a
//! value costs under it when it is validated (`metered`).

mod cost;
mod defaults;
mod graph;
mod metered;
mod nulls;
mod patterns;
mod references;
mod steady;
mod wording;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError};
use serde_json::Value;
use thiserror::Error;

pub use self::cost::SchemaCost;
use self::metered::{Metered, MeteredJson, Rates};
pub(crate) use self::references::References;
use crate::error::FieldError;
use crate::pointer;

/// A compiled schema.
pub struct Validator {
    compiled: jsonschema::Validator<MeteredJson>,
    schema: Value,
    cost: SchemaCost,
    rates: Rates,
    has_defaults: bool,
}

/// How much may be spent on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// What a thread that answers requests can spare.
    Small,
    /// All that a validation may take; on a thread that may be busy.
    Full,
}

/// How a value fits.
#[derive(Debug)]
pub enum Fit {
    /// As it was sent.
    AsSent,
    /// Without its nulls for optional fields that take none: this.
    WithoutNulls(Value),
    /// Not at all: each bad field.
    Refused(Vec<FieldError>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Fits,
    Misfit,
    /// Nobody knows, and finding out what is wrong would cost even more.
    TooCostly,
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

/// Listing more bad fields than this does not help.
const MOST_ERRORS: usize = 16;
/// A schema larger than this is refused before it is compiled.
const MOST_SCHEMA_BYTES: usize = 256 * 1024;
/// Compiling and comparing go down with the schema.
const DEEPEST_SCHEMA: usize = 96;
/// Looks at a value, its fields and its items, that a validation may take, and those that it may take more for each
/// thing in the value. The largest schemas of our own take some ten thousand, plain rows four for each field.
const STEPS: u64 = 1_000_000;
const STEPS_PER_THING: u64 = 8;
/// However large the value: some tens of milliseconds, or a few hundred where every look is at a reference.
const MOST_STEPS: u64 = 3_000_000;
/// The same for what is wrong, with the memory for errors: all of it, or else the first. Where choices are tried inside
/// choices, each has errors of its own.
const MOST_TO_LIST: (u64, u64) = (100_000, 8 * 1024 * 1024);
const MOST_TO_FIRST: (u64, u64) = (1_000_000, 1024 * 1024);
/// The same on a thread that answers requests: well below a millisecond.
const FEW_STEPS: u64 = 10_000;
/// Subschemas and fields that are looked at for nulls that read as absent.
const MOST_LOOKS: usize = 1_000_000;
/// Schemas nested deeper than this are compiled on a stack of their own: each level takes some KiB, times eight
/// where references lead from one to the next.
const DEEP_SCHEMA: usize = 24;
const DEEP_STACK: usize = 32 * 1024 * 1024;
/// A single pattern, compiled; and what matching may keep in memory.
const MOST_PATTERN_BYTES: usize = 10 * 1024 * 1024;
const MOST_MATCHING_BYTES: usize = 1024 * 1024;

impl Validator {
    /// Compiles a schema. References to the network or to files are refused.
    pub fn compile(schema: &Value) -> Result<Self, BadSchema> {
        check_size(schema)?;
        match depth(schema) {
            depth if depth <= DEEP_SCHEMA => Self::build(schema),
            depth if depth <= DEEPEST_SCHEMA => Self::build_on_deep_stack(schema),
            _ => {
                let message = format!("nested deeper than {DEEPEST_SCHEMA} levels");
                Err(BadSchema { pointer: String::new(), message })
            }
        }
    }

    /// What compiling the schema would cost.
    pub fn measure(schema: &Value) -> Result<SchemaCost, BadSchema> {
        check_size(schema)?;
        cost::measure(schema).map(|(cost, _)| cost)
    }

    fn build_on_deep_stack(schema: &Value) -> Result<Self, BadSchema> {
        let no_thread = || BadSchema {
            pointer: String::new(),
            message: "no thread could be started to compile it".into(),
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(DEEP_STACK);
            let built = thread.spawn_scoped(scope, || Self::build(schema)).map_err(|_| no_thread())?;
            built.join().unwrap_or_else(|_| Err(no_thread()))
        })
    }

    fn build(schema: &Value) -> Result<Self, BadSchema> {
        let bad = |error: ValidationError<'_>| BadSchema {
            pointer: error.instance_path().to_string(),
            message: error.to_string(),
        };
        jsonschema::draft202012::meta::validate(schema).map_err(bad)?;
        let (cost, rates) = cost::measure(schema)?;
        let compiled = jsonschema::options_for::<MeteredJson>()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            // An untrusted pattern must not be able to keep a core busy: this engine takes linear time. It refuses
            // look-around and back references, whose engine takes quadratic time whatever its limits.
            .with_pattern_options(
                PatternOptions::regex().size_limit(MOST_PATTERN_BYTES).dfa_size_limit(MOST_MATCHING_BYTES),
            )
            .build(schema)
            .map_err(bad)?;
        Ok(Self { compiled, schema: schema.clone(), cost, rates, has_defaults: defaults::any(schema) })
    }

    /// What the schema costs.
    pub fn cost(&self) -> SchemaCost {
        self.cost
    }

    /// The schema as it was given.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Whether the value fits. One that takes too long does not.
    pub fn accepts(&self, value: &Value) -> bool {
        self.judge(value, Effort::Full) == Some(Verdict::Fits)
    }

    /// Whether the value is found to fit in few steps.
    pub fn accepts_at_once(&self, value: &Value) -> bool {
        self.judge(value, Effort::Small) == Some(Verdict::Fits)
    }

    /// The value without its nulls for optional fields that take none; `None` if it has none of those.
    pub fn without_nulls(&self, value: &Value) -> Option<Value> {
        nulls::without(&self.schema, value, MOST_LOOKS).0
    }

    /// The value with the schema's defaults for what it leaves out; `None` if it leaves out none. They are not checked:
    /// whoever published the schema gets what it says.
    pub fn with_defaults(&self, value: &Value) -> Option<Value> {
        self.has_defaults.then(|| defaults::filled(&self.schema, value)).flatten()
    }

    /// Each bad field of a value that does not fit; empty if it does.
    pub fn refusals(&self, value: &Value) -> Vec<FieldError> {
        self.refusals_within(value, Effort::Full).unwrap_or_else(|| vec![too_costly(value)])
    }

    /// The same; `None` if that takes a greater effort.
    pub fn refusals_within(&self, value: &Value, effort: Effort) -> Option<Vec<FieldError>> {
        Some(match self.judge(value, effort)? {
            Verdict::Fits => Vec::new(),
            Verdict::TooCostly => vec![too_costly(value)],
            Verdict::Misfit => self.list(value, effort)?,
        })
    }

    /// Whether the value fits, as it is or without its nulls.
    pub fn fit(&self, value: &Value) -> Fit {
        self.fit_within(value, Effort::Full).unwrap_or_else(|| Fit::Refused(vec![too_costly(value)]))
    }

    /// The same; `None` if that takes a greater effort.
    pub fn fit_within(&self, value: &Value, effort: Effort) -> Option<Fit> {
        match self.judge(value, effort)? {
            Verdict::Fits => return Some(Fit::AsSent),
            Verdict::TooCostly => return Some(Fit::Refused(vec![too_costly(value)])),
            Verdict::Misfit => {}
        }
        let (stripped, finished) = match effort {
            Effort::Small => nulls::without(&self.schema, value, FEW_STEPS as usize),
            Effort::Full => nulls::without(&self.schema, value, MOST_LOOKS),
        };
        if effort == Effort::Small && !finished {
            return None;
        }
        let Some(stripped) = stripped else { return self.list(value, effort).map(Fit::Refused) };
        let refusals = self.refusals_within(&stripped, effort)?;
        Some(if refusals.is_empty() { Fit::WithoutNulls(stripped) } else { Fit::Refused(refusals) })
    }

    fn judge(&self, value: &Value, effort: Effort) -> Option<Verdict> {
        let steps = match effort {
            Effort::Small => FEW_STEPS,
            Effort::Full => most_steps(value),
        };
        match metered::within(steps, self.rates, || self.compiled.is_valid(Metered(value))) {
            Some(true) => Some(Verdict::Fits),
            Some(false) => Some(Verdict::Misfit),
            None => (effort == Effort::Full).then_some(Verdict::TooCostly),
        }
    }

    /// What is wrong with a value that does not fit: all of it, or the first where that is too much.
    fn list(&self, value: &Value, effort: Effort) -> Option<Vec<FieldError>> {
        let all = || {
            let mut found: Vec<FieldError> = Vec::new();
            for error in self.compiled.iter_errors(Metered(value)) {
                self.explain(&error, &mut found);
                if found.len() >= MOST_ERRORS {
                    break;
                }
            }
            found.truncate(MOST_ERRORS);
            found
        };
        if effort == Effort::Small {
            return metered::listing_within((FEW_STEPS, MOST_TO_FIRST.1), self.rates, value, all);
        }
        let first = || {
            let mut found = Vec::new();
            if let Err(error) = self.compiled.validate(Metered(value)) {
                self.explain(&error, &mut found);
            }
            found.truncate(MOST_ERRORS);
            found
        };
        let listed = metered::listing_within(MOST_TO_LIST, self.rates, value, all)
            .or_else(|| metered::listing_within(MOST_TO_FIRST, self.rates, value, first));
        Some(listed.unwrap_or_else(|| {
            vec![whole(
                "do not fit the schema, in more ways than can be listed; send less at once, or nest it less"
                    .into(),
            )]
        }))
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
                message: wording::sentence(kind, error),
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
            let name = pointer::name(token);
            schema
                .get("properties")
                .and_then(|properties| properties.get(&name))
                .or_else(|| schema.get("items").filter(|_| token.bytes().all(|b| b.is_ascii_digit())))
        })
    }
}

fn check_size(schema: &Value) -> Result<(), BadSchema> {
    if schema.to_string().len() <= MOST_SCHEMA_BYTES {
        return Ok(());
    }
    let message = format!("larger than {MOST_SCHEMA_BYTES} bytes");
    Err(BadSchema { pointer: String::new(), message })
}

/// The refusal of a value as a whole.
fn whole(message: String) -> FieldError {
    FieldError { pointer: String::new(), message, expected: None, example: None }
}

fn most_steps(value: &Value) -> u64 {
    STEPS.saturating_add(metered::size(value).saturating_mul(STEPS_PER_THING)).min(MOST_STEPS)
}

fn too_costly(value: &Value) -> FieldError {
    let steps = most_steps(value);
    whole(format!(
        "cannot be checked against the schema in {steps} steps; send less at once, or nest it less"
    ))
}

/// The pointer of a field below a pointer.
pub fn child(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", pointer::token(name))
}

fn depth(value: &Value) -> usize {
    // Parsed JSON is at most 128 levels deep, so this cannot run away.
    1 + match value {
        Value::Object(map) => map.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
