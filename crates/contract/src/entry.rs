//! An entry of `tools.json`: the short form or the full contract. What it leaves out is filled in on the
//! safe side, and named as derived.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::definition::{
    Category, Deprecation, Example, NextAction, RateLimit, ResponseTime, ToolDefinition,
};
use crate::effect::Effect;
use crate::http_request::HttpRequest;
use crate::permission::Permission;
use crate::sandbox::SandboxEntry;

/// An entry, as its author wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolEntry {
    /// Unique; kept as it is given.
    pub name: String,
    /// What the tool does, when to use it, what it returns.
    pub description: String,
    /// Who runs it.
    #[serde(rename = "type", default)]
    pub kind: EntryKind,
    /// JSON Schema of the parameters; any object if not given.
    #[serde(rename = "input_schema", alias = "parameters", default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    /// JSON Schema of the output.
    #[serde(rename = "output_schema", alias = "output", default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Whether calls may run side by side.
    #[serde(
        rename = "parallel_capable",
        alias = "parallel",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub parallel: Option<bool>,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Where its code is, and how it runs.
    #[serde(default)]
    pub config: EntryConfig,
    /// See [`ToolDefinition::version`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// See [`ToolDefinition::permissions`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<Permission>>,
    /// See [`ToolDefinition::category`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// See [`ToolDefinition::response_time`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time: Option<ResponseTime>,
    /// See [`ToolDefinition::cacheable`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cacheable: Option<bool>,
    /// See [`ToolDefinition::cache_ttl`].
    #[serde(rename = "cacheTTL", default, skip_serializing_if = "Option::is_none")]
    pub cache_ttl: Option<u64>,
    /// See [`ToolDefinition::idempotent`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// See [`ToolDefinition::destructive`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// See [`ToolDefinition::effect`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// See [`ToolDefinition::examples`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<Vec<Example>>,
    /// See [`ToolDefinition::tags`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// See [`ToolDefinition::rate_limit`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// See [`ToolDefinition::deprecated`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Deprecation>,
    /// See [`ToolDefinition::next_actions`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_actions: Vec<NextAction>,
    /// A definition as Toolroom shows it can be an entry too; what it says here is computed again.
    #[serde(default, rename = "derived", skip_serializing)]
    shown_as_derived: Vec<String>,
}

/// The version of a tool whose entry names none: anything about it may change until it is published.
pub const DRAFT: Version = Version::new(0, 1, 0);

/// Who runs a tool of `tools.json`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// A script or program in the home's `tools/`.
    #[default]
    Local,
    /// Code that comes with Toolroom.
    Builtin,
    /// A request to a web service.
    Http,
}

/// Where a tool's code is, and how it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntryConfig {
    /// The script or program, relative to `tools/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script_path: Option<String>,
    /// The Python function, `run` if not given; or the tool that a TypeScript or JavaScript file exports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<String>,
    /// Environment variables of the script, in addition to the few that every script has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Who shares a warm worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// What its processes may use; what is not given has a default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<EntryLimits>,
    /// Its own sandbox for the script: `true`, or what it may reach. Without one it runs as the server's user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxEntry>,
    /// The request that it makes, if it is of type `http`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<HttpRequest>,
}

/// What the processes of one call may use. Sizes are bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntryLimits {
    /// Memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16_777_216))]
    pub memory: Option<u64>,
    /// Seconds of CPU time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 3600))]
    pub cpu_seconds: Option<u64>,
    /// Open files of each process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16, max = 65_536))]
    pub open_files: Option<u64>,
    /// Processes and threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub processes: Option<u64>,
    /// The largest file that may be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_size: Option<u64>,
    /// The largest answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 64, max = 67_108_864))]
    pub output: Option<u64>,
}

impl EntryLimits {
    /// The first limit that is outside its range: its name, and the range in words.
    pub fn out_of_range(&self) -> Option<(&'static str, String)> {
        let ranges = [
            ("memory", self.memory, 16 << 20, u64::MAX),
            ("cpu_seconds", self.cpu_seconds, 1, 3600),
            ("open_files", self.open_files, 16, 65_536),
            ("processes", self.processes, 1, 4096),
            ("output", self.output, 64, 64 << 20),
        ];
        ranges.into_iter().find_map(|(name, value, least, most)| {
            let outside = value.is_some_and(|value| !(least..=most).contains(&value));
            outside.then(|| match most {
                u64::MAX => (name, format!("at least {least}")),
                most => (name, format!("{least} to {most}")),
            })
        })
    }
}

/// Who shares a warm worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// All callers of the tool.
    #[default]
    Shared,
    /// The calls of one user.
    User,
    /// Nobody: a fresh worker for every call.
    Call,
}

impl ToolEntry {
    /// The whole definition, with what was filled in listed as derived.
    pub fn definition(&self) -> ToolDefinition {
        let mut derived = Vec::new();
        let mut missing = |field: &str| derived.push(field.to_owned());
        let parameters = self.parameters.clone().unwrap_or_else(|| {
            missing("parameters");
            json!({ "type": "object" })
        });
        let permissions = self.permissions.clone().unwrap_or_else(|| {
            missing("permissions");
            Permission::new(&self.name, "call").into_iter().collect()
        });
        let category = self.category.unwrap_or_else(|| {
            missing("category");
            Category::Mutation
        });
        let response_time = self.response_time.unwrap_or_else(|| {
            missing("responseTime");
            ResponseTime::Medium
        });
        let cacheable = self.cacheable.unwrap_or_else(|| {
            missing("cacheable");
            false
        });
        let idempotent = self.idempotent.unwrap_or_else(|| {
            missing("idempotent");
            false
        });
        let tags = self.tags.clone().unwrap_or_else(|| {
            missing("tags");
            vec![if self.kind == EntryKind::Http { "http" } else { "script" }.into()]
        });
        ToolDefinition {
            name: self.name.clone(),
            description: self.description.clone(),
            version: self.version.clone().unwrap_or(DRAFT),
            permissions,
            parameters,
            output: self.output.clone(),
            category,
            response_time,
            cacheable,
            cache_ttl: self.cache_ttl,
            idempotent,
            examples: self.examples.clone().unwrap_or_default(),
            tags,
            rate_limit: self.rate_limit,
            deprecated: self.deprecated.clone(),
            timeout: self.timeout,
            parallel: self.parallel,
            destructive: self.destructive.unwrap_or(false),
            effect: self.effect.clone(),
            next_actions: self.next_actions.clone(),
            derived,
        }
    }
}
