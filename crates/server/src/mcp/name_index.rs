//! What the edge works out from a state of the catalogue once: aliases of names, mirrored parameters.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use toolroom_mcp::HeaderParam;
use toolroom_runtime::catalogue::Snapshot;

use super::caller::Caller;
use super::names::Aliases;
use crate::app::App;

/// One state of the catalogue, as the edge sees it.
pub(crate) struct Index {
    version: u64,
    profiles: BTreeMap<String, ProfileIndex>,
}

/// One profile of it.
#[derive(Default)]
pub(crate) struct ProfileIndex {
    /// Names that cannot be shown as they are.
    pub(crate) aliases: Aliases,
    /// Parameters that headers repeat, by the tool's published name; only tools that have some.
    pub(crate) mirrored: HashMap<String, Vec<HeaderParam>>,
}

/// Whether the profile shows the caller a tool of that name.
pub(crate) fn is_shown(app: &App, snapshot: &Snapshot, caller: &Caller, name: &str) -> bool {
    let view = snapshot.view(&caller.principal, &caller.profile, app.runtime.today());
    view.is_some_and(|view| view.find(name).is_some())
}

/// The index of the current catalogue.
#[derive(Default)]
pub(crate) struct Indexes(ArcSwapOption<Index>);

impl Indexes {
    pub(crate) fn of(&self, snapshot: &Snapshot) -> Arc<Index> {
        if let Some(index) = self.0.load_full().filter(|index| index.version == snapshot.version) {
            return index;
        }
        let index = Arc::new(Index::build(snapshot));
        self.0.store(Some(Arc::clone(&index)));
        index
    }
}

impl Index {
    fn build(snapshot: &Snapshot) -> Self {
        let profiles = snapshot.profiles.iter().map(|(name, profile)| {
            let names: Vec<&str> = snapshot.published(profile).map(|shown| shown.name).collect();
            let headers = snapshot
                .published(profile)
                .map(|shown| {
                    (shown.name.to_owned(), HeaderParam::of_schema(shown.parameters).unwrap_or_default())
                })
                .filter(|(_, found)| !found.is_empty());
            let index =
                ProfileIndex { aliases: Aliases::of(names.iter().copied()), mirrored: headers.collect() };
            (name.clone(), index)
        });
        Self { version: snapshot.version, profiles: profiles.collect() }
    }

    pub(crate) fn profile(&self, name: &str) -> Option<&ProfileIndex> {
        self.profiles.get(name)
    }
}
