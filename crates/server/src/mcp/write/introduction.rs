//! What we say of ourselves: name, capabilities, how to use the tools.
use serde::Serialize;
use serde_json::{Value, json};
use toolroom_mcp::Revision;
use toolroom_mcp::meta::TASKS_EXTENSION;

/// Who we are, as results carry it.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct ServerInfo {
    name: &'static str,
    title: &'static str,
    version: &'static str,
}

/// The one that we are.
pub(crate) const SERVER_INFO: ServerInfo =
    ServerInfo { name: "toolroom", title: "Toolroom", version: toolroom_runtime::VERSION };

/// What is told to every client about how to use the tools.
pub(crate) const INSTRUCTIONS: &str = "Tools answer with data and agentHints: suggested next actions, \
     warnings, and how sure they are. search-tools finds a tool by what it does; describe-tool shows its \
     contract. An error says what to change and whether a retry can help. Where a person must agree, make the \
     same call again once they have.";

/// What we can do, for clients of that revision. Nothing is declared that is not served.
pub(crate) fn capabilities(revision: Revision) -> Value {
    let mut able = json!({
        "tools": { "listChanged": true },
        "prompts": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true },
    });
    if revision.has_completions() {
        able["completions"] = json!({});
    }
    if revision.is_stateless() {
        able["extensions"] = json!({ TASKS_EXTENSION: {} });
    } else {
        able["logging"] = json!({});
    }
    able
}
