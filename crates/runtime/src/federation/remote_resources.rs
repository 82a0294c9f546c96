//! What a server has beside tools: resources, templates of them, and prompts, as they were last listed.

use std::sync::Arc;

use toolroom_contract::ToolError;
use toolroom_upstream::names::federated;
use toolroom_upstream::{Completing, RemotePrompt, RemoteResource, RemoteTemplate, Upstream, UpstreamError};

use super::server::Server;

/// What a server has beside tools.
#[derive(Default)]
pub struct RemoteResources {
    /// What can be read.
    pub resources: Vec<RemoteResource>,
    /// Families of what can be read.
    pub templates: Vec<RemoteTemplate>,
    /// What people pick.
    pub prompts: Vec<RemotePrompt>,
}

/// Which lists are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lists {
    pub(super) resources: bool,
    pub(super) prompts: bool,
}

impl Lists {
    pub(super) const ALL: Self = Self { resources: true, prompts: true };
}

impl Server {
    /// What it has beside tools, as it was last listed.
    pub fn remote_resources(&self) -> Arc<RemoteResources> {
        // Before a person has looked at the server, nothing that it says is passed on.
        if self.seen.load().unreviewed { Arc::default() } else { self.remote_resources.load_full() }
    }

    /// The same, read now if that was never done: no server must be running for that.
    pub(super) async fn resources_read(
        &self,
        upstream: &Upstream,
    ) -> Result<Arc<RemoteResources>, UpstreamError> {
        if !self.has_read_offers() {
            self.read_offers(upstream, Lists { resources: true, prompts: false }).await?;
        }
        Ok(self.remote_resources())
    }

    /// Has changes of a resource told from now on; false if it has no such resource.
    pub fn follow(&self, uri: &str) -> bool {
        let begins = |template: &str| {
            let fixed = template.split('{').next().unwrap_or_default();
            !fixed.is_empty() && uri.starts_with(fixed)
        };
        let remote_resources = self.remote_resources.load();
        let known = remote_resources.resources.iter().any(|one| one.uri == uri)
            || remote_resources.templates.iter().any(|one| begins(&one.uri_template));
        known && self.upstream.as_ref().is_some_and(|upstream| upstream.follow(uri))
    }

    /// What an argument of one of its prompts or templates could be; `None` while the server is switched off.
    pub async fn complete(&self, asked: Completing<'_>) -> Result<Option<Vec<String>>, ToolError> {
        let Some(upstream) = self.upstream() else { return Ok(None) };
        let completed = upstream.complete(asked).await;
        completed.map(Some).map_err(|error| error.into_tool_error(self.name()))
    }

    /// Reads these lists. One that cannot be read stays as it was; the last failure is told.
    pub(super) async fn read_offers(&self, upstream: &Upstream, lists: Lists) -> Result<(), UpstreamError> {
        let (mut resources, mut templates, mut prompts) = (None, None, None);
        let mut failed = Ok(());
        let mut unread = |what: &str, error: UpstreamError| {
            tracing::warn!(server = self.name(), what, reason = %error, "a list of a server could not be read");
            failed = Err(error);
        };
        if lists.resources {
            match upstream.list().await {
                Ok(listing) => resources = Some(listing.items),
                Err(error) => unread("resources", error),
            }
            match upstream.list().await {
                Ok(listing) => templates = Some(listing.items),
                Err(error) => unread("resource templates", error),
            }
        }
        if lists.prompts {
            match upstream.list().await {
                Ok(listing) => prompts = Some(listing.items),
                Err(error) => unread("prompts", error),
            }
        }
        // Only what was read is replaced: another reading may have ended meanwhile.
        self.remote_resources.rcu(|now| RemoteResources {
            resources: resources.clone().unwrap_or_else(|| now.resources.clone()),
            templates: templates.clone().unwrap_or_else(|| now.templates.clone()),
            prompts: prompts.clone().unwrap_or_else(|| now.prompts.clone()),
        });
        failed
    }
}

/// Where the resources of servers stand among ours; the server's own address follows its name.
const PREFIX: &str = "toolroom://servers/";

/// The address under which a server's resource, or template, is shown. It can still be filled in.
pub fn mapped(server: &str, uri: &str) -> String {
    format!("{PREFIX}{server}/{uri}")
}

/// The server and its own address behind one that is shown.
pub fn unmapped(uri: &str) -> Option<(&str, &str)> {
    uri.strip_prefix(PREFIX)?.split_once('/')
}

/// The names under which a server's prompts are shown, in their order.
pub fn prompt_names(server: &Server, remote_resources: &RemoteResources) -> Vec<String> {
    let prefix = server.config().map_or(server.published(), |config| config.name_prefix());
    federated(prefix, remote_resources.prompts.iter().map(|prompt| prompt.name.as_str()))
}
