//! Lists in pages: a cursor stands on the last item that was shown, so that it holds when others come and go.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};
use toolroom_mcp::{Revision, RpcError};

use crate::mcp::read::request::Request;

/// Items on one page. Clients that do not page should still see lists of usual size whole.
const PAGE: usize = 200;
/// How long a client may rely on a list.
const TTL_MS: u64 = 5_000;

/// How long something holds, and for whom; where the revision has that.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hints {
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<&'static str>,
}

impl Hints {
    pub(super) fn of(revision: Revision, ttl_ms: u64) -> Self {
        let hints = revision.has_cache_hints();
        Self { ttl_ms: hints.then_some(ttl_ms), cache_scope: hints.then_some("private") }
    }
}

/// What stands beside the items of a page.
#[derive(Serialize)]
pub(super) struct Paged {
    #[serde(rename = "nextCursor", skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(flatten)]
    hints: Hints,
}

#[derive(Deserialize)]
struct Params {
    #[serde(default)]
    cursor: Option<String>,
}

/// The page that the request asks for, of items in the order of their keys.
pub(super) fn page<'a, T>(
    request: &Request<'_>,
    all: &'a [T],
    key: impl Fn(&T) -> &str,
) -> Result<(&'a [T], Paged), RpcError> {
    let Params { cursor } = request.params()?;
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let last = BASE64.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            let last = last.ok_or_else(|| RpcError::invalid_params("The cursor is not one of this list."))?;
            all.partition_point(|item| key(item) <= last.as_str())
        }
    };
    let shown = &all[start..all.len().min(start + PAGE)];
    let more = start + shown.len() < all.len();
    let next_cursor = shown.last().filter(|_| more).map(|last| BASE64.encode(key(last)));
    Ok((shown, Paged { next_cursor, hints: Hints::of(request.client.revision, TTL_MS) }))
}
