//! What a client is told unasked: that its lists have changed.

use std::sync::Arc;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{Session, Talk, held};
use crate::app::App;
use crate::mcp::listing;
use crate::mcp::request::Caller;

/// Notifications without anything to say.
#[derive(Serialize)]
struct Nothing {}

/// Tells the client of changes until it leaves, the session ends or the server stops. What changed while nobody
/// listened is told first.
pub(crate) async fn watch(talk: Talk, replaced: CancellationToken) {
    let Talk { app, session, caller, peer } = talk;
    let mut changes = app.runtime.registry.changes();
    loop {
        if has_changed(&app, &session, &caller)
            && !peer.notify("notifications/tools/list_changed", &Nothing {}).await
        {
            return;
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = replaced.cancelled() => return,
            () = session.ended.cancelled() => return,
            () = app.stopping.cancelled() => return,
        }
    }
}

/// The client has just met us: what there is now is no news.
pub(crate) fn remember_shown(app: &Arc<App>, session: &Session, caller: &Caller) {
    has_changed(app, session, caller);
}

/// Whether the client's own list is another than it was told last. A change that it does not see is none.
fn has_changed(app: &Arc<App>, session: &Session, caller: &Caller) -> bool {
    let Some(client) = session.client() else { return false };
    let Ok(now) = listing::fingerprint(app, caller, client.revision) else { return false };
    let before = held(&session.told).replace(now);
    before.is_some_and(|before| before != now)
}
