//! The tools that come with Toolroom and stand in the starter `tools.json`: run code, search the web, ask a
//! person. Removing an entry removes the tool.

mod code_files;
mod execute_code;
mod request_human_input;
pub mod search;

use std::sync::Arc;

use toolroom_contract::entry::EntryLimits;
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

/// A tool's code, under the limits that its entry sets.
pub type Make = Box<dyn Fn(&EntryLimits) -> Arc<dyn Handler> + Send + Sync>;

/// Every built-in tool with its contract.
pub fn tools(settings: BuiltinSettings) -> Vec<(ToolDefinition, Make)> {
    let BuiltinSettings { sandbox, search } = settings;
    vec![
        execute_code::tool(sandbox),
        without_limits(search::tool(search)),
        without_limits(request_human_input::tool()),
    ]
}

fn without_limits((definition, handler): (ToolDefinition, Arc<dyn Handler>)) -> (ToolDefinition, Make) {
    (definition, Box::new(move |_| Arc::clone(&handler)))
}

/// The tool that asks a person, alone: it needs no settings.
pub fn human() -> (ToolDefinition, Arc<dyn Handler>) {
    request_human_input::tool()
}
