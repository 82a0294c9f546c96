//! What a tool is: definition, result, hints, context, errors. No I/O.

pub mod canonical;
pub mod check;
pub mod client_side;
pub mod confidence;
pub mod content;
pub mod context;
pub mod definition;
pub mod diff;
pub mod entry;
pub mod error;
pub mod exact;
pub mod handler;
pub mod hints;
pub mod ids;
pub mod permission;
pub mod policy;
pub mod report;
pub mod result;
pub mod schemas;
pub mod text;
pub mod validator;
mod written;

pub use check::{Finding, Outcome as CheckOutcome, Stage};
pub use client_side::{ClientInput, ClientRequest, ClientSide};
pub use confidence::Evidence;
pub use content::Content;
pub use context::{Principal, ToolContext, TraceId, User};
pub use definition::{Category, ResponseTime, ToolDefinition};
pub use error::{ErrorClass, ErrorCode, FieldError, ToolError};
pub use handler::{Answer, Ending, Handler, HandlerFuture};
pub use hints::{AgentHints, HintsDraft, Priority, SuggestedAction};
pub use permission::{Grant, Grants, Permission};
pub use policy::Policy;
pub use report::Reporter;
pub use result::{Metadata, ToolResult};
pub use written::write_text;
