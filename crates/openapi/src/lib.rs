//! An OpenAPI document (3.0 or 3.1) as entries of `tools.json`: one tool for each operation.
//!
//! The document is untrusted, and walked as plain JSON: typed readers refuse real documents. Work is counted and bounded;
//! an operation that cannot become a tool is left out with a reason, and the others stay.

mod answers;
mod assemble;
mod auth;
mod body;
mod document;
mod merge;
mod names;
mod operations;
mod parameters;
mod schema;
mod words;

use serde_json::Value;
use toolroom_contract::entry::ToolEntry;

use document::Document;

pub use auth::{NeededSecret, OwnAuth};
pub use document::DocumentError;
pub use names::api_name;

/// What is wanted of a document.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The name of the API; made of the document's title if not given.
    pub name: Option<String>,
    /// Only operations with one of these tags, ids or names, or below one of these paths; all if empty.
    pub only: Vec<String>,
    /// The address that takes the place of the document's servers.
    pub server: Option<String>,
    /// Scheme, host and port that the document came from, for servers that it names without them.
    pub origin: Option<String>,
    /// How calls show who makes them, where the document does not say.
    pub auth: Option<OwnAuth>,
}

/// What a document has.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The name of the API.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The entries of the operations that were asked for.
    pub tools: Vec<ToolEntry>,
    /// Operations that were asked for and cannot be tools.
    pub refused: Vec<RefusedOperation>,
    /// All operations of the document, as `GET /pets/{petId}`.
    pub operations: Vec<String>,
    /// All tags, with the number of their operations.
    pub tags: Vec<(String, usize)>,
    /// Secrets that calls need.
    pub secrets: Vec<NeededSecret>,
    /// What its user should know.
    pub notes: Vec<String>,
}

/// An operation that cannot be a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedOperation {
    /// The operation, as `GET /pets/{petId}`.
    pub operation: String,
    /// Why not.
    pub reason: String,
}

/// Steps that a document may take, whatever its length, and for each of its bytes.
const STEPS: u64 = 4_000_000;
const STEPS_PER_BYTE: u64 = 16;

/// Reads a document that was `length` bytes long.
pub fn read(document: &Value, length: usize, wish: &Wish) -> Result<Imported, DocumentError> {
    let budget = STEPS + STEPS_PER_BYTE * length as u64;
    let document = Document::new(document)?;
    toolroom_work::within(budget, || operations::import(&document, wish))
        .map_err(|_| DocumentError::TooComplex)?
}
