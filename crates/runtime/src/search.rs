//! Finding tools by words and meaning among those that the caller may use.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use toolroom_contract::ToolDefinition;
use toolroom_selection::{Index, Parameter, Scored, ToolText};

use crate::catalogue::{Tool, View};

/// Objects in objects whose fields are read as parameters.
const LEVELS_READ: usize = 3;

/// A tool that fits, and how well: 1 is every word of the query in the tool's name.
pub struct Hit {
    /// The tool.
    pub tool: Arc<Tool>,
    /// The name that the profile publishes it under.
    pub name: String,
    /// 0 to 1.
    pub score: f64,
}

/// The tools that fit, best first, and others behind them until there are `least`; only those that the caller may call
/// under the profile.
pub fn search(view: &View<'_>, query: &str, least: usize) -> Vec<Hit> {
    let published: HashMap<&str, &str> = view.tools().map(|shown| (shown.tool.name(), shown.name)).collect();
    let tools: Vec<&Arc<Tool>> = view.snapshot.tools.values().collect();
    let shown = |at: usize| tools.get(at).is_some_and(|tool| published.contains_key(tool.name()));
    let hits = view.snapshot.index().search_among(query, least, shown);
    let found = |hit: Scored| {
        let tool = tools.get(hit.tool)?;
        let name = published.get(tool.name())?;
        Some(Hit { tool: Arc::clone(tool), name: (*name).to_owned(), score: hit.score })
    };
    hits.into_iter().filter_map(found).collect()
}

/// The contract of a tool as the profile publishes it; nothing if the caller may not call it.
pub fn describe(view: &View<'_>, name: &str) -> Option<Arc<ToolDefinition>> {
    let shown = view.find(name)?;
    let definition = shown.tool.published();
    if !shown.shaped && definition.name == name {
        return Some(Arc::clone(definition));
    }
    let mut told = ToolDefinition::clone(definition);
    told.name = name.to_owned();
    if shown.shaped {
        shown.description.clone_into(&mut told.description);
        told.parameters = shown.parameters.clone();
        if shown.is_plain() {
            // Few words are for lists.
            definition.description.clone_into(&mut told.description);
        } else {
            // They are those of the canonical parameters and answer.
            (told.output, told.examples) = (None, Vec::new());
        }
    }
    Some(Arc::new(told))
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
        parameters: parameters_of(&definition.parameters),
    }
}

/// The parameters that a schema names, those of objects in it too.
fn parameters_of(schema: &Value) -> Vec<Parameter<'_>> {
    let mut found = Vec::new();
    collect(schema, LEVELS_READ, &mut found);
    found
}

fn collect<'a>(schema: &'a Value, levels: usize, found: &mut Vec<Parameter<'a>>) {
    let Some(properties) = schema["properties"].as_object().filter(|_| levels > 0) else {
        return;
    };
    for (name, property) in properties {
        let values = property["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let description = property["description"].as_str().unwrap_or_default();
        found.push(Parameter { name, description, values });
        collect(property, levels - 1, found);
        collect(&property["items"], levels - 1, found);
    }
}

/// A description says what a tool does, and from "Use …" on when to use it; the two are read apart.
fn split(description: &str) -> (&str, &str) {
    match description.find(". Use ") {
        Some(at) => description.split_at(at + 1),
        None => (description, ""),
    }
}
