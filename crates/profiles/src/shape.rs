//! What a profile is made of: bindings, each with a schema, an input map and an output map.

use std::borrow::Cow;

use jiff::tz::TimeZone;
use serde_json::Value;
use toolroom_contract::confidence::Source;
use toolroom_contract::{ToolDefinition, ToolError, ToolResult, User};

/// A named view of the catalogue.
pub struct Profile {
    /// The name in paths and requests.
    pub name: Cow<'static, str>,
    /// One sentence for people.
    pub description: Cow<'static, str>,
    /// Whether destructive tools wait for a person. Not where the published contract deletes at once.
    pub holds: bool,
    /// The tools.
    pub tools: Tools,
}

/// Which tools a profile shows.
pub enum Tools {
    /// The whole catalogue, as it is.
    Whole,
    /// These.
    Listed(Vec<Binding>),
    /// Those that are in the catalogue now, which changes.
    Picked(Picked),
}

/// A view of a catalogue that changes while it is looked at.
pub struct Picked {
    /// Tools in a shape of their own, each shown while its tool is there.
    pub listed: Vec<Binding>,
    /// Beside those, every tool that one of these takes, under its own name and with its own parameters.
    pub picks: Vec<Pick>,
    /// The answer of a tool that was picked, and of a call that reached no tool.
    pub output: OutputMap,
}

/// A way to pick tools.
#[derive(Clone, Debug, PartialEq)]
pub enum Pick {
    /// Those that run there.
    Source(Source),
    /// Those with this tag.
    Tag(String),
    /// The one of this name.
    Name(String),
}

impl Pick {
    /// Whether it takes a tool.
    pub fn takes(&self, definition: &ToolDefinition, source: Source) -> bool {
        match self {
            Pick::Source(wanted) => *wanted == source,
            Pick::Tag(tag) => definition.tags.contains(tag),
            Pick::Name(name) => definition.name == *name,
        }
    }
}

impl Picked {
    /// The shape of a tool, if it is taken beside the listed ones.
    pub fn binding(&self, definition: &ToolDefinition, source: Source) -> Option<Binding> {
        let listed = |one: &Binding| one.canonical == definition.name || one.name == definition.name;
        let taken = self.picks.iter().any(|pick| pick.takes(definition, source));
        (taken && !self.listed.iter().any(listed)).then(|| Binding {
            name: definition.name.clone().into(),
            canonical: definition.name.clone().into(),
            description: definition.description.clone().into(),
            parameters: definition.parameters.clone(),
            trimmed: &[],
            input: |params, _| Ok(Input::of(params.clone())),
            output: self.output,
        })
    }
}

/// One published tool.
pub struct Binding {
    /// The name it is published under.
    pub name: Cow<'static, str>,
    /// The canonical tool behind it.
    pub canonical: Cow<'static, str>,
    /// The published description.
    pub description: Cow<'static, str>,
    /// The published input schema.
    pub parameters: Value,
    /// String parameters whose outer white space does not count.
    pub trimmed: &'static [&'static str],
    /// Published parameters to canonical ones.
    pub input: InputMap,
    /// The canonical result to the published answer.
    pub output: OutputMap,
}

/// Published parameters, which fit the published schema, to canonical ones.
pub type InputMap = fn(&Value, &Caller<'_>) -> Result<Input, ToolError>;

/// The canonical result to the published answer.
pub type OutputMap = fn(&Published<'_>) -> Value;

/// Who calls, as far as a map may know.
pub struct Caller<'a> {
    /// The principal's own user.
    pub user: &'a User,
    /// The user's zone, for dates without one.
    pub time_zone: &'a TimeZone,
}

/// Canonical parameters, and for whom.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The parameters.
    pub params: Value,
    /// The user whom the parameters name, where a published schema carries one.
    pub user_key: Option<String>,
    /// Another canonical tool than the binding's, where these parameters ask for one.
    pub tool: Option<&'static str>,
}

impl Input {
    /// Parameters for the binding's own tool, on behalf of the caller.
    pub fn of(params: impl Into<Value>) -> Self {
        Self { params: params.into(), user_key: None, tool: None }
    }
}

/// A call that ended, as an output map sees it.
pub struct Published<'a> {
    /// The published parameters, as they came.
    pub params: &'a Value,
    /// The canonical result, failures included.
    pub result: &'a ToolResult,
    /// On whose behalf.
    pub user: &'a User,
    /// That user's zone.
    pub time_zone: &'a TimeZone,
}

/// Whether a published answer says that it failed. A search that finds nothing may be a failure to a
/// published contract while the canonical call succeeded.
pub fn is_failure(answer: &Value) -> bool {
    answer.get("success") == Some(&Value::Bool(false))
        || (answer.get("status").is_some_and(|status| status == "error")
            && answer.get("execution_id").is_some())
}
