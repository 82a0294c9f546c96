//! Tools as the console shows them: a line for the list, and a sheet with what follows from the contract.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use toolroom_contract::check::{self, Finding, Stage};
use toolroom_contract::confidence::Source;
use toolroom_contract::{Principal, ToolDefinition};
use toolroom_runtime::catalogue::{Shown, Snapshot, Tool};
use toolroom_runtime::journal::figures::{Group, Wanted};

use super::executions::of_failure;
use crate::app::App;
use crate::middleware::Problem;

/// Where a tool comes from.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ToolKind")]
enum Kind {
    Native,
    Script,
    Server,
}

impl Kind {
    fn of(tool: &Tool) -> Self {
        match tool.executor.source() {
            Source::Native | Source::Unknown => Self::Native,
            Source::Script => Self::Script,
            Source::Upstream => Self::Server,
        }
    }
}

/// A tool in one line.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BriefTool")]
pub(crate) struct Brief {
    name: String,
    /// The description.
    about: String,
    category: Value,
    tags: Vec<String>,
    source: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    destructive: bool,
    deprecated: bool,
    /// Calls in the last 30 days, as far as you may see them.
    #[serde(rename = "calls30d")]
    calls: u64,
}

impl Brief {
    pub(crate) fn new(tool: &Tool, calls: &HashMap<String, u64>) -> Self {
        let definition = tool.definition();
        Self {
            name: definition.name.clone(),
            about: definition.description.clone(),
            category: json!(definition.category),
            tags: definition.tags.clone(),
            source: Kind::of(tool),
            server: tool.executor.origin().server.map(str::to_owned),
            destructive: definition.destructive,
            deprecated: definition.deprecated.is_some(),
            calls: calls.get(tool.name()).copied().unwrap_or(0),
        }
    }
}

/// How often each tool was called in the last 30 days, under whichever name.
pub(crate) async fn calls(app: &App, caller: &Principal) -> Result<HashMap<String, u64>, Problem> {
    let now = app.runtime.clock.now();
    let all = caller.grants.hold("executions", "read");
    let wanted = Wanted {
        since: now - SignedDuration::from_hours(24 * 30),
        until: now,
        step: 24 * 3600,
        user: (!all).then(|| caller.user.key.to_string()),
        profiles: caller.profiles.clone(),
    };
    let (figures, snapshot) = (Arc::clone(&app.figures), Arc::clone(&app.runtime.registry.snapshot()));
    let counted = app.read_log(move |_| figures.count(&wanted, |group| canonical(&snapshot, group)));
    let counted = counted.await.map_err(of_failure)?;
    Ok(counted.groups.into_iter().map(|(tool, sum)| (tool, sum.calls)).collect())
}

/// The tool that a profile calls by that name.
fn canonical(snapshot: &Snapshot, group: Group<'_>) -> String {
    let bound = snapshot.profiles.get(group.profile).and_then(|profile| profile.bound.as_ref());
    let tool = bound.and_then(|bound| bound.get(group.tool)).map(|bound| bound.tool.name());
    tool.unwrap_or(group.tool).to_owned()
}

/// A tool with what follows from its contract.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolSheet")]
pub(crate) struct Sheet {
    definition: Arc<ToolDefinition>,
    source: Origin,
    policy: Policy,
    /// How many of the last calls were good.
    record: Record,
    /// The checklist of the contract.
    findings: Vec<Line>,
    /// The profiles that have it, and its name there.
    published: Vec<Published>,
    /// What its definition costs a model, estimated: a fourth of its length.
    tokens: usize,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolOrigin")]
struct Origin {
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    /// The script's path below the folder of the tools, for who may change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ToolPolicy")]
struct Policy {
    timeout_ms: u64,
    /// Whether a call that may have run can be repeated without harm.
    retries: bool,
    cached: bool,
    needs_approval: bool,
    parallel: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolRecord")]
struct Record {
    good: u32,
    of: u32,
}

/// A line of the checklist.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ChecklistLine")]
pub(crate) struct Line {
    line: &'static str,
    outcome: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl From<Finding> for Line {
    fn from(finding: Finding) -> Self {
        Self { line: finding.line, outcome: json!(finding.outcome), detail: finding.message }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolPublished")]
struct Published {
    profile: String,
    r#as: String,
}

impl Sheet {
    pub(crate) async fn new(app: &App, caller: &Principal, tool: &Arc<Tool>) -> Self {
        let definition = tool.definition();
        let stage = match tool.executor.source() {
            Source::Native => Stage::Native,
            _ => Stage::Loaded,
        };
        let script = match caller.grants.hold("registry", "write") {
            true => app.registrar.script_of(tool.name()).await,
            false => None,
        };
        let record = tool.record.read();
        let snapshot = Arc::clone(&app.runtime.registry.snapshot());
        let is_it = |shown: &Shown<'_>| shown.tool.name() == tool.name();
        let published = snapshot.views(caller, app.runtime.today()).filter_map(|(profile, view)| {
            let shown = view.tools().find(is_it)?;
            Some(Published { profile: profile.to_owned(), r#as: shown.name.to_owned() })
        });
        Self {
            source: Origin {
                kind: Kind::of(tool),
                server: tool.executor.origin().server.map(str::to_owned),
                script,
            },
            policy: Policy {
                timeout_ms: u64::try_from(tool.policy.timeout.as_millis()).unwrap_or(u64::MAX),
                retries: tool.policy.repeatable,
                cached: tool.policy.cache.is_some(),
                needs_approval: tool.policy.needs_approval,
                parallel: tool.policy.slots != Some(1),
            },
            record: Record { good: record.good, of: record.all },
            findings: check::check(definition, stage).into_iter().map(Line::from).collect(),
            published: published.collect(),
            tokens: tokens(&definition.name, &definition.description, &definition.parameters),
            definition: Arc::clone(definition),
        }
    }
}

/// What a tool costs in a list of tools, estimated: a fourth of the length of its definition.
pub(crate) fn tokens(name: &str, description: &str, parameters: &Value) -> usize {
    json!([name, description, parameters]).to_string().len().div_ceil(4)
}
