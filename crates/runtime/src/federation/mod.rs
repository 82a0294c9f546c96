//! `mcp.json` and the servers that it names: their tools are part of the catalogue.
//!
//! | file | what is there |
//! | --- | --- |
//! | `change` | one change of the file: checked whole, written, then visible |
//! | `reload` | from the text of the file to servers |
//! | `file` | the file as text |
//! | `server` | one server, looked after in the background |
//! | `pending_review`, `catalogue_sync` | from a server's list to the catalogue |
//! | `approved` | the definitions that a person approved |
//! | `review` | a look at the list before anything is sent |
//! | `approval` | what waits for review, approved by its hash |
//! | `alert` | tells that a definition waits for review |
//! | `tool` | a call, passed on |
//! | `toolroom` | the same to a server that is a Toolroom too |
//! | `bridge` | questions in the middle of a call, between any two revisions |
//! | `parked_elsewhere` | the same where the call waits at another of several servers |
//! | `remote_resources`, `resource_tool` | resources and prompts, and the tools that make them usable |
//! | `view` | a server as people see it, without its secrets |
//! | `login` | a token that a person gives |
//! | `shared_logins` | tokens where servers share a database |
//! | `news` | reports changes |

mod alert;
mod approval;
mod approved;
mod bridge;
mod callback;
mod catalogue_sync;
mod change;
mod error;
mod file;
mod login;
mod news;
mod open_logins;
mod parked_elsewhere;
mod pending_review;
mod reload;
mod remote_resources;
mod resource_tool;
mod review;
mod server;
mod shared_logins;
mod tool;
mod toolroom;
mod view;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use tokio::sync::broadcast;
use toolroom_store::registry::Document;
use toolroom_upstream::{Identity, SpawnEnv, TokenFolder};

use crate::Runtime;
use crate::registry_file::{Disk, FileError, FileProblem, RealDisk, RegistryFile};
use approved::ApprovedDefinitions;
use news::News;
use server::ServerDeps;
use shared_logins::SharedLogins;

pub use callback::{CameBack, PATH as CALLBACK};
pub use change::By;
pub use error::ServerError;
pub use file::{Environment, read, text};
pub use login::{LoginState, LoginView};
pub use news::Told;
pub use pending_review::{Seen, SeenTool, ToolStanding};
pub use remote_resources::{RemoteResources, mapped, prompt_names, unmapped};
pub use resource_tool::ResourceTool;
pub use server::Server;
pub(crate) use shared_logins::bring_in as bring_in_logins;
pub use tool::Federated;
pub use toolroom_upstream::{RemoteResource, RemoteTemplate};
pub use view::{ServerState, ServerView, ToolView, Unavailable, masked_arguments};

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
                tokens: Some(match runtime.store.lease() {
                    Some(lease) => Arc::new(SharedLogins::new(&runtime.store, lease.run(), folder)),
                    None => Arc::new(TokenFolder::new(folder.join(shared_logins::FOLDER))),
                }),
                ..SpawnEnv::of_this_process(folder)
            },
            environment: Arc::new(|name: &str| std::env::var(name).ok()),
            disk: Arc::new(RealDisk),
        }
    }
}

/// Keeps `mcp.json`, the servers and the catalogue the same.
pub type Federation = RegistryFile<ServerEntries>;

/// What makes servers of the entries.
pub struct ServerEntries {
    environment: Arc<Environment>,
    deps: ServerDeps,
    runtime: Arc<Runtime>,
    servers: ArcSwap<BTreeMap<String, Arc<Server>>>,
    /// Whether servers are started as they come.
    running: AtomicBool,
}

impl ServerEntries {
    fn new(
        runtime: Arc<Runtime>,
        approved: ApprovedDefinitions,
        spawn_env: SpawnEnv,
        environment: Arc<Environment>,
    ) -> Self {
        let deps = ServerDeps {
            approved: Arc::new(approved),
            runtime: Arc::downgrade(&runtime),
            identity: Arc::new(Identity::toolroom()),
            spawn_env,
            news: Arc::<News>::default(),
            mail: Arc::default(),
            callback: Arc::default(),
        };
        Self { environment, deps, runtime, servers: ArcSwap::default(), running: AtomicBool::new(false) }
    }
}

impl Federation {
    /// Reads the file. What was approved of its servers earlier is in the catalogue at once; nothing is started.
    pub fn open(setup: Setup) -> Result<Arc<Self>, FileProblem> {
        let Setup { file, approved, runtime, spawn_env, environment, disk } = setup;
        let shared = runtime.shared_registry().cloned();
        let approved = match &shared {
            None => ApprovedDefinitions::open(approved, Arc::clone(&disk))?,
            Some(shared) => ApprovedDefinitions::shared(approved.clone(), shared).map_err(|error| {
                let remedy = "Free disk space, or fix the permissions of the home.";
                FileProblem::whole(&approved, error.to_string(), remedy)
            })?,
        };
        Self::load(file, ServerEntries::new(runtime, approved, spawn_env, environment), disk, shared)
    }

    /// Takes over what was approved at other processes. For threads that may block.
    pub(crate) fn take_over_approved(&self, documents: Vec<Document>) -> Result<(), FileError> {
        for document in documents {
            let name = document.name.clone();
            if self.entries.deps.approved.take_over(document)?
                && let Some(server) = self.entries.servers.load().get(&name)
            {
                server.publish_approved_elsewhere();
            }
        }
        Ok(())
    }

    /// A person has logged in at these servers, or out, at this process or another.
    pub(crate) fn logins_changed<'a>(&self, names: impl Iterator<Item = &'a str>) {
        let servers = self.entries.servers.load();
        for server in names.filter_map(|name| servers.get(name)) {
            let server = Arc::clone(server);
            tokio::runtime::Handle::current().spawn(async move {
                if let Some(upstream) = server.upstream() {
                    // Why it cannot be reached is shown by its status.
                    let _ = upstream.login_changed().await;
                }
            });
        }
    }

    /// No servers, and no file to add one to.
    pub fn none(runtime: &Arc<Runtime>) -> Arc<Self> {
        let approved = ApprovedDefinitions::empty(Arc::new(RealDisk));
        let environment = Arc::new(|_: &str| None);
        let entries = ServerEntries::new(Arc::clone(runtime), approved, SpawnEnv::default(), environment);
        Self::missing("mcp.json", entries)
    }

    /// Starts every server in the background, and from now on each that comes.
    pub fn start(&self) {
        self.entries.running.store(true, Ordering::Release);
        for server in self.entries.servers.load().values() {
            server.start();
        }
    }

    /// The servers that are on and were never seen before.
    pub fn unmet(&self) -> Vec<String> {
        let servers = self.entries.servers.load();
        servers
            .values()
            .filter(|server| self.is_unmet(server))
            .map(|server| server.name().to_owned())
            .collect()
    }

    fn is_unmet(&self, server: &Server) -> bool {
        server.upstream().is_some() && self.entries.deps.approved.of(server.name()).is_none()
    }

    /// Starts those servers that were never seen before, and waits a while for what they have; whether there were any.
    pub async fn meet(&self, patience: Duration) -> bool {
        let servers = self.entries.servers.load_full();
        let new: Vec<&Arc<Server>> = servers.values().filter(|server| self.is_unmet(server)).collect();
        let settled = join_all(new.iter().map(|server| server.settled()));
        // Slower ones follow later.
        let _ = tokio::time::timeout(patience, settled).await;
        !new.is_empty()
    }

    /// The servers, by name.
    pub fn servers(&self) -> Arc<BTreeMap<String, Arc<Server>>> {
        self.entries.servers.load_full()
    }

    /// A server, by its name or the one under which it is published.
    pub fn server(&self, name: &str) -> Option<Arc<Server>> {
        let servers = self.entries.servers.load();
        let found = servers.get(name).or_else(|| servers.values().find(|server| server.published() == name));
        found.cloned()
    }

    /// The servers that cannot be used now, and why, in words that anybody may read.
    pub fn unavailable(&self) -> Vec<Unavailable> {
        let servers = self.entries.servers.load();
        let trouble = |server: &Arc<Server>| {
            let reason = server.plain_trouble()?;
            Some(Unavailable { server: server.name().to_owned(), state: server.state(), reason })
        };
        servers.values().filter_map(trouble).collect()
    }

    /// Tells when something has changed, with the server's name.
    pub fn news(&self) -> broadcast::Receiver<(Arc<str>, Told)> {
        self.entries.deps.news.listen()
    }

    /// Ends every server, and waits until nothing of them is left.
    pub async fn shutdown(&self) {
        let servers = self.entries.servers.load_full();
        join_all(servers.values().map(|server| server.shutdown())).await;
    }
}
