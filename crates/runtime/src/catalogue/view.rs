//! What a caller may see and call under a profile. Every list, search and description asks here.

use std::sync::Arc;

use jiff::civil::Date;
use serde_json::Value;
use toolroom_contract::{Grants, Principal, ToolDefinition};

use super::{ProfileView, Snapshot, Tool};
use crate::federation::Server;

/// A profile as one caller sees it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The catalogue that is looked at.
    pub snapshot: &'a Snapshot,
    /// The profile.
    pub profile: &'a ProfileView,
    grants: &'a Grants,
    today: Date,
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
    /// Whether the profile gives it a shape of its own.
    pub shaped: bool,
}

impl<'a> Shown<'a> {
    /// The canonical definition.
    pub fn definition(&self) -> &'a ToolDefinition {
        self.tool.definition()
    }
}

impl Snapshot {
    /// What this caller may use under the profile on that day; `None` if there is no such profile, or the caller's
    /// credential does not reach it.
    pub fn view<'a>(&'a self, caller: &'a Principal, profile: &str, today: Date) -> Option<View<'a>> {
        let found = self.profiles.get(profile).filter(|_| caller.may_use_profile(profile))?;
        Some(View { snapshot: self, profile: found, grants: &caller.grants, today })
    }

    /// Whether this caller may use tools of that server somewhere.
    pub fn reaches_server(&self, caller: &Principal, server: &Server, today: Date) -> bool {
        let Some(profiles) = &caller.profiles else { return caller.grants.hold(server.published(), "call") };
        let of_it = |shown: Shown<'_>| shown.tool.executor.origin().server == Some(server.name());
        profiles.iter().any(|name| self.view(caller, name, today).is_some_and(|view| view.tools().any(of_it)))
    }

    /// Everything that a profile publishes, in its order, whoever looks.
    pub fn published<'a>(&'a self, profile: &'a ProfileView) -> Box<dyn Iterator<Item = Shown<'a>> + 'a> {
        if profile.bound.is_none() {
            return Box::new(self.tools.values().map(whole));
        }
        Box::new(profile.order.iter().map(|bound| Shown {
            name: bound.name(),
            description: bound.description(),
            parameters: bound.parameters(),
            tool: &bound.tool,
            shaped: bound.binding().is_some(),
        }))
    }
}

fn whole(tool: &Arc<Tool>) -> Shown<'_> {
    let ToolDefinition { name, description, parameters, .. } = &**tool.definition();
    Shown { name, description, parameters, tool, shaped: false }
}

impl<'a> View<'a> {
    /// The tools that the caller may call, in the order of the profile.
    pub fn tools(&self) -> impl Iterator<Item = Shown<'a>> + use<'a> {
        let (grants, today) = (self.grants, self.today);
        self.snapshot.published(self.profile).filter(move |shown| is_usable(shown.tool, grants, today))
    }

    /// Those of them that a list shows: where there are too many, only the ones that find the others.
    pub fn listed(&self) -> impl Iterator<Item = Shown<'a>> + use<'a> {
        let profile = self.profile;
        self.tools().filter(move |shown| profile.lists(shown.tool))
    }

    /// The tool of that published name, if the caller may call it.
    pub fn find(&self, name: &str) -> Option<Shown<'a>> {
        match &self.profile.bound {
            None => {
                let tool = self.snapshot.tools.get(name)?;
                is_usable(tool, self.grants, self.today).then(|| whole(tool))
            }
            Some(bound) => {
                let bound = bound.get(name).filter(|one| is_usable(&one.tool, self.grants, self.today))?;
                Some(Shown {
                    name: bound.name(),
                    description: bound.description(),
                    parameters: bound.parameters(),
                    tool: &bound.tool,
                    shaped: bound.binding().is_some(),
                })
            }
        }
    }
}

/// Whether the grants cover the tool, and it is not gone by that day.
pub(crate) fn is_usable(tool: &Tool, grants: &Grants, today: Date) -> bool {
    let definition = tool.definition();
    grants.cover_all(&definition.permissions)
        && !definition.deprecated.as_ref().is_some_and(|deprecated| deprecated.is_removed(today))
}
