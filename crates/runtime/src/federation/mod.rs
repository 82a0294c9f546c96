//! The one queue for `mcp.json`, and the servers that it names: their tools are part of the catalogue.
//!
//! | file | what is there |
//! | --- | --- |
//! | `change` | one change of the file: checked whole, written, then visible |
//! | `file` | the file as text |
//! | `server` | one server, looked after in the background |
//! | `pending_review`, `catalogue_sync` | from a server's list to the catalogue |
//! | `approved` | the definitions that a person approved |
//! | `review` | a look at the list before anything is sent |
//! | `approval` | what waits for review, approved by its hash |
//! | `alert` | tells that a definition waits for review |
//! | `tool` | a call, passed on |
//! | `bridge` | questions in the middle of a call, between any two revisions |
//! | `offers`, `reading` | resources and prompts, and the tools that make them usable |
//! | `view` | a server as people see it, without its secrets |
//! | `login` | a token that a person gives |
//! | `news` | tells of changes |

mod alert;
mod approval;
mod approved;
mod bridge;
mod catalogue_sync;
mod change;
mod error;
mod file;
mod login;
mod news;
mod pending_review;
mod remote_resources;
mod resource_tool;
mod review;
mod server;
mod tool;
mod view;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use tokio::sync::{OwnedMutexGuard, broadcast};
use toolroom_upstream::{Identity, SpawnEnv, TokenFolder};

use crate::Runtime;
use crate::registry_file::watch::{self, Scope};
use crate::registry_file::{Disk, FileProblem, RealDisk, Watch, disk};
use approved::ApprovedDefinitions;
use change::State;
use news::News;
use server::ServerDeps;

pub use change::By;
pub use error::ServerError;
pub use file::{Environment, read, text};
pub use login::{LoginState, LoginView};
pub use news::Told;
pub use pending_review::{Seen, SeenTool, ToolStanding};
pub use remote_resources::{RemoteResources, mapped, prompt_names, unmapped};
pub use resource_tool::ResourceTool;
pub use server::Server;
pub use tool::Federated;
pub use toolroom_upstream::{RemoteResource, RemoteTemplate};
pub use view::{ServerState, ServerView, ToolView, Unavailable};

/// What a federation is made of.
pub struct Setup {
    /// `mcp.json`.
    pub file: PathBuf,
    /// Where the definitions are kept that were approved.
    pub approved: PathBuf,
    /// The catalogue that the tools go into.
    pub runtime: Arc<Runtime>,
    /// What programs find around them.
    pub spawn_env: SpawnEnv,
    /// Where the variables of entries come from.
    pub environment: Arc<Environment>,
    /// What is written to; [`RealDisk`] unless a test says otherwise.
    pub disk: Arc<dyn Disk>,
}

impl Setup {
    /// The files of a home in this folder, with the environment of this process.
    pub fn in_folder(folder: &std::path::Path, runtime: &Arc<Runtime>) -> Self {
        Self {
            file: folder.join("mcp.json"),
            approved: folder.join("mcp.approved.json"),
            runtime: Arc::clone(runtime),
            spawn_env: SpawnEnv {
                tokens: Some(Arc::new(TokenFolder::new(folder.join("logins")))),
                ..SpawnEnv::of_this_process(folder)
            },
            environment: Arc::new(|name: &str| std::env::var(name).ok()),
            disk: Arc::new(RealDisk),
        }
    }
}

/// Keeps `mcp.json`, the servers and the catalogue the same.
pub struct Federation {
    file: PathBuf,
    disk: Arc<dyn Disk>,
    environment: Arc<Environment>,
    deps: ServerDeps,
    runtime: Arc<Runtime>,
    servers: ArcSwap<BTreeMap<String, Arc<Server>>>,
    /// The queue: whoever holds it makes a change. Waiters get it in the order in which they came.
    state: Arc<tokio::sync::Mutex<State>>,
    trouble: Mutex<Option<FileProblem>>,
    /// Whether servers are started as they come.
    running: std::sync::atomic::AtomicBool,
}

impl Federation {
    /// Reads the file. What was approved of its servers earlier is in the catalogue at once; nothing is started.
    pub fn open(setup: Setup) -> Result<Arc<Self>, FileProblem> {
        let Setup { file, approved, runtime, spawn_env, environment, disk } = setup;
        if let Some(folder) = file.parent() {
            disk::clear_unfinished(folder);
        }
        let text = file::text(&file)?;
        let entries = file::read(&file, &text, &*environment)?;
        let deps = ServerDeps {
            approved: Arc::new(ApprovedDefinitions::open(approved, Arc::clone(&disk))?),
            runtime: Arc::downgrade(&runtime),
            identity: Arc::new(Identity::toolroom()),
            spawn_env,
            news: Arc::<News>::default(),
        };
        let federation = Arc::new(Self {
            file,
            disk,
            environment,
            deps,
            runtime,
            servers: ArcSwap::default(),
            state: Arc::default(),
            trouble: Mutex::new(None),
            running: std::sync::atomic::AtomicBool::new(false),
        });
        if let Ok(mut state) = federation.state.try_lock() {
            federation.put_in_force(&mut state, text, entries);
        }
        Ok(federation)
    }

    /// No servers, and no file to add one to.
    pub fn none(runtime: &Arc<Runtime>) -> Arc<Self> {
        let (runtime, disk) = (Arc::clone(runtime), Arc::new(RealDisk));
        let book = ApprovedDefinitions::empty(Arc::clone(&disk) as Arc<dyn Disk>);
        Arc::new(Self {
            file: PathBuf::from("mcp.json"),
            disk,
            environment: Arc::new(|_: &str| None),
            deps: ServerDeps {
                approved: Arc::new(book),
                runtime: Arc::downgrade(&runtime),
                identity: Arc::new(Identity::toolroom()),
                spawn_env: SpawnEnv::default(),
                news: Arc::<News>::default(),
            },
            runtime,
            servers: ArcSwap::default(),
            state: Arc::default(),
            trouble: Mutex::new(None),
            running: std::sync::atomic::AtomicBool::new(false),
        })
    }

    /// Starts every server in the background, and from now on each that comes.
    pub fn start(&self) {
        self.running.store(true, std::sync::atomic::Ordering::Release);
        for server in self.servers.load().values() {
            server.start();
        }
    }

    /// The servers that are on and were never seen before.
    pub fn unmet(&self) -> Vec<String> {
        let servers = self.servers.load();
        servers
            .values()
            .filter(|server| self.is_unmet(server))
            .map(|server| server.name().to_owned())
            .collect()
    }

    fn is_unmet(&self, server: &Server) -> bool {
        server.upstream().is_some() && self.deps.approved.of(server.name()).is_none()
    }

    /// Starts those servers that were never seen before, and waits a while for what they have; whether there were any.
    pub async fn meet(&self, patience: Duration) -> bool {
        let servers = self.servers.load_full();
        let new: Vec<&Arc<Server>> = servers.values().filter(|server| self.is_unmet(server)).collect();
        let settled = join_all(new.iter().map(|server| server.settled()));
        // Whoever is slower comes later.
        let _ = tokio::time::timeout(patience, settled).await;
        !new.is_empty()
    }

    /// The servers, by name.
    pub fn servers(&self) -> Arc<BTreeMap<String, Arc<Server>>> {
        self.servers.load_full()
    }

    /// A server, by its name or the one under which it is published.
    pub fn server(&self, name: &str) -> Option<Arc<Server>> {
        let servers = self.servers.load();
        let found = servers.get(name).or_else(|| servers.values().find(|server| server.published() == name));
        found.cloned()
    }

    /// The servers that cannot be used now, and why, in words that anybody may read.
    pub fn unavailable(&self) -> Vec<Unavailable> {
        let servers = self.servers.load();
        let trouble = |server: &Arc<Server>| {
            let reason = server.plain_trouble()?;
            Some(Unavailable { server: server.name().to_owned(), state: server.state(), reason })
        };
        servers.values().filter_map(trouble).collect()
    }

    /// What is wrong with the file on the disk, while what was read before is in force.
    pub fn trouble(&self) -> Option<String> {
        let problem = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        problem.as_ref().map(|problem| format!("{problem}. {}", problem.remedy))
    }

    /// Takes up edits of the file as they are made, for as long as the watch is kept.
    pub fn watch(self: &Arc<Self>) -> Watch {
        let me = Arc::downgrade(self);
        // The database and its log are beside it.
        watch::watch(&self.file, Scope::File, move || {
            let me = me.upgrade()?;
            // A bad edit is told in the log and as trouble.
            Some(async move { drop(me.refresh().await) })
        })
    }

    /// Tells when something has changed, with the server's name.
    pub fn news(&self) -> broadcast::Receiver<(Arc<str>, Told)> {
        self.deps.news.listen()
    }

    /// Ends every server, and waits until nothing of them is left.
    pub async fn shutdown(&self) {
        let servers = self.servers.load_full();
        join_all(servers.values().map(|server| server.shutdown())).await;
    }

    fn set_trouble(&self, problem: Option<FileProblem>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    /// Makes a change when it is its turn. It is carried to its end even if nobody waits for it any more.
    async fn in_turn<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl FnOnce(&Self, &mut State) -> Result<T, ServerError> + Send + 'static,
    ) -> Result<T, ServerError> {
        let mut turn: OwnedMutexGuard<State> = Arc::clone(&self.state).lock_owned().await;
        let (me, here) = (Arc::clone(self), tokio::runtime::Handle::current());
        let made = tokio::task::spawn_blocking(move || {
            // Servers are started on the way.
            let _here = here.enter();
            change(&me, &mut turn)
        });
        made.await.unwrap_or_else(|error| Err(ServerError::Internal(error.to_string())))
    }
}
