//! What every route can reach: the runtime, the registrar, the keys, the folder of the journal.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolroom_agent::{Chat, ChatSettings, Models};
use toolroom_runtime::Runtime;
use toolroom_runtime::federation::{Federation, Told, mapped};
use toolroom_runtime::journal::figures::Figures;
use toolroom_runtime::journal::{JournalError, Reader, SharedLog};
use toolroom_runtime::profile_file::ProfileFile;
use toolroom_runtime::registrar::Registrar;

use crate::api::home::ModelState;
use crate::api::sealed_cursor::SealedCursors;
use crate::auth::Auth;
use crate::events::Events;
use crate::home_info::HomeInfo;
use crate::log_reads::{LogFailure, LogReads};
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
    /// The home, where there is one.
    pub home: Option<HomeInfo>,
    /// The last look at the model behind the chat, and when that was.
    pub(crate) model_state: tokio::sync::Mutex<Option<(Instant, ModelState)>>,
    /// The log of all processes, where several share the database.
    pub shared_log: Option<Arc<SharedLog>>,
    /// What was counted in the journal.
    pub(crate) figures: Arc<Figures>,
    log_reads: LogReads,
    /// Cancelled when the server is about to stop: it is not ready any more, and serves on for a while.
    pub draining: CancellationToken,
    /// Cancelled when the server stops, so that long streams end in good order.
    pub stopping: CancellationToken,
    /// Connections that were upgraded from HTTP; they end when the server stops.
    pub handed_over: TaskTracker,
    /// What happens, for those who watch.
    pub(crate) events: Events,
    /// What the MCP edge keeps between requests.
    pub(crate) mcp: Mcp,
    /// Cursors of the log for those who do not see all of it.
    pub(crate) cursors: SealedCursors,
}

/// What is rung whenever a person has decided something.
pub(crate) const DECIDED: &str = "decided";

impl App {
    /// Calls that wait for a decision look again, at whichever server they wait.
    pub(crate) fn ring_decided(&self) {
        self.runtime.store.ring(DECIDED, "");
    }

    /// The state around a runtime and its registrar, to be completed.
    pub fn builder(runtime: Arc<Runtime>, registrar: Arc<Registrar>, logs: PathBuf) -> AppBuilder {
        AppBuilder {
            runtime,
            registrar,
            logs,
            mcp: McpSettings::default(),
            federation: None,
            profiles: None,
            chat: None,
            home: None,
            shared_log: None,
        }
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

    /// A reader of the journal that this process writes, or of that of all that share the database.
    pub async fn journal_reader(&self) -> Reader {
        match &self.shared_log {
            Some(log) => log.reader().await,
            None => Reader::new(&self.logs, Some(self.runtime.journal.run())),
        }
    }

    /// Reads the journal for a request.
    pub(crate) async fn read_log<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, LogFailure> {
        self.log_reads.run(self.journal_reader().await, read).await
    }
}

/// An [`App`] before it is built. What is not given is as small as can be: no other servers, an offline chat.
pub struct AppBuilder {
    runtime: Arc<Runtime>,
    registrar: Arc<Registrar>,
    logs: PathBuf,
    mcp: McpSettings,
    federation: Option<Arc<Federation>>,
    profiles: Option<Arc<ProfileFile>>,
    chat: Option<Chat>,
    home: Option<HomeInfo>,
    shared_log: Option<Arc<SharedLog>>,
}

impl AppBuilder {
    /// The home that the server runs in.
    pub fn home(self, home: HomeInfo) -> Self {
        Self { home: Some(home), ..self }
    }

    /// The log of all processes that share the database.
    pub fn shared_log(self, shared_log: Option<Arc<SharedLog>>) -> Self {
        Self { shared_log, ..self }
    }

    /// Limits for clients of MCP.
    pub fn mcp(self, mcp: McpSettings) -> Self {
        Self { mcp, ..self }
    }

    /// The servers of `mcp.json`.
    pub fn federation(self, federation: Arc<Federation>) -> Self {
        Self { federation: Some(federation), ..self }
    }

    /// The profiles of the home's owner.
    pub fn profiles(self, profiles: Arc<ProfileFile>) -> Self {
        Self { profiles: Some(profiles), ..self }
    }

    /// A chat that was set up before.
    pub fn chat(self, chat: Chat) -> Self {
        Self { chat: Some(chat), ..self }
    }

    /// The state.
    pub fn build(self) -> Arc<App> {
        let Self { runtime, registrar, logs, mcp, federation, profiles, chat, home, shared_log } = self;
        let offline = || Chat::new(Arc::clone(&runtime), Models::offline(), ChatSettings::default());
        Arc::new(App {
            cursors: SealedCursors::default(),
            chat: chat.unwrap_or_else(offline),
            auth: Auth::new(Arc::clone(&runtime), logs.with_file_name("keyed")),
            federation: federation.unwrap_or_else(|| Federation::none(&runtime)),
            profiles: profiles.unwrap_or_else(|| ProfileFile::none(&runtime)),
            home,
            model_state: Default::default(),
            figures: Arc::new(Figures::new(shared_log.as_ref().map_or(logs.as_path(), |log| log.folder()))),
            shared_log,
            log_reads: LogReads::default(),
            runtime,
            registrar,
            logs,
            draining: CancellationToken::new(),
            stopping: CancellationToken::new(),
            handed_over: TaskTracker::new(),
            events: Events::default(),
            mcp: Mcp::new(mcp),
        })
    }
}
