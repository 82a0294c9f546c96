//! From the text of `mcp.json` to servers: at the start, and whenever somebody has edited the file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use toolroom_upstream::config::{ServerEntry, Standing};

use super::news::Told;
use super::server::Server;
use super::{ServerEntries, file};
use crate::registry_file::{Entries, FileProblem, Origin, Scope};

impl Entries for ServerEntries {
    type State = ();
    const EMPTY: &'static str = "{\"mcpServers\": {}}";
    /// The database and its log are beside it.
    const SCOPE: Scope = Scope::File;

    fn load(&self, path: &Path, _: &mut (), text: &str, _: Origin) -> Result<(), FileProblem> {
        self.put_in_force(file::read(path, text, &*self.environment)?);
        Ok(())
    }

    fn check(&self, path: &Path, (): &(), text: &str) -> Result<(), FileProblem> {
        let invalid = |entry: ServerEntry| match entry.standing {
            Standing::Invalid(error) => Some(error.to_string()),
            Standing::Enabled(_) | Standing::Disabled(_) => None,
        };
        match file::read(path, text, &*self.environment)?.into_iter().find_map(invalid) {
            Some(reason) => Err(FileProblem::whole(path, reason, "Fix that entry, or remove it.")),
            None => Ok(()),
        }
    }
}

impl ServerEntries {
    /// Makes the servers those of the text. One whose entry is the same is left alone.
    pub(super) fn put_in_force(&self, entries: Vec<ServerEntry>) {
        for entry in &entries {
            if let Standing::Invalid(error) = &entry.standing {
                tracing::warn!("an entry of mcp.json cannot be used, the others are: {error}");
            }
        }
        let old = self.servers.load_full();
        let mut next = BTreeMap::new();
        let mut fresh = Vec::new();
        for entry in entries {
            let name = entry.name.clone();
            let server = match old.get(&name) {
                Some(server) if is_same(&server.entry, &entry) => Arc::clone(server),
                _ => {
                    let server = Server::new(entry, &self.deps, self.runtime.metrics.of_server(&name));
                    fresh.push(Arc::clone(&server));
                    server
                }
            };
            next.insert(name, server);
        }
        let kept =
            |server: &Arc<Server>| next.get(server.name()).is_some_and(|next| Arc::ptr_eq(next, server));
        let gone: Vec<Arc<Server>> = old.values().filter(|server| !kept(server)).cloned().collect();
        for server in &gone {
            // Before its successor publishes, so that it cannot publish any more.
            server.stop.cancel();
            if !next.contains_key(server.name()) {
                server.withdraw();
                self.runtime.metrics.forget_server(server.name());
            }
        }
        for server in &fresh {
            server.publish_approved();
            if server.upstream.is_none() {
                server.withdraw();
            }
        }
        self.servers.store(Arc::new(next));
        self.hand_over(gone, &fresh);
    }

    /// Ends the servers that are gone, and starts the new ones, in the background.
    fn hand_over(&self, gone: Vec<Arc<Server>>, fresh: &[Arc<Server>]) {
        for server in gone {
            if let Ok(here) = tokio::runtime::Handle::try_current() {
                here.spawn(async move { server.shutdown().await });
            }
        }
        if self.running.load(Ordering::Acquire) {
            fresh.iter().for_each(Server::start);
        }
        self.deps.news.tell("", Told::Lists);
    }
}

/// Whether an entry means what it meant: a variable may have another value by now.
fn is_same(old: &ServerEntry, new: &ServerEntry) -> bool {
    let off = |entry: &ServerEntry| match &entry.standing {
        Standing::Disabled(reason) => Some(reason.clone()),
        Standing::Invalid(error) => Some(error.to_string()),
        Standing::Enabled(_) => None,
    };
    old.source == new.source && off(old) == off(new)
}
