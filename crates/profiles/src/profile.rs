//! What a profile is made of: bindings, each with a schema, an input map and an output map.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use serde_json::Value;
use toolroom_contract::confidence::Source;
use toolroom_contract::{ToolDefinition, ToolError, ToolResult, User};

use crate::plain;

/// A named view of the catalogue.
pub struct Profile {
    /// The name in paths and requests.
    pub name: Cow<'static, str>,
    /// One sentence for people.
    pub description: Cow<'static, str>,
    /// Whether destructive tools wait for a person. Not where the published contract deletes at once.
    pub requires_approval: bool,
    /// How its tools are shown to those who list them.
    pub show: Show,
    /// How a chat works with it.
    pub chat: ChatRules,
    /// The tools.
    pub tools: Tools,
}

impl Profile {
    /// Whether it has all tools that it must have. A list is a published contract: it is whole, or not there.
    pub fn is_whole(&self, there: impl Fn(&str) -> bool) -> bool {
        match &self.tools {
            Tools::Listed(bindings) => bindings.iter().all(|binding| there(&binding.canonical)),
            Tools::Whole | Tools::Picked(_) => true,
        }
    }
}

/// How a chat works with the tools of a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChatRules {
    /// What the person is asked about first.
    pub confirm: Confirm,
    /// Whether what a person names in words must be found by the search tool before it is changed.
    pub find_first: bool,
    /// What a model is told about these tools, in addition to what it is always told.
    pub notes: &'static str,
}

/// What a person is asked about in a chat before it is done. What waits for approval is always asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirm {
    /// Nothing more than that.
    Never,
    /// What deletes, and changes of several things at once.
    #[default]
    Deletes,
    /// Every change.
    Changes,
}

/// How the tools of a profile are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Each in the list.
    #[default]
    List,
    /// The list has only [`SEARCHERS`]: the others are found, read and called through them.
    Search,
    /// Each in the list, without [`SEARCHERS`], while there are no more than this; above it like [`Show::Search`].
    UpTo(usize),
}

/// The tools that stand for a list that is too long to show.
pub const SEARCHERS: [&str; 3] = ["search-tools", "describe-tool", "call-tool"];

/// Which tools a profile shows.
pub enum Tools {
    /// The whole catalogue, as it is.
    Whole,
    /// These.
    Listed(Vec<Binding>),
    /// Those that are in the catalogue now, which changes.
    Picked(Picked),
}

impl Tools {
    /// The shape of a tool that is picked, where it gets one of its own.
    pub fn shape(&self, name: &str, definition: &ToolDefinition, source: Source) -> Option<Binding> {
        match self {
            Tools::Picked(picked) => picked.binding(name, definition, source),
            Tools::Whole | Tools::Listed(_) => None,
        }
    }

    /// The tools with their own shape.
    pub fn listed(&self) -> &[Binding] {
        match self {
            Tools::Whole => &[],
            Tools::Listed(bindings) | Tools::Picked(Picked { listed: bindings, .. }) => bindings,
        }
    }
}

/// A view of a catalogue that changes while it is looked at.
#[derive(Default)]
pub struct Picked {
    /// Tools with their own shape, each shown while its tool exists.
    pub listed: Vec<Binding>,
    /// Beside those, every tool that one of these takes, with its own parameters.
    pub picks: Vec<Pick>,
    /// But none that one of these takes.
    pub without: Vec<Pick>,
    /// The published names of tools that are not shown under their own.
    pub names: BTreeMap<String, String>,
    /// The shape of a tool that was picked, and of the answer to a call that reached no tool.
    pub style: Style,
}

/// How tools that a profile picks are published.
#[derive(Clone, Copy, Default)]
pub enum Style {
    /// As they are.
    #[default]
    Whole,
    /// As they are, but for the answer.
    Answer(OutputMap),
    /// In few words, with the data alone as the answer.
    Plain {
        /// Whether the schema of the data is shown too.
        output_schemas: bool,
    },
}

impl Style {
    /// The answer to a call that reached no tool, where it is not the canonical one.
    pub fn output(self) -> Option<(OutputMap, Answers)> {
        match self {
            Style::Whole => None,
            Style::Answer(output) => Some((output, Answers::Contract)),
            Style::Plain { .. } => Some((plain::answer, Answers::Data { structured: false })),
        }
    }
}

/// What a published answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// A contract of its own, which says itself how the call went.
    Contract,
    /// What the tool gave, whatever that is.
    Data {
        /// Whether it is given as structured content in addition to the text.
        structured: bool,
    },
}

impl Answers {
    /// Whether the answer says that the call failed. A search that finds nothing may be a failure to a published contract
    /// while the canonical call succeeded.
    pub fn failed(self, answer: &Value, result: &ToolResult) -> bool {
        match self {
            Answers::Contract => match (answer.get("success"), answer.get("status")) {
                (Some(Value::Bool(success)), _) => !success,
                (_, Some(status)) => status == "error" || result.error().is_some(),
                _ => result.error().is_some(),
            },
            Answers::Data { .. } => result.error().is_some(),
        }
    }
}

/// A way to pick tools.
#[derive(Clone, Debug, PartialEq)]
pub enum Pick {
    /// Those that run there.
    Source(Source),
    /// Those of this MCP server.
    Server(String),
    /// Those with this tag.
    Tag(String),
    /// Those of this name; `*` stands for any characters.
    Name(String),
}

/// Where a tool comes from.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// What runs it.
    pub source: Source,
    /// The MCP server behind it, if there is one.
    pub server: Option<&'a str>,
}

impl Pick {
    /// Whether it takes a tool.
    pub fn takes(&self, definition: &ToolDefinition, origin: Origin<'_>) -> bool {
        match self {
            Pick::Source(wanted) => *wanted == origin.source,
            Pick::Server(name) => origin.server == Some(name),
            Pick::Tag(tag) => definition.tags.contains(tag),
            Pick::Name(pattern) => fits(pattern, &definition.name),
        }
    }
}

/// Whether a name fits a pattern in which `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(end)
}

impl Picked {
    /// The name that a tool is published under, if it is published next to the listed ones.
    pub fn name<'a>(&'a self, definition: &'a ToolDefinition, origin: Origin<'_>) -> Option<&'a str> {
        let name = self.names.get(&definition.name).unwrap_or(&definition.name);
        let listed = |one: &Binding| one.canonical == definition.name || one.name == *name;
        let any = |picks: &[Pick]| picks.iter().any(|pick| pick.takes(definition, origin));
        (any(&self.picks) && !any(&self.without) && !self.listed.iter().any(listed)).then_some(name)
    }

    /// The shape of a tool, where its answers have their own.
    pub fn binding(&self, name: &str, definition: &ToolDefinition, source: Source) -> Option<Binding> {
        let output = match self.style {
            Style::Whole => return None,
            Style::Plain { output_schemas } => {
                return Some(plain::binding(name, definition, source, output_schemas));
            }
            Style::Answer(output) => output,
        };
        Some(Binding {
            name: name.to_owned().into(),
            canonical: definition.name.clone().into(),
            description: definition.description.clone().into(),
            parameters: definition.parameters.clone(),
            trimmed: &[],
            plain: None,
            input: |params, _| Ok(Input::of(params.clone())),
            output,
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
    /// Where it is published in few words.
    pub plain: Option<Plain>,
    /// Published parameters to canonical ones.
    pub input: InputMap,
    /// The canonical result to the published answer.
    pub output: OutputMap,
}

/// What is special about a tool that is published in few words: its answer is the data alone.
pub struct Plain {
    /// Fields that a parameter `clear` may name, which stands in the place of their null.
    pub clear: Vec<String>,
    /// The schema of the data, where it is shown.
    pub output_schema: Option<Value>,
}

impl Binding {
    /// The canonical parameters.
    pub fn map(&self, params: &Value, caller: &Caller<'_>) -> Result<Input, ToolError> {
        match &self.plain {
            Some(Plain { clear, .. }) if !clear.is_empty() => {
                (self.input)(&plain::cleared(params, clear, "")?, caller)
            }
            _ => (self.input)(params, caller),
        }
    }

    /// What its answer is.
    pub fn answers(&self) -> Answers {
        match &self.plain {
            None => Answers::Contract,
            Some(plain) => Answers::Data { structured: plain.output_schema.is_some() },
        }
    }
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
    /// Whether the caller gets this answer and nothing else. Over MCP, blocks of content travel on their own.
    pub alone: bool,
}

/// Whether a published answer says that it failed. A search that finds nothing may be a failure to a
/// published contract while the canonical call succeeded.
pub fn is_failure(answer: &Value) -> bool {
    answer.get("success") == Some(&Value::Bool(false))
        || (answer.get("status").is_some_and(|status| status == "error")
            && answer.get("execution_id").is_some())
}
