//! Puts a server's tools into the catalogue, all at once, and takes out what it no longer has.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use toolroom_contract::check::Stage;
use toolroom_contract::text::shell_word;
use toolroom_contract::{Category, ToolDefinition};
use toolroom_upstream::contracts::FederatedTool;

use super::approved::ApprovedServer;
use super::pending_review::{Seen, SeenTool, ToolStanding};
use super::resource_tool::ResourceTool;
use super::server::Server;
use super::tool::Federated;
use crate::Runtime;
use crate::catalogue::{Executor, NewTool, RegistryError, Snapshot, Tool};

/// Why tools were not put into the catalogue.
pub(super) enum Refused {
    /// The server was stopped meanwhile.
    Stopped,
    Registry(RegistryError),
}

impl From<RegistryError> for Refused {
    fn from(error: RegistryError) -> Self {
        Self::Registry(error)
    }
}

/// A change of the catalogue, as it is put together.
struct CatalogueSync<'a> {
    server: &'a Arc<Server>,
    runtime: &'a Runtime,
    snapshot: Arc<Snapshot>,
    come: Vec<Arc<Tool>>,
    stay: BTreeSet<String>,
}

impl Server {
    /// Makes the catalogue hold those of the known tools that are open, and stand-ins for those that have changed.
    pub(super) fn place(
        self: &Arc<Self>,
        runtime: &Runtime,
        known: &[FederatedTool],
        approved: &ApprovedServer,
        seen: &mut Seen,
    ) -> Result<(), Refused> {
        let snapshot = Arc::clone(&runtime.registry.snapshot());
        let mut catalogue_sync =
            CatalogueSync { server: self, runtime, snapshot, come: Vec::new(), stay: BTreeSet::new() };
        for federated in known {
            if let Some(shown) = seen.tools.get_mut(&federated.remote.name) {
                let was = approved.tools.get(&federated.remote.name);
                catalogue_sync.tool(federated, was.map_or("", |was| &was.hash), shown);
            }
        }
        for (reading, definition) in self.readings(approved) {
            catalogue_sync.reader(reading, definition);
        }
        let CatalogueSync { come, stay, .. } = catalogue_sync;
        let go = self.tools_in(runtime).filter(|name| !stay.contains(name)).collect::<Vec<_>>();
        if come.is_empty() && go.is_empty() {
            return Ok(());
        }
        let unless_stopped = || if self.stop.is_cancelled() { Err(Refused::Stopped) } else { Ok(()) };
        runtime.registry.change(come, &go, unless_stopped)
    }

    /// The names of its tools that are in the catalogue.
    fn tools_in(&self, runtime: &Runtime) -> impl Iterator<Item = String> {
        let snapshot = Arc::clone(&runtime.registry.snapshot());
        let ours = |tool: &Arc<Tool>| match &tool.executor {
            Executor::Upstream(theirs) => theirs.server.name() == self.name(),
            _ => false,
        };
        let names: Vec<String> =
            snapshot.tools.values().filter(|tool| ours(tool)).map(|tool| tool.name().to_owned()).collect();
        names.into_iter()
    }

    /// Takes its tools out of the catalogue. For threads that may block.
    pub(super) fn withdraw(&self) {
        let Some(runtime) = self.runtime.upgrade() else { return };
        let go: Vec<String> = self.tools_in(&runtime).collect();
        if !go.is_empty()
            && let Err(error) = runtime.registry.change(Vec::new(), &go, || Ok::<(), RegistryError>(()))
        {
            tracing::error!(server = self.name(), %error, "the tools of a server could not be removed");
        }
    }
}

impl CatalogueSync<'_> {
    /// A tool of the server's, as far as it may stand there.
    fn tool(&mut self, federated: &FederatedTool, hash: &str, shown: &mut SeenTool) {
        let blocked = match &shown.standing {
            ToolStanding::Changed(_) => true,
            ToolStanding::Open | ToolStanding::NameTaken(_) => false,
            ToolStanding::New(_) | ToolStanding::Rejected(_) | ToolStanding::LeftOut => return,
        };
        let name = &federated.definition.name;
        match self.snapshot.tools.get(name).map(|tool| &tool.executor) {
            Some(Executor::Upstream(theirs)) if theirs.is(self.server, hash, blocked) => {
                self.stay.insert(name.clone());
                return;
            }
            Some(Executor::Upstream(theirs)) if theirs.server.name() == self.server.name() => {}
            None => {}
            Some(_) => {
                shown.standing = ToolStanding::NameTaken(format!(
                    "another tool is named '{name}'; a `prefix` in the server's entry changes its names"
                ));
                return;
            }
        }
        if !blocked {
            shown.standing = ToolStanding::Open;
        }
        let definition = match blocked {
            false => federated.definition.clone(),
            true => stand_in(self.server, &federated.remote.name, &federated.definition),
        };
        let executor = Federated {
            server: Arc::clone(self.server),
            remote: federated.remote.name.clone(),
            headers: Arc::clone(&federated.headers),
            hash: hash.to_owned(),
            blocked,
            reading: None,
        };
        if let Err(error) = self.add(definition, executor) {
            shown.standing = ToolStanding::Rejected(error.to_string());
        }
    }

    /// A tool of ours for the server's resources or prompts, unless the name is another's.
    fn reader(&mut self, reading: ResourceTool, definition: ToolDefinition) {
        let name = &definition.name;
        // What it says is all that it depends on.
        let hash = definition.description.clone();
        let free = match self.snapshot.tools.get(name).map(|tool| &tool.executor) {
            Some(Executor::Upstream(theirs)) if theirs.is(self.server, &hash, false) => {
                self.stay.insert(name.clone());
                return;
            }
            Some(Executor::Upstream(theirs)) => {
                theirs.server.name() == self.server.name() && theirs.reading.is_some()
            }
            Some(_) => false,
            None => true,
        };
        if !free || self.stay.contains(name) {
            return;
        }
        let executor = Federated {
            server: Arc::clone(self.server),
            remote: reading.name().to_owned(),
            headers: Arc::from([]),
            hash,
            blocked: false,
            reading: Some(reading),
        };
        if let Err(error) = self.add(definition, executor) {
            tracing::error!(server = self.server.name(), %error, "a tool for resources could not be created");
        }
    }

    fn add(&mut self, definition: ToolDefinition, executor: Federated) -> Result<(), RegistryError> {
        let name = definition.name.clone();
        let tool = NewTool { definition, executor: Executor::Upstream(Arc::new(executor)) };
        self.come.push(self.runtime.registry.prepare(tool, Stage::Loaded)?);
        self.stay.insert(name);
        Ok(())
    }
}

/// What stands in the catalogue for a tool that waits for review: nothing that its server says.
fn stand_in(server: &Server, remote: &str, was: &ToolDefinition) -> ToolDefinition {
    let (server, command, remote) = (server.name(), server.published(), shell_word(remote));
    ToolDefinition {
        version: was.version.clone(),
        permissions: was.permissions.clone(),
        parameters: json!({ "type": "object" }),
        tags: was.tags.clone(),
        category: Category::Mutation,
        derived: was.derived.clone(),
        ..ToolDefinition::mutation(
            &was.name,
            &format!(
                "Not available: its definition is pending review, because the server '{server}' has changed it. A \
                 person can approve it: toolroom servers approve {command} --tool {remote}"
            ),
        )
    }
}
