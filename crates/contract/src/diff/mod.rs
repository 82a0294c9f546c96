//! What a new definition means for those who call the old one.

mod schema;

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::definition::{Category, ToolDefinition};

/// How a change affects callers; the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ChangeImpact")]
pub enum Impact {
    /// Calls work as before.
    Metadata,
    /// Calls work, but behave differently: slower, limited, cached, waiting for approval.
    Behaviour,
    /// A call that was right may be refused, or its answer not understood.
    Breaking,
}

impl fmt::Display for Impact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Impact::Metadata => "metadata",
            Impact::Behaviour => "behaviour",
            Impact::Breaking => "breaking",
        })
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DefinitionChange")]
pub struct Change {
    /// How important it is.
    pub impact: Impact,
    /// A JSON pointer into the definition.
    pub pointer: String,
    /// What is different.
    pub message: String,
}

/// Every difference between two definitions of one tool, the worst first.
pub fn diff(old: &ToolDefinition, new: &ToolDefinition) -> Vec<Change> {
    let mut changes = Changes::default();
    changes.schemas(old, new);
    changes.permissions(old, new);
    changes.promises(old, new);
    changes.limits(old, new);
    changes.words(old, new);
    changes.found.sort_by_key(|change| std::cmp::Reverse(change.impact));
    changes.found
}

/// Whether the change may not be made under the same name: it breaks callers of a published tool.
pub fn is_refused(old: &ToolDefinition, changes: &[Change]) -> bool {
    old.version.major >= 1 && changes.iter().any(|change| change.impact == Impact::Breaking)
}

/// The name under which a breaking change can be published next to the old tool.
pub fn next_name(name: &str) -> String {
    let numbered =
        name.rsplit_once("-v").and_then(|(stem, number)| Some((stem, number.parse::<u32>().ok()?)));
    match numbered {
        Some((stem, number)) => format!("{stem}-v{}", number.saturating_add(1)),
        None => format!("{name}-v2"),
    }
}

/// What can be done about a refused change of a tool: both ways.
pub fn ways_out(name: &str) -> String {
    let next = next_name(name);
    format!(
        "Either keep what callers rely on: fields that were there stay as they were, and new ones are optional. Or \
         register it as '{next}' (without a version it is a draft, which may change until it is published), and mark \
         '{name}' as deprecated: \"deprecated\": {{\"since\": \"<its next version>\", \"replacement\": \"{next}\", \
         \"removalDate\": \"<at least 90 days ahead>\"}}."
    )
}

#[derive(Default)]
struct Changes {
    found: Vec<Change>,
}

impl Changes {
    fn note(&mut self, impact: Impact, pointer: impl Into<String>, message: impl Into<String>) {
        self.found.push(Change { impact, pointer: pointer.into(), message: message.into() });
    }

    /// Notes a field that is different, with what it was and what it is.
    fn field<T: PartialEq + fmt::Debug>(&mut self, impact: Impact, name: &str, old: &T, new: &T) {
        if old != new {
            self.note(impact, format!("/{name}"), format!("was {old:?}, is {new:?}"));
        }
    }

    fn schemas(&mut self, old: &ToolDefinition, new: &ToolDefinition) {
        self.found.extend(schema::compare(
            schema::Side::Input,
            "/parameters",
            &old.parameters,
            &new.parameters,
        ));
        match (&old.output, &new.output) {
            (Some(old), Some(new)) => {
                self.found.extend(schema::compare(schema::Side::Output, "/output", old, new))
            }
            (Some(_), None) => self.note(Impact::Breaking, "/output", "the output is no longer promised"),
            (None, Some(_)) => self.note(Impact::Metadata, "/output", "the output is now promised"),
            (None, None) => {}
        }
    }

    fn permissions(&mut self, old: &ToolDefinition, new: &ToolDefinition) {
        for added in new.permissions.iter().filter(|one| !old.permissions.contains(one)) {
            self.note(Impact::Breaking, "/permissions", format!("now also needs {added}"));
        }
        for dropped in old.permissions.iter().filter(|one| !new.permissions.contains(one)) {
            self.note(Impact::Behaviour, "/permissions", format!("no longer needs {dropped}"));
        }
    }

    /// What callers, retries and caches rely on.
    fn promises(&mut self, old: &ToolDefinition, new: &ToolDefinition) {
        let begins_to_change_things =
            old.category != Category::Mutation && new.category == Category::Mutation;
        let impact = if begins_to_change_things { Impact::Breaking } else { Impact::Behaviour };
        self.field(impact, "category", &old.category, &new.category);
        let loses = old.idempotent && !new.idempotent;
        let impact = if loses { Impact::Breaking } else { Impact::Behaviour };
        self.field(impact, "idempotent", &old.idempotent, &new.idempotent);
        self.field(Impact::Behaviour, "destructive", &old.destructive, &new.destructive);
        let kind = |definition: &ToolDefinition| crate::Effect::of(definition).kind;
        if old.effect != new.effect {
            // A person is asked or not by the kind; the rest is words.
            let impact = if kind(old) == kind(new) { Impact::Metadata } else { Impact::Behaviour };
            self.note(impact, "/effect", "what the call is said to do is different");
        }
        self.field(Impact::Behaviour, "cacheable", &old.cacheable, &new.cacheable);
        self.field(Impact::Behaviour, "cacheTTL", &old.cache_ttl, &new.cache_ttl);
    }

    fn limits(&mut self, old: &ToolDefinition, new: &ToolDefinition) {
        self.field(Impact::Behaviour, "responseTime", &old.response_time, &new.response_time);
        self.field(Impact::Behaviour, "timeout", &old.timeout, &new.timeout);
        self.field(Impact::Behaviour, "parallel", &old.parallel, &new.parallel);
        self.field(Impact::Behaviour, "rateLimit", &old.rate_limit, &new.rate_limit);
    }

    fn words(&mut self, old: &ToolDefinition, new: &ToolDefinition) {
        if old.version != new.version {
            self.note(Impact::Metadata, "/version", format!("was {}, is {}", old.version, new.version));
        }
        self.field(Impact::Metadata, "description", &old.description, &new.description);
        self.field(Impact::Metadata, "tags", &old.tags, &new.tags);
        self.field(Impact::Metadata, "deprecated", &old.deprecated, &new.deprecated);
        if old.examples != new.examples {
            self.note(Impact::Metadata, "/examples", "the examples are different");
        }
        if old.next_actions != new.next_actions {
            self.note(Impact::Metadata, "/nextActions", "the usual next steps are different");
        }
    }
}
