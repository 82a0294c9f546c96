//! Finding tools by words and meaning, and choosing one for a prompt, among the tools that the caller may use.

use std::sync::Arc;

use toolroom_contract::{Grants, ToolDefinition};
use toolroom_selection::{Index, Selection, ToolText};

use crate::catalogue::{Snapshot, Tool};

/// A tool that fits, and how well: 1 is every word of the query in the tool's name.
pub struct Hit {
    /// The tool.
    pub tool: Arc<Tool>,
    /// 0 to 1.
    pub score: f64,
}

/// The tools that fit, best first; only those that the grants cover.
pub fn search(snapshot: &Snapshot, grants: &Grants, query: &str) -> Vec<Hit> {
    let tools: Vec<&Arc<Tool>> = snapshot.tools.values().collect();
    let shown = usable(grants);
    let hits =
        snapshot.index().search_among(query, tools.len(), |at| tools.get(at).is_some_and(|tool| shown(tool)));
    hits.into_iter()
        .filter_map(|hit| Some(Hit { tool: Arc::clone(tools.get(hit.tool)?), score: hit.score }))
        .collect()
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

fn usable(grants: &Grants) -> impl Fn(&Tool) -> bool {
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    move |tool| {
        let definition = tool.definition();
        grants.cover_all(&definition.permissions)
            && !definition.deprecated.as_ref().is_some_and(|deprecated| deprecated.is_removed(today))
    }
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
