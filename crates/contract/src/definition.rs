//! The one definition that every tool has.

use std::collections::BTreeMap;

use jiff::civil::Date;
use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::effect::Effect;
use crate::hints::Priority;
use crate::permission::Permission;
use crate::spelling;

/// A tool, as it is published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolDefinition {
    /// Unique; kebab-case `verb-noun` for our own. Never changes once published.
    pub name: String,
    /// What the tool does, when to use it, what it returns; plain English, 50 characters or more.
    pub description: String,
    /// Semantic version.
    pub version: Version,
    /// The permissions that a caller needs; may be empty.
    pub permissions: Vec<Permission>,
    /// JSON Schema 2020-12 of the parameters.
    pub parameters: Value,
    /// JSON Schema 2020-12 of `data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Determines caching and retry.
    pub category: Category,
    /// Determines the timeout where none is given.
    pub response_time: ResponseTime,
    /// Whether results can be cached. Never for mutations.
    pub cacheable: bool,
    /// Seconds; required if cacheable.
    #[serde(default, rename = "cacheTTL", skip_serializing_if = "Option::is_none")]
    pub cache_ttl: Option<u64>,
    /// For a query: the same input gives the same output. For a mutation: repeating has no further effect.
    pub idempotent: bool,
    /// At least one.
    pub examples: Vec<Example>,
    /// At least one.
    pub tags: Vec<String>,
    /// Calls per caller and window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// Set when the tool is on its way out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Deprecation>,
    /// Seconds (above 0, at most 3600), where `responseTime` says too little.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Whether calls may run side by side; by default what the kind of tool allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<bool>,
    /// Whether the effect cannot be taken back, so that a person must agree.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub destructive: bool,
    /// What a call does, in words that people are shown; without it, what the category allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// What usually comes next; becomes `suggestedNextActions`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_actions: Vec<NextAction>,
    /// Fields that the author left out and Toolroom filled in on the safe side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<String>,
}

impl ToolDefinition {
    /// A native query that states nothing special yet: fast, for everybody, not cached. Its author fills in
    /// parameters, output, examples and tags, and whatever is an exception.
    pub fn query(name: &str, description: &str) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            version: Version::new(1, 0, 0),
            permissions: Vec::new(),
            parameters: Value::Null,
            output: None,
            category: Category::Query,
            response_time: ResponseTime::Fast,
            cacheable: false,
            cache_ttl: None,
            idempotent: true,
            examples: Vec::new(),
            tags: Vec::new(),
            rate_limit: None,
            deprecated: None,
            timeout: None,
            parallel: None,
            destructive: false,
            effect: None,
            next_actions: Vec::new(),
            derived: Vec::new(),
        }
    }

    /// The contract as it is shown: its schemas in the spelling that every client reads.
    pub fn published(&self) -> Self {
        Self {
            parameters: spelling::of_object(&self.parameters),
            output: self.output.as_ref().map(spelling::of),
            ..self.clone()
        }
    }

    /// The same for a mutation, which is not idempotent unless its author says so.
    pub fn mutation(name: &str, description: &str) -> Self {
        Self { category: Category::Mutation, idempotent: false, ..Self::query(name, description) }
    }
}

/// What a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Reads, and changes nothing.
    Query,
    /// Changes something.
    Mutation,
    /// Works out something from data; changes nothing.
    Analysis,
    /// Makes something new to read; changes nothing.
    Generation,
}

impl Category {
    /// The category as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Category::Query => "query",
            Category::Mutation => "mutation",
            Category::Analysis => "analysis",
            Category::Generation => "generation",
        }
    }
}

/// How long a tool usually takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResponseTime {
    /// Under 100 ms.
    Fast,
    /// 100 ms to 1 s.
    Medium,
    /// Over 1 s.
    Slow,
}

/// A call and its answer. `toolroom check --examples` runs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Example {
    /// What this example shows.
    pub description: String,
    /// Example input.
    pub params: Map<String, Value>,
    /// The `data` of the answer, as it really is: it fits the output schema.
    pub expected_result: Value,
    /// What differs from call to call: JSON pointers into `expectedResult`, each with what may be there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub varies: BTreeMap<String, Varies>,
}

/// What may be in a place of an answer that differs from call to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Varies {
    /// Anything, or nothing.
    Any,
    /// Any text.
    String,
    /// Any number.
    Number,
    /// A number above 0, or a text that is not empty.
    Id,
    /// An instant.
    Time,
}

impl Varies {
    /// Whether the value fits there.
    pub fn accepts(self, value: &Value) -> bool {
        match self {
            Varies::Any => true,
            Varies::String => value.is_string(),
            Varies::Number => value.is_number(),
            Varies::Id => {
                value.as_i64().is_some_and(|id| id > 0) || value.as_str().is_some_and(|id| !id.is_empty())
            }
            Varies::Time => value.as_str().is_some_and(|time| time.parse::<jiff::Timestamp>().is_ok()),
        }
    }
}

impl Example {
    /// An example; `params` is an object.
    pub fn new(description: &str, params: &Value, expected_result: Value) -> Self {
        let params = params.as_object().cloned().unwrap_or_default();
        Self { description: description.into(), params, expected_result, varies: BTreeMap::new() }
    }

    /// With places that differ from call to call.
    pub fn varying<'a>(mut self, places: impl IntoIterator<Item = (&'a str, Varies)>) -> Self {
        self.varies.extend(places.into_iter().map(|(pointer, varies)| (pointer.to_owned(), varies)));
        self
    }
}

/// Calls per caller and window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RateLimit {
    /// Maximum calls per window.
    #[schemars(range(min = 1))]
    pub max_calls: u32,
    /// Window in milliseconds.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub window_ms: u64,
}

impl RateLimit {
    /// The longest window: a day.
    pub const LONGEST_MS: u64 = 86_400_000;
}

/// How a tool is retired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deprecation {
    /// Version in which it was deprecated.
    pub since: Version,
    /// The tool to use instead.
    pub replacement: String,
    /// The day from which it is gone; at least 90 days ahead when it is set.
    pub removal_date: Date,
}

impl Deprecation {
    /// Days between the announcement and the removal.
    pub const NOTICE_DAYS: i32 = 90;

    /// Whether the tool is gone on that day.
    pub fn is_removed(&self, today: Date) -> bool {
        self.removal_date <= today
    }
}

/// A step that usually comes next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NextAction {
    /// The tool to call.
    pub action: String,
    /// After which ending.
    #[serde(default)]
    pub when: When,
    /// How urgent.
    pub priority: Priority,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Arguments, from the result or fixed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, Argument>,
}

impl NextAction {
    /// A step after success, without arguments.
    pub fn new(action: &str, priority: Priority, description: &str) -> Self {
        Self {
            action: action.into(),
            when: When::Success,
            priority,
            description: Some(description.into()),
            arguments: BTreeMap::new(),
        }
    }

    /// With an argument that the result or the call gives.
    pub fn with_from(mut self, argument: &str, pointer: &str) -> Self {
        self.arguments.insert(argument.into(), Argument::From(pointer.into()));
        self
    }
}

/// After which ending a next action makes sense.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// The call succeeded.
    #[default]
    Success,
    /// The call failed.
    Error,
    /// Either way.
    Always,
}

/// Where an argument of a next action comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Argument {
    /// A JSON pointer into `{"params": …, "data": …}`; the action is dropped if nothing is there.
    From(String),
    /// A fixed value.
    Value(Value),
}
