//! What the edge works out from a state of the catalogue once: aliases of names, mirrored parameters.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use serde_json::Value;
use toolroom_contract::{Grants, HeaderParam, ToolDefinition};
use toolroom_runtime::catalogue::{ProfileView, Snapshot, Tool};

use super::names::Aliases;
use super::request::Caller;

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

/// A tool as a profile publishes it.
pub(crate) struct Shown<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) parameters: &'a Value,
    pub(crate) tool: &'a Arc<Tool>,
    /// Whether the profile gives it a shape of its own.
    pub(crate) shaped: bool,
}

impl Shown<'_> {
    pub(crate) fn definition(&self) -> &ToolDefinition {
        self.tool.definition()
    }
}

/// Everything that a profile publishes, in its order.
pub(crate) fn published<'a>(
    snapshot: &'a Snapshot,
    profile: &'a ProfileView,
) -> Box<dyn Iterator<Item = Shown<'a>> + 'a> {
    if profile.bound.is_none() {
        return Box::new(snapshot.tools.values().map(|tool| {
            let definition = tool.definition();
            Shown {
                name: &definition.name,
                description: &definition.description,
                parameters: &definition.parameters,
                tool,
                shaped: false,
            }
        }));
    }
    Box::new(profile.order.iter().map(|bound| Shown {
        name: bound.name(),
        description: bound.description(),
        parameters: bound.parameters(),
        tool: &bound.tool,
        shaped: bound.binding().is_some(),
    }))
}

/// Whether a caller with these grants may use the tool today.
pub(crate) fn is_usable(tool: &Tool, grants: &Grants, today: jiff::civil::Date) -> bool {
    let definition = tool.definition();
    grants.cover_all(&definition.permissions)
        && !definition.deprecated.as_ref().is_some_and(|deprecated| deprecated.is_removed(today))
}

/// Whether the profile shows the caller a tool of that name.
pub(crate) fn is_shown(snapshot: &Snapshot, caller: &Caller, name: &str) -> bool {
    let Some(profile) = snapshot.profiles.get(&*caller.profile) else { return false };
    let tool = profile.find(snapshot, name);
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    tool.is_some_and(|tool| is_usable(tool, &caller.principal.grants, today))
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
            let names: Vec<&str> = published(snapshot, profile).map(|shown| shown.name).collect();
            let headers = published(snapshot, profile)
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
