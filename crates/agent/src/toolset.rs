//! The tools of a chat: those of its profile that the person may use, and the client's own.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::civil::Date;
use serde_json::Value;
use toolroom_contract::Principal;
use toolroom_runtime::catalogue::{Executor, Shown, Snapshot, Tool};
use toolroom_runtime::search;

use crate::model::{Schema, ToolSpec};

/// The tools of a chat.
pub struct Toolset {
    snapshot: Arc<Snapshot>,
    profile: String,
    today: Date,
    all: Vec<Offered>,
    /// Tools that the client runs itself.
    client: Vec<ToolSpec>,
}

/// A tool as the profile publishes it.
struct Offered {
    spec: ToolSpec,
    tool: Arc<Tool>,
}

/// A call's name and parameters, led to the tool that runs in the end.
pub struct Resolved<'a> {
    /// The published name that the call is made by.
    pub name: &'a str,
    /// The tool.
    pub tool: Arc<Tool>,
    /// The parameters that the tool gets.
    pub params: &'a Value,
}

/// Tools by which others are found and called; they stay where a list is cut short.
const FINDERS: [&str; 4] = ["search-tools", "describe-tool", "call-tool", "request-human-input"];

impl Toolset {
    /// The tools of this profile; `None` if there is no such profile for this caller.
    pub fn of(
        snapshot: &Arc<Snapshot>,
        who: &Principal,
        profile: &str,
        today: Date,
        client: Vec<ToolSpec>,
    ) -> Option<Self> {
        let all: Vec<Offered> =
            snapshot.view(who, profile, today)?.tools().map(|shown| offer(&shown)).collect();
        // What the server has is the server's: a client cannot put its own instead of it.
        let taken: HashSet<&str> = all.iter().map(|one| one.spec.name.as_str()).collect();
        let client = client.into_iter().filter(|spec| !taken.contains(spec.name.as_str())).collect();
        Some(Self { snapshot: Arc::clone(snapshot), profile: profile.to_owned(), today, all, client })
    }

    /// No tools at all.
    pub fn emptied(self) -> Self {
        Self { all: Vec::new(), client: Vec::new(), ..self }
    }

    /// What the model is shown for these words: everything, or where that is too much what fits them best.
    pub fn shown(&self, who: &Principal, words: &str, most: usize) -> Vec<ToolSpec> {
        let client = self.client.iter().cloned();
        if self.all.len() <= most {
            return self.all.iter().map(|one| one.spec.clone()).chain(client).collect();
        }
        let view = self.snapshot.view(who, &self.profile, self.today);
        let hits = view.map(|view| search::search(&view, words)).unwrap_or_default();
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, one) in self.all.iter().enumerate() {
            places.entry(&one.spec.canonical).or_default().push(at);
        }
        let named = FINDERS.into_iter().chain(hits.iter().map(|hit| hit.tool.name()));
        // Each is shown once: a finder may also be among the hits.
        let fitting = named.flat_map(|name| places.remove(name).unwrap_or_default());
        let mut shown: Vec<ToolSpec> =
            fitting.filter_map(|at| self.all.get(at)).map(|one| one.spec.clone()).take(most).collect();
        shown.extend(client);
        shown
    }

    /// The published name that a model meant: servers and models change case, dashes and prefixes.
    pub fn name_meant(&self, written: &str) -> Option<&str> {
        let exact = self.all.iter().find(|one| one.spec.name == written);
        if let Some(one) = exact {
            return Some(&one.spec.name);
        }
        let wanted = loosely(written);
        let mut fitting = self.all.iter().filter(|one| loosely(&one.spec.name) == wanted);
        match (fitting.next(), fitting.next()) {
            (Some(one), None) => Some(&one.spec.name),
            _ => None,
        }
    }

    /// Whether the client runs this one itself.
    pub fn is_clients(&self, name: &str) -> bool {
        self.client.iter().any(|spec| spec.name == name)
    }

    /// The tool that a call of this published name runs in the end.
    pub fn resolve<'a>(&'a self, name: &str, params: &'a Value) -> Option<Resolved<'a>> {
        let offered = self.all.iter().find(|one| one.spec.name == name)?;
        if !matches!(offered.tool.executor, Executor::Forward) {
            return Some(Resolved { name: &offered.spec.name, tool: Arc::clone(&offered.tool), params });
        }
        static NONE: Value = Value::Null;
        let inner = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let inner = self.all.iter().find(|one| one.spec.name == inner);
        Some(match inner.filter(|one| !matches!(one.tool.executor, Executor::Forward)) {
            Some(inner) => Resolved {
                name: &inner.spec.name,
                tool: Arc::clone(&inner.tool),
                params: params.get("params").unwrap_or(&NONE),
            },
            // The pipeline refuses it.
            None => Resolved { name: &offered.spec.name, tool: Arc::clone(&offered.tool), params },
        })
    }

    /// The published name of a canonical tool.
    pub fn published(&self, canonical: &str) -> Option<&ToolSpec> {
        self.all.iter().map(|one| &one.spec).find(|spec| spec.canonical == canonical)
    }

    /// Published names, for a model that named none of them.
    pub fn names(&self) -> Vec<&str> {
        self.all.iter().map(|one| one.spec.name.as_str()).collect()
    }
}

fn offer(shown: &Shown<'_>) -> Offered {
    let tool = shown.tool;
    Offered {
        spec: ToolSpec {
            name: shown.name.to_owned(),
            canonical: tool.name().to_owned(),
            description: shown.description.to_owned(),
            parameters: match shown.bound {
                None => Schema::Tool(Arc::clone(tool)),
                Some(bound) => Schema::Bound(Arc::clone(bound)),
            },
            read_only: tool.policy.read_only || asks(tool),
            destructive: tool.policy.needs_approval,
        },
        tool: Arc::clone(tool),
    }
}

/// Whether a tool's effect is a question to a person, and nothing else.
pub fn asks(tool: &Tool) -> bool {
    tool.executor.handler().is_some_and(|handler| handler.asks())
}

fn loosely(name: &str) -> String {
    let last = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
    last.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
