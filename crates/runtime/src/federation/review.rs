//! What a server lists is compared before a call of it is sent, also before it is sent again.

use std::sync::Arc;

use toolroom_upstream::{Listing, RemoteTool, Review, Reviewing, Upstream, UpstreamError};

use super::pending_review::ToolStanding;
use super::server::Server;

/// Compares what a server lists; with a tool, whether that one may be called.
pub(super) struct Reviewer {
    server: Arc<Server>,
    tool: Option<(String, String)>,
}

impl Review for Reviewer {
    fn listed(&self, listing: Listing<RemoteTool>) -> Reviewing<'_> {
        Box::pin(self.server.take_listing(listing))
    }

    fn permits(&self) -> bool {
        self.tool.as_ref().is_none_or(|(remote, hash)| self.server.is_open(remote, hash))
    }
}

impl Server {
    /// Compares before this tool is called, with the definition of that hash.
    pub(super) fn reviewer(self: &Arc<Self>, remote: &str, hash: &str) -> Arc<dyn Review> {
        let tool = Some((remote.to_owned(), hash.to_owned()));
        Arc::new(Reviewer { server: Arc::clone(self), tool })
    }

    /// Has its tools compared with those that were approved, unless that was done and still holds.
    pub(super) async fn reviewed(self: &Arc<Self>) -> Result<(), UpstreamError> {
        let reviewer = Reviewer { server: Arc::clone(self), tool: None };
        self.reachable()?.review(&reviewer).await
    }

    /// The same, whatever was done before.
    pub(super) async fn reviewed_again(self: &Arc<Self>) -> Result<(), UpstreamError> {
        self.reachable()?.expect_changes();
        self.reviewed().await
    }

    /// The client, or why there is none.
    pub(super) fn reachable(&self) -> Result<&Upstream, UpstreamError> {
        let off = || UpstreamError::Unavailable { reason: self.off(), retry_after: None };
        self.upstream.as_ref().ok_or_else(off)
    }

    async fn take_listing(self: &Arc<Self>, listing: Listing<RemoteTool>) -> Result<(), String> {
        let me = Arc::clone(self);
        let taken = tokio::task::spawn_blocking(move || me.take_in(listing.items, listing.incomplete)).await;
        let taken = taken.unwrap_or_else(|_| Err("it is being shut down".to_owned()));
        self.note_listing(taken.as_ref().err().cloned());
        taken
    }

    /// Whether a tool is as it was approved, with that hash.
    fn is_open(&self, remote: &str, hash: &str) -> bool {
        let seen = self.seen.load();
        seen.tools.get(remote).is_some_and(|tool| tool.standing == ToolStanding::Open && tool.hash == hash)
    }
}
