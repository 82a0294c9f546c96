//! What a caller may see and call under a profile. Nothing else decides that: calls, lists, searches, descriptions,
//! completions and the chat all ask here.

use std::sync::Arc;

use jiff::civil::Date;
use serde_json::Value;
use toolroom_contract::confidence::Source;
use toolroom_contract::definition::Deprecation;
use toolroom_contract::permission::ADDED_TOOLS;
use toolroom_contract::{Grants, Principal, ToolDefinition};
use toolroom_profiles::{SEARCHERS, Show};

use super::{Bound, BoundProfile, Snapshot, Tool};
use crate::federation::Server;

/// A profile as one caller sees it. Nothing is worked out before it is asked for.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The catalogue that is looked at.
    pub snapshot: &'a Snapshot,
    /// The profile.
    pub profile: &'a BoundProfile,
    caller: &'a Principal,
    today: Date,
}

/// Whether a caller may call a tool.
pub(crate) enum Access<'t> {
    /// They may.
    Granted,
    /// Their grants do not cover it: to them it does not exist.
    Denied,
    /// It is past its removal date.
    Removed(&'t Deprecation),
}

/// A tool as a profile publishes it.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The published name.
    pub name: &'a str,
    /// The published description.
    pub description: &'a str,
    /// The published input schema.
    pub parameters: &'a Value,
    /// The canonical tool.
    pub tool: &'a Arc<Tool>,
    /// What the profile binds the name to, where it does not show the whole catalogue.
    pub bound: Option<&'a Arc<Bound>>,
    /// Whether the profile gives it its own shape.
    pub shaped: bool,
}

impl<'a> Shown<'a> {
    fn bound(bound: &'a Arc<Bound>) -> Self {
        Self {
            name: bound.name(),
            description: bound.description(),
            parameters: bound.parameters(),
            tool: &bound.tool,
            bound: Some(bound),
            shaped: bound.binding().is_some(),
        }
    }

    fn whole(tool: &'a Arc<Tool>) -> Self {
        let ToolDefinition { name, description, parameters, .. } = &**tool.published();
        Self { name, description, parameters, tool, bound: None, shaped: false }
    }

    /// Whether it is published in few words, with the data alone as its answer.
    pub fn is_plain(&self) -> bool {
        self.bound.and_then(|bound| bound.binding()).is_some_and(|binding| binding.plain.is_some())
    }

    /// The canonical definition, as it is shown.
    pub fn definition(&self) -> &'a ToolDefinition {
        self.tool.published()
    }
}

impl Snapshot {
    /// What this caller may use under the profile on that day; `None` if there is no such profile, or the caller's
    /// credential does not reach it.
    pub fn view<'a>(&'a self, caller: &'a Principal, profile: &str, today: Date) -> Option<View<'a>> {
        let profile = self.profiles.get(profile).filter(|_| caller.may_use_profile(profile))?;
        Some(View { snapshot: self, profile, caller, today })
    }

    /// The profiles that this caller may use, by name.
    pub fn views<'a>(
        &'a self,
        caller: &'a Principal,
        today: Date,
    ) -> impl Iterator<Item = (&'a str, View<'a>)> {
        self.profiles.keys().filter_map(move |name| Some((name.as_str(), self.view(caller, name, today)?)))
    }

    /// Whether this caller may use tools of that server somewhere.
    pub fn reaches_server(&self, caller: &Principal, server: &Server, today: Date) -> bool {
        if caller.profiles.is_none() {
            return caller.grants.hold(server.published(), "call") || holds_added_tools(&caller.grants);
        }
        let of_it = |shown: Shown<'_>| shown.tool.executor.origin().server == Some(server.name());
        self.views(caller, today).any(|(_, view)| view.tools().any(of_it))
    }

    /// Everything that a profile publishes, in its order, for any caller.
    pub fn published<'a>(&'a self, profile: &'a BoundProfile) -> Box<dyn Iterator<Item = Shown<'a>> + 'a> {
        match profile.bound {
            None => Box::new(self.tools.values().map(Shown::whole)),
            Some(_) => Box::new(profile.order.iter().map(Shown::bound)),
        }
    }
}

impl<'a> View<'a> {
    /// The tools that the caller may call, in the order of the profile.
    pub fn tools(&self) -> impl Iterator<Item = Shown<'a>> + use<'a> {
        let (view, short) = (*self, self.is_short());
        let all = self.snapshot.published(self.profile);
        all.filter(move |shown| view.may_call(shown.tool) && !(short && finds_others(shown.tool)))
    }

    /// Those of them that a list shows: where there are too many, only the ones that find the others.
    pub fn listed(&self) -> impl Iterator<Item = Shown<'a>> + use<'a> {
        let all = match self.profile.show {
            Show::List => true,
            Show::Search => false,
            Show::UpTo(_) => self.is_short(),
        };
        self.tools().filter(move |shown| all || finds_others(shown.tool))
    }

    /// Whether there are so few tools that those that find others are not there.
    fn is_short(&self) -> bool {
        let Show::UpTo(most) = self.profile.show else { return false };
        let others = self.snapshot.published(self.profile).filter(|shown| !finds_others(shown.tool));
        others.filter(|shown| self.may_call(shown.tool)).count() <= most
    }

    /// The tool of that published name, if the caller may call it.
    pub fn find(&self, name: &str) -> Option<Shown<'a>> {
        self.published(name).filter(|shown| self.may_call(shown.tool))
    }

    /// The tool of that published name, whether or not the caller may call it.
    pub(crate) fn published(&self, name: &str) -> Option<Shown<'a>> {
        let found = match &self.profile.bound {
            None => self.snapshot.tools.get(name).map(Shown::whole),
            Some(bound) => bound.get(name).map(Shown::bound),
        };
        found.filter(|shown| !(finds_others(shown.tool) && self.is_short()))
    }

    /// The name by which the caller may call this tool here.
    pub(crate) fn name_of(&self, tool: &'a Tool) -> Option<&'a str> {
        let there = self.may_call(tool) && !(finds_others(tool) && self.is_short());
        self.profile.name_of(tool).filter(|_| there)
    }

    /// Whether the caller may call a tool that the profile leads to.
    pub(crate) fn access<'t>(&self, tool: &'t Tool) -> Access<'t> {
        let definition = tool.definition();
        let grants = &self.caller.grants;
        let is_added = tool.executor.source() != Source::Native;
        let granted = grants.cover_all(&definition.permissions) || (is_added && holds_added_tools(grants));
        if !granted {
            return Access::Denied;
        }
        match &definition.deprecated {
            Some(deprecated) if deprecated.is_removed(self.today) => Access::Removed(deprecated),
            _ => Access::Granted,
        }
    }

    fn may_call(&self, tool: &Tool) -> bool {
        matches!(self.access(tool), Access::Granted)
    }
}

/// Whether it is one of the tools that stand for a long list.
fn finds_others(tool: &Tool) -> bool {
    SEARCHERS.contains(&tool.name())
}

/// Whether every tool that was added to the home may be called.
fn holds_added_tools(grants: &Grants) -> bool {
    grants.hold(ADDED_TOOLS.0, ADDED_TOOLS.1)
}
