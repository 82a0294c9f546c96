//! The envelope that every call answers with: data or error, agentHints, metadata.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::Content;
use crate::context::TraceId;
use crate::error::ErrorBody;
use crate::hints::AgentHints;

/// What a call gives back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The tool's data, or why there is none.
    #[serde(flatten)]
    pub body: Body,
    /// What the caller should know and could do next. Never omitted.
    pub agent_hints: AgentHints,
    /// When, how long, by which version.
    pub metadata: Metadata,
    /// Blocks next to the data, such as images and links, each as its author wrote it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "Content::serialize_blocks",
        deserialize_with = "Content::deserialize_blocks"
    )]
    #[schemars(with = "Option<Vec<serde_json::Map<String, Value>>>")]
    pub content: Option<Arc<Content>>,
}

/// Success or failure. `data` is never null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Body {
    /// The call succeeded.
    // Shared, because a cached answer is given out many times.
    #[serde(rename = "data")]
    Data(#[schemars(schema_with = "not_null")] Arc<Value>),
    /// The call failed.
    #[serde(rename = "error")]
    Error(Box<ErrorBody>),
}

fn not_null(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "not": { "type": "null" } })
}

impl ToolResult {
    /// The data of a success.
    pub fn data(&self) -> Option<&Value> {
        match &self.body {
            Body::Data(data) => Some(data),
            Body::Error(_) => None,
        }
    }

    /// The error of a failure.
    pub fn error(&self) -> Option<&ErrorBody> {
        match &self.body {
            Body::Data(_) => None,
            Body::Error(error) => Some(error),
        }
    }
}

/// When a tool ran, how long, and which version of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Semantic version of the tool.
    #[schemars(with = "String")]
    pub tool_version: Arc<str>,
    /// When the tool executed, in UTC.
    pub timestamp: Timestamp,
    /// Milliseconds taken, all processing included.
    #[schemars(range(min = 0.0))]
    pub execution_time: f64,
    /// Version of the service that executed the tool.
    #[schemars(with = "String")]
    pub service_version: Arc<str>,
    /// Finds the call in logs and traces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<TraceId>,
    /// Links calls that belong together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub correlation_id: Option<Arc<str>>,
    /// Whether the result came from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<bool>,
    /// The row of the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<crate::ids::ExecutionId>,
    /// The first answer to the same idempotency key, given again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// Nothing was changed: the call was a dry run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}
