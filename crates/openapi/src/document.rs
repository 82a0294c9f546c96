//! The document: its version, and where its references lead.

use serde_json::{Map, Value};
use toolroom_work::step;

/// Why a document cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It is something else.
    #[error("this is not an OpenAPI document: it has no field 'openapi'")]
    NotOpenApi,
    /// It is of the version before.
    #[error("this is a Swagger 2.0 document, and only OpenAPI 3.0 and 3.1 can be imported")]
    Swagger,
    /// It is of another version.
    #[error("this is OpenAPI {0}, and only 3.0 and 3.1 can be imported")]
    Version(String),
    /// It describes nothing that could be called.
    #[error("the document has no operations: its 'paths' are empty")]
    NoOperations,
    /// It has more operations than anybody could use.
    #[error("the document has more than {0} operations")]
    TooManyOperations(usize),
    /// What was asked for is not in it.
    #[error("no operation has the tag, id, name or path '{pattern}'")]
    NoMatch {
        /// What was asked for.
        pattern: String,
        /// The tags that there are.
        tags: Vec<String>,
    },
    /// The name is of no use.
    #[error("'{0}' cannot be the name of an API: use 1 to 40 letters, digits, '_', '-' and '.'")]
    BadName(String),
    /// Reading it takes too long.
    #[error("the document is too complex: its schemas refer to each other in too many ways")]
    TooComplex,
    /// The tools have too much text.
    #[error("the schemas of these operations have more than {} MiB together", .0 >> 20)]
    TooLarge(usize),
}

/// A document of a version that can be read.
pub(crate) struct Document<'a> {
    pub(crate) root: &'a Value,
}

/// References from one to the next, at most.
const MOST_HOPS: usize = 16;

impl<'a> Document<'a> {
    pub(crate) fn new(root: &'a Value) -> Result<Self, DocumentError> {
        if root.get("swagger").is_some() {
            return Err(DocumentError::Swagger);
        }
        let version = root.get("openapi").and_then(Value::as_str).ok_or(DocumentError::NotOpenApi)?;
        if !(version.starts_with("3.0") || version.starts_with("3.1")) {
            return Err(DocumentError::Version(version.chars().take(20).collect()));
        }
        Ok(Self { root })
    }

    /// What a pointer such as `#/components/schemas/Pet` leads to.
    pub(crate) fn at(&self, reference: &str) -> Result<&'a Value, String> {
        step(1 + reference.len() / 8);
        let Some(pointer) = reference.strip_prefix('#') else { return Err(elsewhere(reference)) };
        // Some write a pointer as it stands in a URL.
        let found = self
            .root
            .pointer(pointer)
            .or_else(|| self.root.pointer(&toolroom_contract::pointer::unescaped(pointer)));
        found.ok_or_else(|| format!("refers to '{}', which is not in the document", shortened(reference)))
    }

    /// The value, or what it refers to.
    pub(crate) fn resolve(&self, value: &'a Value) -> Result<&'a Map<String, Value>, String> {
        let mut value = value;
        for _ in 0..MOST_HOPS {
            step(1);
            match value.get("$ref").and_then(Value::as_str) {
                Some(reference) => value = self.at(reference)?,
                None => {
                    return value.as_object().ok_or_else(|| "has a part that is not an object".to_owned());
                }
            }
        }
        Err("has references that lead to each other in a circle".to_owned())
    }
}

fn elsewhere(reference: &str) -> String {
    format!(
        "refers to another file ('{}'); make one document of them first, for example with 'npx @redocly/cli bundle'",
        shortened(reference)
    )
}

fn shortened(text: &str) -> String {
    text.chars().take(120).collect()
}
