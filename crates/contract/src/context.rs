//! Who calls, from where, and under which ids.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::client_side::ClientSide;
use crate::commit_gate::CommitGate;
use crate::ids::{ExecutionId, KeyId, UserId};
use crate::permission::Grants;
use crate::report::Reporter;

/// A user: one person or service, by both of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The number that the store gave.
    pub id: UserId,
    /// The name that people and keys use.
    pub key: Arc<str>,
}

/// Who makes a request, and what they may do.
#[derive(Clone, Debug)]
pub struct Principal {
    /// The user.
    pub user: User,
    /// Their grants.
    pub grants: Grants,
    /// The profiles that the credential is confined to; `None` is all of them.
    pub profiles: Option<Vec<String>>,
    /// Whether this credential is a person's, who may decide approvals.
    pub person: bool,
    /// The key that was shown, if it was one.
    pub key: Option<KeyId>,
    /// The user's time zone, if they set one.
    pub time_zone: Option<TimeZone>,
    /// Cancelled when the credential is no longer valid: everything that runs with it ends then.
    pub revoked: CancellationToken,
}

impl Principal {
    /// Whether the credential reaches the profile.
    pub fn may_use_profile(&self, profile: &str) -> bool {
        self.profiles.as_ref().is_none_or(|profiles| profiles.iter().any(|name| name == profile))
    }
}

/// A trace id: 16 bytes in hex digits, with the hyphens of a UUID or without, as W3C Trace Context writes them.
/// It is given back as it was sent. Two forms of one number are the same id.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^[0-9A-Fa-f]{8}(-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12}$"))]
pub struct TraceId {
    number: u128,
    text: [u8; 36],
    length: u8,
}

/// A text that is not a trace id.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a trace id has 32 hex digits, with the hyphens of a UUID or without")]
pub struct NotATraceId;

impl TraceId {
    /// A new trace: random, in the form of a UUID.
    pub fn new() -> Self {
        let id = Uuid::new_v4();
        let mut text = [0; 36];
        id.hyphenated().encode_lower(&mut text);
        Self { number: id.as_u128(), text, length: 36 }
    }

    /// As it was sent.
    pub fn as_str(&self) -> &str {
        // Only hex digits and hyphens are ever put in.
        self.text
            .get(..usize::from(self.length))
            .and_then(|text| str::from_utf8(text).ok())
            .unwrap_or_default()
    }

    /// The 32 digits that W3C Trace Context wants, whatever was sent.
    pub fn encode_w3c<'a>(&self, buffer: &'a mut [u8; 32]) -> &'a str {
        Uuid::from_u128(self.number).simple().encode_lower(buffer)
    }
}

impl Default for TraceId {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for TraceId {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for TraceId {}

impl std::hash::Hash for TraceId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for TraceId {
    type Err = NotATraceId;

    fn from_str(given: &str) -> Result<Self, NotATraceId> {
        let (mut text, mut number, mut digits) = ([0; 36], 0u128, 0);
        let mut hyphen = false;
        for (at, byte) in given.bytes().enumerate() {
            *text.get_mut(at).ok_or(NotATraceId)? = byte;
            if byte == b'-' {
                if hyphen || !matches!(digits, 8 | 12 | 16 | 20) {
                    return Err(NotATraceId);
                }
                hyphen = true;
                continue;
            }
            hyphen = false;
            let digit = char::from(byte).to_digit(16).ok_or(NotATraceId)?;
            digits += 1;
            if digits > 32 {
                return Err(NotATraceId);
            }
            number = number << 4 | u128::from(digit);
        }
        if digits != 32 {
            return Err(NotATraceId);
        }
        // At most 32 digits and 4 hyphens.
        Ok(Self { number, text, length: u8::try_from(given.len()).unwrap_or(36) })
    }
}

impl TryFrom<String> for TraceId {
    type Error = NotATraceId;

    fn try_from(text: String) -> Result<Self, NotATraceId> {
        text.parse()
    }
}

impl From<TraceId> for String {
    fn from(id: TraceId) -> Self {
        id.as_str().to_owned()
    }
}

/// What every handler is told about the call.
#[derive(Clone)]
pub struct ToolContext {
    /// The row of the journal.
    pub execution_id: ExecutionId,
    /// On whose behalf; `None` for the system itself.
    pub user: Option<User>,
    /// Who calls, and what they may do.
    pub caller: Arc<Principal>,
    /// The profile that the call was made under.
    pub profile: Cow<'static, str>,
    /// The session, if the edge has one.
    pub session_id: Option<Arc<str>>,
    /// Links calls that belong together.
    pub correlation_id: Arc<str>,
    /// Finds the call in logs and traces.
    pub trace_id: TraceId,
    /// Which agent calls.
    pub agent_id: Arc<str>,
    /// Its version.
    pub agent_version: Arc<str>,
    /// When the request was made: "now" for dates in words.
    pub timestamp: Timestamp,
    /// The zone for dates in words.
    pub time_zone: TimeZone,
    /// What else the caller sent along.
    pub metadata: Map<String, Value>,
    /// A person's answer to the question that this call asked when it was made before.
    pub answer: Option<Value>,
    /// The client program, where it can be asked for input.
    pub client: Option<Arc<ClientSide>>,
    /// The record to write in the transaction of the effect.
    pub claim: Option<Arc<Claim>>,
    /// To be called once an effect is durable and visible, before the caller is answered.
    pub committed: CommitHook,
    /// What the effect passes to be committed: closed at the call's deadline, and when the caller leaves.
    pub gate: CommitGate,
    /// Where the tool reports progress.
    pub reporter: Reporter,
}

/// The right to write the one record of an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Whose key.
    pub user: UserId,
    /// The key.
    pub key: String,
    /// Hash of tool and parameters: the same key with another body is a conflict.
    pub body_hash: String,
    /// The process life that makes the call.
    pub run: crate::ids::RunId,
}

/// Moves the cache generations on: when an effect has been committed, even if the caller is gone by then, or, where
/// several processes share a database, in the transaction of the effect.
#[derive(Clone, Default)]
pub struct CommitHook {
    after: Option<Arc<dyn Fn() + Send + Sync>>,
    within: Option<Arc<Moved>>,
}

/// The resources of a user that an effect changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Whose.
    pub owner: UserId,
    /// Their names, in order.
    pub resources: Vec<String>,
}

impl CommitHook {
    /// A hook that does this after the commit.
    pub fn new(hook: impl Fn() + Send + Sync + 'static) -> Self {
        Self { after: Some(Arc::new(hook)), within: None }
    }

    /// The transaction of the effect itself must move these.
    pub fn within(moved: Moved) -> Self {
        Self { after: None, within: Some(Arc::new(moved)) }
    }

    /// What the transaction of the effect must move.
    pub fn moved(&self) -> Option<&Moved> {
        self.within.as_deref()
    }

    /// The effect is durable and visible.
    pub fn run(&self) {
        if let Some(hook) = &self.after {
            hook();
        }
    }
}

/// The context as the published schema shows it: what a caller may send, and what a script receives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextFields {
    /// User making the request. A caller cannot choose it: it must name the caller, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Current session identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Request correlation UUID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// Distributed tracing id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<TraceId>,
    /// Which agent is calling the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Version of the calling agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// When the request was made (ISO 8601).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// The zone for dates in words, such as `Europe/Berlin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Additional context data.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// The same key and parameters give the first answer again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The pending request that a person has decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<crate::ids::PendingId>,
    /// Everything but the effect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// The client program, where the edge can ask it for input. No caller writes this itself.
    #[serde(skip)]
    pub client: Option<Arc<ClientSide>>,
    /// The row that the call is to have in the journal. Only the chat writes this: it shows the call before it is made.
    #[serde(skip)]
    pub execution: Option<ExecutionId>,
    /// The conversation in which the call is made. Only the chat writes this.
    #[serde(skip)]
    pub dialogue: Option<Arc<Dialogue>>,
}

/// A conversation in which calls are made: what they leave pending belongs to it and to no other.
#[derive(Clone, Debug, PartialEq)]
pub struct Dialogue {
    /// Names the conversation.
    pub scope: String,
    /// Set where the person must say yes first, whatever the contract and the profile say.
    pub confirm: Option<Confirm>,
}

/// How a person is asked for their yes.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirm {
    /// How long the question is open.
    pub ttl: std::time::Duration,
    /// What they are asked.
    pub message: String,
}
