//! The tools that come with Toolroom and stand in the starter `tools.json`: run code, search the web, ask a
//! person. Removing an entry removes the tool.

mod execute_code;
mod request_human_input;
pub mod search;

use std::sync::Arc;

use toolroom_contract::{Handler, ToolDefinition};
use toolroom_worker::Sandbox;

use search::SearchSettings;

/// What the tools work with.
#[derive(Clone)]
pub struct BuiltinSettings {
    /// Where code runs.
    pub sandbox: Sandbox,
    /// The search engine; without one `search-web` says how to set one up.
    pub search: Option<SearchSettings>,
}

/// Every built-in tool with its contract.
pub fn tools(settings: BuiltinSettings) -> Vec<(ToolDefinition, Arc<dyn Handler>)> {
    vec![execute_code::tool(settings.sandbox), search::tool(settings.search), request_human_input::tool()]
}
