//! `server/discover`: which revisions we speak, and what we can do.

use serde::Serialize;
use serde_json::{Value, json};

use crate::mcp::jobs::EXTENSION;
use crate::mcp::request::Request;
use crate::mcp::result;
use toolroom_mcp::{Revision, RpcError};

/// How long a client may rely on the answer: it changes only with the release.
const TTL_MS: u64 = 300_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Discovered {
    supported_versions: Vec<&'static str>,
    capabilities: Value,
    instructions: &'static str,
    ttl_ms: u64,
    cache_scope: &'static str,
}

pub(crate) fn answer(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let revision = request.client.revision;
    let found = Discovered {
        supported_versions: Revision::STATELESS.iter().map(|revision| revision.as_str()).collect(),
        capabilities: capabilities(revision),
        instructions: INSTRUCTIONS,
        ttl_ms: TTL_MS,
        cache_scope: "private",
    };
    Ok(result::complete(revision, &found))
}

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
        able["extensions"] = json!({ EXTENSION: {} });
    } else {
        able["logging"] = json!({});
    }
    able
}
