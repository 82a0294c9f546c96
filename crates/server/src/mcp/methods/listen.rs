//! `subscriptions/listen`: changes of the lists, as long as the client listens.

use serde::{Deserialize, Serialize};

use crate::mcp::error::RpcError;
use crate::mcp::listing;
use crate::mcp::request::Request;
use crate::mcp::result;
use crate::mcp::wire::Id;

#[derive(Deserialize)]
struct Params {
    notifications: Wanted,
}

/// What a client wants to hear of, and what it is granted. Other kinds are left out of the grant.
#[derive(Clone, Copy, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    tools_list_changed: bool,
}

#[derive(Serialize)]
struct Subscription<'a> {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    id: &'a Id,
}

#[derive(Serialize)]
struct Acknowledged<'a> {
    #[serde(rename = "_meta")]
    meta: Subscription<'a>,
    notifications: Wanted,
}

#[derive(Serialize)]
struct Changed<'a> {
    #[serde(rename = "_meta")]
    meta: Subscription<'a>,
}

pub(crate) async fn answer(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let Params { notifications } = request.params()?;
    let mut changes = request.app.runtime.registry.changes();
    let meta = || Subscription { id: request.id };
    let acknowledged = Acknowledged { meta: meta(), notifications };
    let mut there = request.peer.notify("notifications/subscriptions/acknowledged", &acknowledged).await;
    let mut seen = shown(request)?;
    while there {
        let changed = tokio::select! {
            changed = changes.changed() => changed.is_ok(),
            () = request.app.stopping.cancelled() => false,
        };
        if !changed {
            break;
        }
        let now = shown(request)?;
        // A change that this caller does not see is none.
        if notifications.tools_list_changed && now != seen {
            let changed = Changed { meta: meta() };
            there = request.peer.notify("notifications/tools/list_changed", &changed).await;
        }
        seen = now;
    }
    let mut out = Vec::new();
    result::open(&mut out, request.client.revision, "complete", |out| {
        out.extend_from_slice(br#","io.modelcontextprotocol/subscriptionId":"#);
        crate::mcp::wire::write(out, request.id);
    });
    out.push(b'}');
    Ok(out)
}

/// The caller's own list, as a hash.
fn shown(request: &Request<'_>) -> Result<blake3::Hash, RpcError> {
    listing::fingerprint(request.app, request.caller, request.client.revision)
}
