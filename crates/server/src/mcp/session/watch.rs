//! What a client is told unasked: that its lists have changed, or a resource that it watches.

use std::sync::Arc;

use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use toolroom_mcp::method::notification;

use super::{Conversation, Session, held};
use crate::app::App;
use crate::mcp::caller::Caller;
use crate::mcp::change_detection::{Seen, Told};
use crate::mcp::write::tool_list;

/// Notifications with hardly anything to say.
#[derive(Serialize)]
struct About<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
}

/// Tells the client of changes until it leaves, the session ends or the server stops. What changed in its list of
/// tools while nobody listened is told first.
pub(crate) async fn watch(conversation: Conversation, replaced: CancellationToken) {
    let Conversation { app, session, caller, peer } = conversation;
    let mut changes = app.runtime.registry.changes();
    let mut news = app.mcp.sources.listen();
    let visitor = caller.visitor(&app);
    let mut seen = Seen::now(visitor, &session.watched()).await;
    let mut told: Vec<Told> = Vec::new();
    loop {
        if has_changed(&app, &session, &caller)
            && !peer.notify(notification::TOOLS_CHANGED, &About { uri: None }).await
        {
            return;
        }
        for told in &told {
            if !peer.notify(told.method(), &About { uri: told.uri() }).await {
                return;
            }
        }
        told = tokio::select! {
            changed = changes.changed() => match changed {
                Ok(()) => seen.update(visitor, &session.watched()).await,
                Err(_) => return,
            },
            heard = news.recv() => match heard {
                Ok(news) => seen.hear(Some(news), visitor, &session.watched()).await,
                Err(RecvError::Lagged(_)) => seen.hear(None, visitor, &session.watched()).await,
                Err(RecvError::Closed) => return,
            },
            () = replaced.cancelled() => return,
            () = session.ended.cancelled() => return,
            () = app.stopping.cancelled() => return,
        };
    }
}

/// The client has just met us: what there is now is not news.
pub(crate) fn remember_shown(app: &Arc<App>, session: &Session, caller: &Caller) {
    has_changed(app, session, caller);
}

/// Whether the client's own list is another than it was told last. A change that it does not see is none.
fn has_changed(app: &Arc<App>, session: &Session, caller: &Caller) -> bool {
    let Some(client) = session.client() else { return false };
    let Ok(now) = tool_list::fingerprint(app, caller, client.revision) else { return false };
    let before = held(&session.told).replace(now);
    before.is_some_and(|before| before != now)
}
