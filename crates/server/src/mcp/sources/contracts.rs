//! The contracts of the tools that the caller may use, and the profiles, as resources.

use std::sync::Arc;

use serde_json::{Value, json};
use toolroom_runtime::catalogue::{Shown, Tool};

use super::{Answering, Completes, Completing, Contents, Resource, ResourceTemplate, Source, Visitor, ready};

pub(super) struct Contracts;

const TOOLS: &str = "toolroom://tools/";
const PROFILES: &str = "toolroom://profiles/";
const TOOL_TEMPLATE: &str = "toolroom://tools/{name}";
const PROFILE_TEMPLATE: &str = "toolroom://profiles/{name}";

impl Source for Contracts {
    fn resources<'a>(&'a self, visitor: Visitor<'a>) -> Answering<'a, Vec<Resource>> {
        let tools = each(visitor, visitor.profile, |name, shown| Resource {
            more: Default::default(),
            uri: format!("{TOOLS}{name}"),
            name: name.into(),
            description: Some(format!("The contract of {name}: parameters, output, examples, limits.")),
            mime_type: Some("application/json".into()),
            title: Some(format!("Contract of {name} {}", shown.definition().version)),
            size: None,
        });
        let profiles = profile_names(visitor).into_iter().map(|name| Resource {
            more: Default::default(),
            uri: format!("{PROFILES}{name}"),
            title: Some(format!("Profile {name}")),
            name,
            description: Some(
                "A named view of the catalogue: its tools under the names it gives them.".into(),
            ),
            mime_type: Some("application/json".into()),
            size: None,
        });
        ready(tools.into_iter().chain(profiles).collect())
    }

    fn templates(&self, _: Visitor<'_>) -> Vec<ResourceTemplate> {
        let template = |uri_template: &str, name: &str, description: &str| ResourceTemplate {
            more: Default::default(),
            uri_template: uri_template.into(),
            name: name.into(),
            description: Some(description.into()),
            mime_type: Some("application/json".into()),
            title: None,
        };
        vec![
            template(TOOL_TEMPLATE, "tool-contract", "The contract of a tool that you may use."),
            template(PROFILE_TEMPLATE, "profile", "A profile that you may use, with its tools."),
        ]
    }

    fn read<'a>(&'a self, visitor: Visitor<'a>, uri: &'a str) -> Answering<'a, Option<Vec<Contents>>> {
        if let Some(name) = uri.strip_prefix(TOOLS) {
            return ready(contract(visitor, name).map(|contract| vec![Contents::json(uri, &contract)]));
        }
        let profile = uri.strip_prefix(PROFILES).and_then(|name| describe_profile(visitor, name));
        ready(profile.map(|profile| vec![Contents::json(uri, &profile)]))
    }

    fn watches(&self, visitor: Visitor<'_>, uri: &str) -> bool {
        uri.strip_prefix(TOOLS).is_some_and(|name| contract(visitor, name).is_some())
    }

    fn complete<'a>(
        &'a self,
        visitor: Visitor<'a>,
        asked: Completing<'a>,
    ) -> Answering<'a, Option<Vec<String>>> {
        ready(match asked.of {
            Completes::Template(TOOL_TEMPLATE) if asked.argument == "name" => Some(tool_names(visitor)),
            Completes::Template(PROFILE_TEMPLATE) if asked.argument == "name" => Some(profile_names(visitor)),
            _ => None,
        })
    }
}

/// The names of the tools that the visitor may use, as clients are shown them.
pub(super) fn tool_names(visitor: Visitor<'_>) -> Vec<String> {
    each(visitor, visitor.profile, |name, _| name.to_owned())
}

/// The tools that the visitor may use, each by the name that clients are shown.
pub(super) fn tools(visitor: Visitor<'_>) -> Vec<(String, Arc<Tool>)> {
    each(visitor, visitor.profile, |name, shown| (name.to_owned(), Arc::clone(shown.tool)))
}

pub(super) fn contract(visitor: Visitor<'_>, name: &str) -> Option<Value> {
    each(visitor, visitor.profile, |shown_as, shown| (shown_as == name).then(|| written(shown_as, shown)))
        .into_iter()
        .flatten()
        .next()
}

/// A profile with shapes of its own has its own parameters; what stands behind them is told too.
fn written(name: &str, shown: &Shown<'_>) -> Value {
    let definition = serde_json::to_value(&**shown.tool.published()).unwrap_or_default();
    if !shown.shaped {
        return definition;
    }
    json!({
        "name": name,
        "description": shown.description,
        "parameters": shown.parameters,
        "canonical": definition,
    })
}

fn describe_profile(visitor: Visitor<'_>, name: &str) -> Option<Value> {
    let runtime = &visitor.app.runtime;
    let snapshot = runtime.registry.snapshot();
    let description = &snapshot.view(visitor.principal, name, runtime.today())?.profile.description;
    let tools = each(visitor, name, |name, _| name.to_owned());
    Some(json!({ "name": name, "description": description, "tools": tools }))
}

pub(super) fn profile_names(visitor: Visitor<'_>) -> Vec<String> {
    let runtime = &visitor.app.runtime;
    let snapshot = runtime.registry.snapshot();
    snapshot.views(visitor.principal, runtime.today()).map(|(name, _)| name.to_owned()).collect()
}

fn each<T>(visitor: Visitor<'_>, profile: &str, take: impl Fn(&str, &Shown<'_>) -> T) -> Vec<T> {
    let app = visitor.app;
    let snapshot = app.runtime.registry.snapshot();
    let index = app.mcp.indexes.of(&snapshot);
    let view = snapshot.view(visitor.principal, profile, app.runtime.today());
    let (Some(view), Some(names)) = (view, index.profile(profile)) else { return Vec::new() };
    view.tools().map(|shown| take(names.aliases.show(shown.name), &shown)).collect()
}
