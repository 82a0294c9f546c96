//! `server/discover`: which revisions we speak, and what we can do.

use serde::Serialize;
use serde_json::Value;
use toolroom_mcp::{Revision, RpcError};

use crate::mcp::read::request::Request;
use crate::mcp::write::introduction::{INSTRUCTIONS, capabilities};
use crate::mcp::write::result;

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
