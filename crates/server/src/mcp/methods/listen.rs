//! `subscriptions/listen`: changes of the lists, of resources and of deferred calls, as long as the client listens.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;
use toolroom_mcp::content::COMPLETE;
use toolroom_mcp::method::notification;
use toolroom_mcp::{Id, RpcError};

use crate::mcp::change_detection::{Seen, Told};
use crate::mcp::jobs::{self, EXTENSION, Snapshot};
use crate::mcp::read::request::Request;
use crate::mcp::sources::News;
use crate::mcp::write::result::{self, Nothing};
use crate::mcp::write::tool_list;

/// The most resources, and the most deferred calls, of one listener.
const MOST: usize = 1_000;

#[derive(Deserialize)]
struct Params {
    notifications: Wanted,
}

/// What a client wants to hear of, and what it is granted. Other kinds are left out of the grant.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    tools_list_changed: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    prompts_list_changed: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    resources_list_changed: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    resource_subscriptions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    task_ids: Vec<String>,
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
    notifications: &'a Wanted,
}

#[derive(Serialize)]
struct Changed<'a> {
    #[serde(rename = "_meta")]
    meta: Subscription<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    task: Option<Snapshot>,
}

pub(crate) async fn answer(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let Params { notifications } = request.params()?;
    let wanted = granted(request, notifications).await;
    let mut listener = Listener::new(request, wanted).await?;
    listener.listen().await?;
    let subscription = listener.meta();
    Ok(result::write(request.client.revision, COMPLETE, &subscription, &Nothing {}))
}

/// What of it can be told at all.
async fn granted(request: &Request<'_>, mut wanted: Wanted) -> Wanted {
    let sources = &request.app.mcp.sources;
    wanted.resource_subscriptions.truncate(MOST);
    wanted.resource_subscriptions.retain(|uri| sources.watches(request.visitor(), uri));
    let mut named = std::mem::take(&mut wanted.task_ids);
    named.truncate(MOST);
    if request.client.capabilities.has_extension(EXTENSION) {
        for id in named {
            if jobs::snapshot(request, &id).await.is_ok() {
                wanted.task_ids.push(id);
            }
        }
    }
    wanted
}

struct Listener<'a> {
    request: &'a Request<'a>,
    wanted: Wanted,
    tools: blake3::Hash,
    seen: Seen,
}

impl<'a> Listener<'a> {
    async fn new(request: &'a Request<'a>, wanted: Wanted) -> Result<Self, RpcError> {
        let tools = tool_list::fingerprint(request.app, request.caller, request.client.revision)?;
        let seen = Seen::now(request.visitor(), &wanted.resource_subscriptions).await;
        Ok(Self { request, wanted, tools, seen })
    }

    /// Until the client leaves or the server stops.
    async fn listen(&mut self) -> Result<(), RpcError> {
        let app = self.request.app;
        // Other servers tell of the calls that they make.
        let _mail = (!self.wanted.task_ids.is_empty()).then(|| app.mcp.expect_mail(app)).flatten();
        let mut changes = app.runtime.registry.changes();
        let mut news = app.mcp.sources.listen();
        let acknowledged = Acknowledged { meta: self.meta(), notifications: &self.wanted };
        let mut there = self.request.peer.notify(notification::SUBSCRIBED, &acknowledged).await;
        // What ended before anybody listened is told at once.
        for id in self.wanted.task_ids.clone() {
            there = there && self.tell_task(&id).await;
        }
        while there {
            there = tokio::select! {
                changed = changes.changed() => changed.is_ok() && self.catalogue_changed().await?,
                heard = news.recv() => match heard {
                    Ok(news) => self.heard(Some(news)).await,
                    Err(RecvError::Lagged(_)) => self.heard(None).await,
                    Err(RecvError::Closed) => false,
                },
                () = app.stopping.cancelled() => false,
            };
        }
        Ok(())
    }

    fn meta(&self) -> Subscription<'a> {
        Subscription { id: self.request.id }
    }

    async fn catalogue_changed(&mut self) -> Result<bool, RpcError> {
        let Request { app, caller, client, peer, .. } = self.request;
        let now = tool_list::fingerprint(app, caller, client.revision)?;
        // A change that this caller does not see is none.
        if std::mem::replace(&mut self.tools, now) != now && self.wanted.tools_list_changed {
            let changed = Changed { meta: self.meta(), uri: None, task: None };
            if !peer.notify(notification::TOOLS_CHANGED, &changed).await {
                return Ok(false);
            }
        }
        let told = self.seen.update(self.request.visitor(), &self.wanted.resource_subscriptions).await;
        Ok(self.tell(told).await)
    }

    async fn heard(&mut self, news: Option<News>) -> bool {
        if let Some(News::Task(id)) = &news {
            let theirs = self.wanted.task_ids.iter().any(|wanted| **wanted == **id);
            return !theirs || self.tell_task(&Arc::clone(id)).await;
        }
        let told = self.seen.hear(news, self.request.visitor(), &self.wanted.resource_subscriptions).await;
        self.tell(told).await
    }

    async fn tell(&self, told: Vec<Told>) -> bool {
        for told in told {
            let wanted = match &told {
                Told::Prompts => self.wanted.prompts_list_changed,
                Told::Resources => self.wanted.resources_list_changed,
                Told::Updated(_) => true,
            };
            let changed = Changed { meta: self.meta(), uri: told.uri(), task: None };
            if wanted && !self.request.peer.notify(told.method(), &changed).await {
                return false;
            }
        }
        true
    }

    async fn tell_task(&self, id: &str) -> bool {
        let Ok(task) = jobs::snapshot(self.request, id).await else { return true };
        let changed = Changed { meta: self.meta(), uri: None, task: Some(task) };
        self.request.peer.notify(notification::TASKS, &changed).await
    }
}
