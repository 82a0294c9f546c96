//! What every route can reach: the runtime, the registrar, the keys, the folder of the journal.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolroom_agent::{Chat, ChatSettings, Models};
use toolroom_runtime::Runtime;
use toolroom_runtime::federation::{Federation, Told, mapped};
use toolroom_runtime::journal::Reader;
use toolroom_runtime::profile_file::ProfileFile;
use toolroom_runtime::registrar::Registrar;

use crate::auth::Auth;
use crate::mcp::sources::{News, Source};
use crate::mcp::{Mcp, McpSettings};

/// The state behind the router.
pub struct App {
    /// Tools, store, journal, metrics.
    pub runtime: Arc<Runtime>,
    /// What changes `tools.json`.
    pub registrar: Arc<Registrar>,
    /// The servers of `mcp.json`.
    pub federation: Arc<Federation>,
    /// The profiles of `profiles.json`.
    pub profiles: Arc<ProfileFile>,
    /// Conversations.
    pub chat: Chat,
    /// Who is who.
    pub auth: Auth,
    /// The folder of the journal's files.
    pub logs: PathBuf,
    /// Rings whenever a person has decided something.
    pub decided: Notify,
    /// Cancelled when the server stops, so that long streams end in good order.
    pub stopping: CancellationToken,
    /// Connections that were upgraded from HTTP; they end when the server stops.
    pub handed_over: TaskTracker,
    /// What the MCP edge keeps between requests.
    pub(crate) mcp: Mcp,
}

impl App {
    /// The state around a runtime and its registrar.
    pub fn new(runtime: Arc<Runtime>, registrar: Arc<Registrar>, logs: PathBuf) -> Arc<Self> {
        Self::with_mcp(runtime, registrar, logs, McpSettings::default())
    }

    /// The same, with these limits for clients of MCP.
    pub fn with_mcp(
        runtime: Arc<Runtime>,
        registrar: Arc<Registrar>,
        logs: PathBuf,
        mcp: McpSettings,
    ) -> Arc<Self> {
        let federation = Federation::none(&runtime);
        Self::with_servers(runtime, registrar, federation, logs, mcp)
    }

    /// The same, with other MCP servers.
    pub fn with_servers(
        runtime: Arc<Runtime>,
        registrar: Arc<Registrar>,
        federation: Arc<Federation>,
        logs: PathBuf,
        mcp: McpSettings,
    ) -> Arc<Self> {
        let chat = Chat::new(Arc::clone(&runtime), Models::offline(), ChatSettings::default());
        let profiles = ProfileFile::none(&runtime);
        Self::with_chat(runtime, registrar, federation, profiles, logs, mcp, chat)
    }

    /// The same, with a chat that was set up before.
    pub fn with_chat(
        runtime: Arc<Runtime>,
        registrar: Arc<Registrar>,
        federation: Arc<Federation>,
        profiles: Arc<ProfileFile>,
        logs: PathBuf,
        mcp: McpSettings,
        chat: Chat,
    ) -> Arc<Self> {
        Arc::new(Self {
            chat,
            auth: Auth::new(Arc::clone(&runtime), logs.with_file_name("keyed")),
            runtime,
            registrar,
            federation,
            profiles,
            logs,
            decided: Notify::new(),
            stopping: CancellationToken::new(),
            handed_over: TaskTracker::new(),
            mcp: Mcp::new(mcp),
        })
    }

    /// One more source of resources and prompts for clients of MCP.
    pub fn add_mcp_source(&self, source: &Arc<dyn Source>) {
        self.mcp.sources.add(source);
    }

    /// Something has changed in such a source.
    pub fn tell_mcp(&self, news: News) {
        self.mcp.sources.tell(news);
    }

    /// Forwards changes of other servers to MCP clients from now on.
    pub fn follow_servers(self: &Arc<Self>) {
        let (me, mut news) = (Arc::downgrade(self), self.federation.news());
        tokio::spawn(async move {
            loop {
                let told = match news.recv().await {
                    Ok((server, Told::Resource(uri))) => News::Resource(mapped(&server, &uri).into()),
                    // Who has missed something compares everything.
                    Ok((_, Told::Lists)) | Err(RecvError::Lagged(_)) => News::Lists,
                    Err(RecvError::Closed) => return,
                };
                let Some(me) = me.upgrade() else { return };
                me.tell_mcp(told);
            }
        });
    }

    /// A reader of the journal that this process writes.
    pub fn journal_reader(&self) -> Reader {
        Reader::new(&self.logs, Some(self.runtime.journal.run()))
    }
}
