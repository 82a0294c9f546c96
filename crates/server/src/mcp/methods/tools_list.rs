//! `tools/list`: the tools that the caller may use, page by page.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolroom_mcp::RpcError;
use toolroom_mcp::content::COMPLETE;
use toolroom_runtime::federation::Unavailable;

use crate::api::servers;
use crate::mcp::read::request::Request;
use crate::mcp::write::result;

/// Tools on one page. Clients that do not page should still see a whole catalogue of usual size.
const PAGE: usize = 200;
/// How long a client may rely on a list. Short, because not every client listens for changes.
const TTL_MS: u64 = 5_000;

#[derive(Deserialize)]
struct Params {
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize)]
struct Meta {
    /// Servers whose tools are missing from the list.
    #[serde(rename = "dev.toolroom/unavailable", skip_serializing_if = "Vec::is_empty")]
    unavailable: Vec<Unavailable>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    tools: Vec<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<&'static str>,
}

pub(crate) fn answer(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let Params { cursor } = request.params()?;
    let revision = request.client.revision;
    let listing = request.app.mcp.listings.of(request.app, request.caller, revision)?;
    let start = match cursor {
        None => 0,
        Some(cursor) => listing
            .after(&cursor)
            .ok_or_else(|| RpcError::invalid_params("The cursor is not one of this list."))?,
    };
    let page = &listing.tools[start..listing.tools.len().min(start + PAGE)];
    let more = start + page.len() < listing.tools.len();
    let hints = revision.has_cache_hints();
    let body = Page {
        next_cursor: page.last().filter(|_| more).map(|last| listing.cursor(last)),
        tools: page.iter().map(|tool| &*tool.text).collect(),
        ttl_ms: hints.then_some(TTL_MS),
        cache_scope: hints.then_some("private"),
    };
    let unavailable = servers::unavailable(request.app, &request.caller.principal);
    Ok(result::write(revision, COMPLETE, &Meta { unavailable }, &body))
}
