//! Finding tools by words and meaning, and choosing one for a prompt, among the tools that the caller may use.

use std::collections::HashMap;
use std::sync::Arc;

use toolroom_contract::{Grants, ToolDefinition};
use toolroom_selection::{Index, Scored, Selection, ToolText};

use crate::catalogue::{Snapshot, Tool};

/// A tool that fits, and how well: 1 is every word of the query in the tool's name.
pub struct Hit {
    /// The tool.
    pub tool: Arc<Tool>,
    /// The name that the profile publishes it under.
    pub name: String,
    /// 0 to 1.
    pub score: f64,
}

/// The tools that fit, best first; only those that the profile publishes and the grants cover.
pub fn search(snapshot: &Snapshot, profile: &str, grants: &Grants, query: &str) -> Vec<Hit> {
    let names = names(snapshot, profile, grants);
    let shown = |at: usize| names.get(at).is_some_and(Option::is_some);
    let tools: Vec<&Arc<Tool>> = snapshot.tools.values().collect();
    let hits = snapshot.index().search_among(query, tools.len(), shown);
    let found = |hit: Scored| {
        let name = (*names.get(hit.tool)?)?;
        Some(Hit { tool: Arc::clone(tools.get(hit.tool)?), name: name.to_owned(), score: hit.score })
    };
    hits.into_iter().filter_map(found).collect()
}

/// The names under which the profile publishes the tools of the catalogue, in its order, to these grants.
fn names<'a>(snapshot: &'a Snapshot, profile: &str, grants: &Grants) -> Vec<Option<&'a str>> {
    let usable = usable(grants);
    let Some(profile) = snapshot.profiles.get(profile) else { return Vec::new() };
    let published: Option<HashMap<&str, &str>> = profile
        .bound
        .is_some()
        .then(|| profile.order.iter().map(|bound| (bound.tool.name(), bound.name())).collect());
    let name = |tool: &'a Arc<Tool>| match &published {
        None => Some(tool.name()),
        Some(published) => published.get(tool.name()).copied(),
    };
    snapshot.tools.values().map(|tool| name(tool).filter(|_| usable(tool))).collect()
}

/// What to do with a prompt: a tool that the grants cover, none, or a question.
pub fn select(snapshot: &Snapshot, grants: &Grants, prompt: &str) -> Selection {
    let tools: Vec<&Arc<Tool>> = snapshot.tools.values().collect();
    let shown = usable(grants);
    snapshot.index().select_among(prompt, |at| tools.get(at).is_some_and(|tool| shown(tool)))
}

/// The tools that the grants cover and that are not gone.
pub fn visible<'a>(snapshot: &'a Snapshot, grants: &'a Grants) -> impl Iterator<Item = &'a Arc<Tool>> {
    let shown = usable(grants);
    snapshot.tools.values().filter(move |tool| shown(tool))
}

/// Whether the grants cover a tool that is not gone.
pub fn usable(grants: &Grants) -> impl Fn(&Tool) -> bool {
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    move |tool| {
        let definition = tool.definition();
        grants.cover_all(&definition.permissions)
            && !definition.deprecated.as_ref().is_some_and(|deprecated| deprecated.is_removed(today))
    }
}

/// The contract of a tool as the profile publishes it; nothing if these grants do not cover it.
pub fn describe(
    snapshot: &Snapshot,
    profile: &str,
    grants: &Grants,
    name: &str,
) -> Option<Arc<ToolDefinition>> {
    let profile = snapshot.profiles.get(profile)?;
    let tool = profile.find(snapshot, name).filter(|tool| usable(grants)(tool))?;
    let definition = tool.definition();
    let Some(bound) = profile.bound.as_ref().and_then(|bound| bound.get(name)) else {
        return Some(Arc::clone(definition));
    };
    let shaped = bound.binding().is_some();
    if !shaped && definition.name == name {
        return Some(Arc::clone(definition));
    }
    let mut shown = ToolDefinition::clone(definition);
    shown.name = name.to_owned();
    if shaped {
        bound.description().clone_into(&mut shown.description);
        shown.parameters = bound.parameters().clone();
        // They are those of the canonical parameters and answer.
        (shown.output, shown.examples) = (None, Vec::new());
    }
    Some(Arc::new(shown))
}

/// The index of these tools, in their order.
pub fn index<'a>(definitions: impl Iterator<Item = &'a ToolDefinition>) -> Index {
    Index::build(&definitions.map(text_of).collect::<Vec<_>>())
}

fn text_of(definition: &ToolDefinition) -> ToolText<'_> {
    let (description, use_for) = split(&definition.description);
    ToolText {
        name: &definition.name,
        description,
        use_for,
        examples: definition.examples.iter().map(|example| example.description.as_str()).collect(),
        tags: definition.tags.iter().map(String::as_str).collect(),
    }
}

/// A description says what a tool does, and from "Use …" on when to use it; the two are read apart.
fn split(description: &str) -> (&str, &str) {
    match description.find(". Use ") {
        Some(at) => description.split_at(at + 1),
        None => (description, ""),
    }
}
