//! What an edge hands to the pipeline, and what it gets back.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;
use toolroom_contract::context::ContextFields;
use toolroom_contract::ids::ExecutionId;
use toolroom_contract::report::Reporter;
use toolroom_contract::{ClientInput, Principal, ToolResult};
use toolroom_profiles::Answers;

pub use crate::journal::Edge;

/// A call, in the terms of no protocol.
pub struct CallRequest {
    /// The profile it is made under.
    pub profile: Cow<'static, str>,
    /// The published name of the tool.
    pub name: String,
    /// The published parameters.
    pub params: Value,
    /// Who calls.
    pub principal: Arc<Principal>,
    /// What the caller sent along.
    pub context: ContextFields,
    /// By which way in.
    pub edge: Edge,
    /// Where the tool's reports go while it runs.
    pub reporter: Reporter,
}

/// What a call gives back.
pub struct Reply {
    /// The row of the journal.
    pub execution_id: ExecutionId,
    /// The canonical result.
    pub result: ToolResult,
    /// The profile's own answer, where the profile has its own shape.
    pub published: Option<Value>,
    /// What that answer is.
    pub answers: Answers,
    /// What the tool asks of the client before it can go on.
    pub asks: Option<Box<ClientInput>>,
}

impl Reply {
    /// Whether the caller is told that the call failed.
    pub fn failed(&self) -> bool {
        match &self.published {
            Some(answer) => self.answers.failed(answer, &self.result),
            None => self.result.error().is_some(),
        }
    }

    /// The HTTP status of the canonical result.
    pub fn http_status(&self) -> u16 {
        self.result.error().map_or(200, |error| error.code.http_status())
    }
}
