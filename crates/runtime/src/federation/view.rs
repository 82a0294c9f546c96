//! A server as people see it: its entry without its secrets, how it is doing, what it has.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolroom_contract::diff::Change;
use toolroom_upstream::config::{Reach, ServerConfig, Standing, UrlKind};
use toolroom_upstream::{Hello, State, Status};

use super::pending_review::{SeenTool, ToolStanding};
use super::server::Server;

/// A server as people see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerView {
    /// Its name in mcp.json.
    pub name: String,
    /// What callers of its tools need.
    pub permission: String,
    /// How it is doing.
    pub state: ServerState,
    /// Why it cannot be used, or only partly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Since when it is in that state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// How it is reached: `stdio`, `http`, `sse`, or `url` where that is found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<&'static str>,
    /// The revision of MCP that is spoken, once it was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// What it says that it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Value>,
    /// How it wants to be used, in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// How often a connection was made.
    pub connections: u64,
    /// How many of its tools can be called.
    pub open: usize,
    /// How many wait for review by a person.
    pub pending_review: usize,
    /// Stands for all that waits for review; `approve` takes it. For administrators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_hash: Option<String>,
    /// Its tools, by its own names.
    pub tools: Vec<ToolView>,
    /// Why the list is not whole, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// Its entry, with values that may be keys left out. For administrators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<Value>,
    /// The end of what its program wrote to stderr. For administrators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
}

/// A server that cannot be used now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unavailable {
    /// Its name.
    pub server: String,
    /// How it is doing.
    pub state: ServerState,
    /// Why.
    pub reason: String,
}

/// How a server is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServerState {
    /// The entry switches it off, or names a variable that is not set.
    Disabled,
    /// The entry is wrong.
    Invalid,
    /// Nobody has needed it yet.
    Idle,
    /// It is being reached.
    Connecting,
    /// It can be called.
    Ready,
    /// It was lost, and is about to be tried again.
    Waiting,
    /// Connecting failed; calls fail, and it is retried now and then.
    Down,
    /// It was stopped here.
    Stopped,
}

impl ServerState {
    /// In a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Invalid => "invalid",
            Self::Idle => "idle",
            Self::Connecting => "connecting",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Down => "down",
            Self::Stopped => "stopped",
        }
    }
}

/// A tool of a server.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    /// The server's own name for it.
    pub tool: String,
    /// Its name in the catalogue, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `open`, `changed` and `new` (both wait for review), `rejected`, `left_out`.
    pub standing: &'static str,
    /// Why it cannot be called, or what the server says about a new tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What has changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub changes: Vec<Change>,
    /// Stands for the definition that waits for review; `approve` takes it. For administrators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_hash: Option<String>,
    /// The definition that waits for review, as the server lists it. For administrators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<Value>,
    /// The definition that was approved, where one waits for review. For administrators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<Value>,
}

impl Server {
    /// How it is doing.
    pub fn state(&self) -> ServerState {
        match self.status().map(|status| status.state) {
            None if matches!(self.entry.standing, Standing::Invalid(_)) => ServerState::Invalid,
            None => ServerState::Disabled,
            Some(State::Idle) => ServerState::Idle,
            Some(State::Connecting) => ServerState::Connecting,
            Some(State::Ready) => ServerState::Ready,
            Some(State::Waiting) => ServerState::Waiting,
            Some(State::Down) => ServerState::Down,
            Some(State::Stopped) => ServerState::Stopped,
        }
    }

    /// The server as people see it; administrators are told more.
    pub fn view(&self, administrator: bool) -> ServerView {
        let status: Option<Status> = self.status();
        let hello: Option<&Hello> = status.as_ref().and_then(|status| status.hello.as_deref());
        let seen = self.seen.load();
        let tools: Vec<ToolView> =
            seen.tools.iter().map(|(remote, tool)| tool.view(remote, administrator)).collect();
        let count = |standing: &[&str]| tools.iter().filter(|tool| standing.contains(&tool.standing)).count();
        let reason = if self.upstream.is_none() { Some(self.off()) } else { self.trouble() };
        ServerView {
            name: self.name().to_owned(),
            permission: format!("{}:call", self.published()),
            state: self.state(),
            reason: if administrator { reason } else { reason.map(|reason| plain(&reason)) },
            since: status.as_ref().map(|status| status.since),
            transport: self.config().map(transport),
            revision: hello.map(|hello| hello.revision.as_str().to_owned()),
            server: hello.map(|hello| hello.server.clone()),
            instructions: hello
                .filter(|_| administrator || !seen.unreviewed)
                .and_then(|hello| hello.instructions.clone()),
            connections: status.as_ref().map_or(0, |status| status.connections),
            open: count(&["open"]),
            pending_review: count(&["changed", "new"]),
            pending_hash: seen.pending_hash().filter(|_| administrator),
            tools,
            incomplete: seen.incomplete.clone(),
            entry: administrator.then(|| masked_entry(&self.entry.source)),
            stderr: self.upstream().filter(|_| administrator).and_then(|upstream| upstream.stderr_tail()),
        }
    }

    /// Why it cannot be used now, in words that anybody may read: no address, no path.
    pub fn plain_trouble(&self) -> Option<String> {
        self.trouble().map(|reason| plain(&reason))
    }
}

impl SeenTool {
    /// What a server says about a tool that no person has approved is shown only to administrators.
    fn view(&self, remote: &str, administrator: bool) -> ToolView {
        let (standing, reason, changes) = match &self.standing {
            ToolStanding::Open => ("open", None, Vec::new()),
            ToolStanding::Changed(changes) => ("changed", None, changes.clone()),
            ToolStanding::New(says) => ("new", Some(says.clone()), Vec::new()),
            ToolStanding::Rejected(why) | ToolStanding::NameTaken(why) => {
                ("rejected", Some(why.clone()), Vec::new())
            }
            ToolStanding::LeftOut => ("left_out", None, Vec::new()),
        };
        let shown = administrator || !self.standing.is_pending_review();
        let (reason, changes) = if shown { (reason, changes) } else { (None, Vec::new()) };
        let waits = self.standing.is_pending_review() && administrator;
        let parsed = |raw: &RawValue| serde_json::from_str(raw.get()).ok();
        ToolView {
            tool: remote.to_owned(),
            name: self.name.clone(),
            standing,
            reason,
            changes,
            pending_hash: self.pending_hash().filter(|_| waits),
            pending: self.now.as_ref().filter(|_| waits).and_then(|now| parsed(&now.raw)),
            approved: self.approved.as_ref().filter(|_| waits).and_then(|raw| parsed(raw)),
        }
    }
}

fn transport(config: &ServerConfig) -> &'static str {
    match &config.reach {
        Reach::Stdio(_) => "stdio",
        Reach::Url { kind: UrlKind::Streamable, .. } => "http",
        Reach::Url { kind: UrlKind::Sse, .. } => "sse",
        Reach::Url { kind: UrlKind::Detect, .. } => "url",
    }
}

/// A sentence without what looks like an address or a path.
fn plain(reason: &str) -> String {
    let words = reason.split(' ').map(|word| if word.contains('/') { "…" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

const MASKED: &str = "[secret]";

/// Fields whose text is not a secret. Everything else of an entry may be one.
const SHOWN: [&str; 18] = [
    "command",
    "cwd",
    "type",
    "transport",
    "timeout",
    "enabled",
    "disabled",
    "allow",
    "deny",
    "allow_tools",
    "deny_tools",
    "includeTools",
    "excludeTools",
    "prefix",
    "allow_private",
    "token_url",
    "client_id",
    "scope",
];

/// An entry with every value left out that may be a key. References to variables are none.
fn masked_entry(entry: &Value) -> Value {
    let Value::Object(fields) = entry else { return Value::Null };
    let shown = fields.iter().map(|(name, value)| (name.clone(), masked_field(name, value)));
    Value::Object(shown.collect())
}

fn masked_field(name: &str, value: &Value) -> Value {
    match (name, value) {
        ("args", Value::Array(args)) => Value::Array(masked_arguments(args)),
        ("url" | "serverUrl" | "httpUrl", Value::String(url)) => {
            url.split_once('?').map_or(url.as_str(), |(place, _)| place).into()
        }
        ("oauth", Value::Object(fields)) => {
            let shown = fields.iter().map(|(name, value)| (name.clone(), masked_field(name, value)));
            Value::Object(shown.collect())
        }
        (name, value) if SHOWN.contains(&name) => value.clone(),
        (_, value) => masked(value),
    }
}

fn masked(value: &Value) -> Value {
    match value {
        Value::String(text) if is_reference(text) => value.clone(),
        Value::Object(fields) => {
            let shown: Map<String, Value> =
                fields.iter().map(|(name, value)| (name.clone(), masked(value))).collect();
            Value::Object(shown)
        }
        Value::Array(items) => Value::Array(items.iter().map(masked).collect()),
        Value::String(_) | Value::Number(_) => MASKED.into(),
        Value::Bool(_) | Value::Null => value.clone(),
    }
}

/// `${VAR}` and nothing else, but for a word before it such as `Bearer`.
fn is_reference(text: &str) -> bool {
    let text = text.strip_prefix("Bearer ").unwrap_or(text);
    text.starts_with("${") && text.ends_with('}') && !text.contains(":-") && text.matches('}').count() == 1
}

/// Arguments are shown, but for those that look like a key or follow a flag that names one.
pub fn masked_arguments(args: &[Value]) -> Vec<Value> {
    let names_key = |text: &str| {
        let text = text.to_ascii_lowercase();
        ["key", "token", "secret", "password", "passwd", "auth", "credential", "bearer"]
            .iter()
            .any(|word| text.contains(word))
    };
    let mut after_flag = false;
    args.iter()
        .map(|arg| {
            let text = arg.as_str().unwrap_or_default();
            let secret = after_flag && !is_reference(text);
            after_flag = text.starts_with('-') && !text.contains('=') && names_key(text);
            match text.split_once('=') {
                _ if secret => MASKED.into(),
                Some((name, value)) if names_key(name) && !is_reference(value) => {
                    format!("{name}={MASKED}").into()
                }
                None if !text.starts_with('-') && looks_random(text) => MASKED.into(),
                _ => arg.clone(),
            }
        })
        .collect()
}

/// Long, in one piece, of letters and digits mixed: more often a key than anything else.
fn looks_random(text: &str) -> bool {
    text.len() >= 20
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        && text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().any(|b| b.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_entry_is_shown_without_whatever_may_be_a_key() {
        let entry = json!({
            "command": "npx",
            "args": ["-y", "server-git", "--api-key", "CANARY", "--token=CANARY", "sk1CANARY0000000000000000", "${KEY}"],
            "env": { "A": "CANARY", "B": "${B}", "C": "${C:-CANARY}" },
            "headers": { "authorization": "Bearer CANARY", "x": "Bearer ${TOKEN}" },
            "url": "https://example.com/mcp?key=CANARY",
            "oauth": { "client_id": "me", "client_secret": "CANARY", "token_url": "https://example.com/token" },
            "vendor": ["CANARY", 12345],
            "timeout": 5,
        });
        let shown = masked_entry(&entry);
        assert!(!shown.to_string().contains("CANARY"), "{shown}");
        assert_eq!(shown["args"][1], "server-git");
        assert_eq!(shown["args"][6], "${KEY}");
        assert_eq!(shown["env"]["B"], "${B}");
        assert_eq!(shown["headers"]["x"], "Bearer ${TOKEN}");
        assert_eq!(shown["oauth"]["client_id"], "me");
        assert_eq!(shown["timeout"], 5);
    }

    #[test]
    fn a_reason_for_everybody_names_no_place() {
        assert_eq!(plain("cannot start /opt/x: not found"), "cannot start … not found");
    }
}
