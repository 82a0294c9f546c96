//! Compares what there is with what was there at the last look.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use toolroom_contract::ToolError;
use toolroom_contract::ids::PendingId;
use toolroom_store::{StoreError, pending};

use super::ring::Change;
use crate::api::servers;
use crate::app::App;

/// Servers are looked at every so many times: a look at them costs more, and they change seldom.
const SERVERS_EVERY: u32 = 4;

/// What was there.
#[derive(Default)]
pub(super) struct Seen {
    /// What waited for a person.
    open: HashSet<PendingId>,
    /// The servers, each with a hash of what is shown of it.
    servers: BTreeMap<String, u64>,
    catalogue: u64,
    looks: u32,
}

impl Seen {
    /// What has changed since the last look, and the end of the log.
    pub(super) async fn look(&mut self, app: &Arc<App>) -> Result<(Vec<Change>, Arc<str>), ToolError> {
        let reader = app.journal_reader().await;
        let tail = tokio::task::spawn_blocking(move || reader.tail()).await.map_err(ToolError::internal)?;
        let tail = tail.map_err(ToolError::internal)?.into();
        let open = app.runtime.store.read(pending::open_ids).await;
        let open: HashSet<PendingId> =
            open.map_err(|error: StoreError| ToolError::from(error))?.into_iter().collect();
        let mut changes: Vec<Change> =
            open.symmetric_difference(&self.open).map(|id| Change::Approval(*id)).collect();
        // Ids sort by age.
        changes.sort_by_key(|change| if let Change::Approval(id) = change { Some(*id) } else { None });
        self.open = open;
        if self.looks.is_multiple_of(SERVERS_EVERY) {
            let servers = shown(app);
            let all: BTreeSet<&String> = servers.keys().chain(self.servers.keys()).collect();
            let changed = all.into_iter().filter(|name| servers.get(*name) != self.servers.get(*name));
            changes.extend(changed.map(|name| Change::Server(name.clone())));
            self.servers = servers;
        }
        self.looks = self.looks.wrapping_add(1);
        let version = app.runtime.registry.snapshot().version;
        if version != self.catalogue {
            changes.push(Change::Catalogue(version));
            self.catalogue = version;
        }
        Ok((changes, tail))
    }
}

fn shown(app: &App) -> BTreeMap<String, u64> {
    let hash = |text: String| {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        hasher.finish()
    };
    let servers = app.federation.servers();
    let each = servers.iter().map(|(name, server)| {
        let view = serde_json::to_string(&servers::in_a_list(server, true));
        (name.clone(), hash(view.unwrap_or_default()))
    });
    each.collect()
}
