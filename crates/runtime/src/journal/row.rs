//! What the reader gives out: one execution, merged from its records, and how a line is taken apart.

use std::borrow::Cow;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolroom_contract::ErrorCode;
use toolroom_contract::ids::{ExecutionId, RunId};
use uuid::Uuid;

use super::record::{Edge, EndStatus, MARK, Outcome, Stream, TIMED_STEPS, words};

/// What the journal says where the caller is told that there is no such tool.
pub const PERMISSION_DENIED: &str = "permission_denied";

/// The most of an input that is shown in brief.
const BRIEF_INPUT: usize = 4096;

/// One call. Input and output are the JSON that was written, secrets masked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    #[schemars(with = "String")]
    pub execution_id: ExecutionId,
    pub tool: String,
    pub profile: String,
    /// Whose call it is.
    pub user: String,
    /// Who made it for that user, where it was another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    pub agent_id: String,
    pub agent_version: String,
    pub edge: Edge,
    pub trace_id: String,
    pub correlation_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What the failed tool itself said, such as a traceback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub started_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    pub cached: bool,
    pub replayed: bool,
    pub dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    #[schemars(with = "serde_json::Value")]
    pub input: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub output: Option<Box<RawValue>>,
    /// The output is not whole.
    pub truncated: bool,
    /// The steps that the call went through, up to the one that ended it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub steps: Vec<Step>,
    /// The size of the output as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_out: Option<usize>,
    /// The request or the standing approval by which a person decided about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// The conversation in which it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub lines: Vec<LogLine>,
}

/// A step of a call, and its time in microseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ExecutionStep")]
pub struct Step {
    pub name: String,
    pub us: u64,
}

impl Execution {
    /// Whether it is this user's, or was made by them.
    pub fn concerns(&self, user: &str) -> bool {
        self.user == user || self.by.as_deref() == Some(user)
    }

    /// What the caller itself may see of its call, unless it may read everybody's: nothing that the tool said for its
    /// owner, and nothing that tells a tool that it may not use from one that does not exist.
    pub fn for_its_caller(mut self) -> Self {
        self.detail = None;
        self.lines.retain(|line| line.stream != Stream::Stderr);
        if self.code.as_deref() == Some(PERMISSION_DENIED) {
            self.code = Some(ErrorCode::ToolNotFound.as_str().to_owned());
        }
        if self.code.as_deref() == Some(ErrorCode::ToolNotFound.as_str()) {
            // Which of its fields were masked, or how far it came, would tell that the tool exists.
            self.input = RawValue::NULL.to_owned();
            self.steps.clear();
        }
        self
    }

    /// What a list of calls shows: neither what came out, nor what was said on the way, nor more than a little of what
    /// went in.
    pub fn in_brief(mut self) -> Self {
        self.output = None;
        self.detail = None;
        self.lines = Vec::new();
        if self.input.get().len() > BRIEF_INPUT {
            self.input = RawValue::NULL.to_owned();
        }
        self
    }

    /// Whether it counts as an error.
    pub(super) fn failed(&self) -> bool {
        matches!(self.status, Status::Error | Status::Timeout)
    }

    /// Whether the figures count it: a call that has ended, and not a note of the server itself.
    pub(super) fn counted(&self) -> bool {
        self.ended_at.is_some() && self.edge != Edge::System
    }

    /// About how many bytes it takes to describe it.
    pub(super) fn size(&self) -> usize {
        let texts = [&self.message, &self.detail].into_iter().flatten().map(String::len).sum::<usize>();
        let lines = self.lines.iter().map(|line| line.text.len() + 64).sum::<usize>();
        let output = self.output.as_ref().map_or(0, |output| output.get().len());
        512 + self.input.get().len() + output + texts + lines
    }
}

words! {
    /// How a call stands, as the reader sees it.
    Status as "ExecutionStatus" {
        Ok = "ok",
        Error = "error",
        Cancelled = "cancelled",
        Timeout = "timeout",
        Pending = "pending",
        /// Started by a run that is alive, and not ended.
        Running = "running",
        /// Started by a run that is gone, and never ended.
        Interrupted = "interrupted",
    }
}

impl From<EndStatus> for Status {
    fn from(status: EndStatus) -> Self {
        match status {
            EndStatus::Ok => Self::Ok,
            EndStatus::Error => Self::Error,
            EndStatus::Cancelled => Self::Cancelled,
            EndStatus::Timeout => Self::Timeout,
            EndStatus::Pending => Self::Pending,
        }
    }
}

/// A line that the tool wrote while it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    pub at: Timestamp,
    pub stream: Stream,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Run,
    Start,
    End,
    Call,
    Line,
}

/// The beginning of a record, read by place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'a> {
    pub(super) kind: Kind,
    pub(super) id: Uuid,
    /// In the one format of the writer, so that instants compare as text.
    pub(super) at: &'a [u8],
}

const ID: &[u8] = br#"","id":""#;
const AT: &[u8] = br#"","at":""#;
const UUID_LENGTH: usize = 36;

impl<'a> Head<'a> {
    /// `None` for a line that is not the journal's.
    pub(super) fn of(record: &'a [u8]) -> Option<Self> {
        let rest = record.strip_prefix(MARK).filter(|_| record.ends_with(b"}"))?;
        let kind_ends = rest.iter().position(|byte| *byte == b'"')?;
        let kind = match &rest[..kind_ends] {
            b"run" => return Some(Self { kind: Kind::Run, id: Uuid::nil(), at: b"" }),
            b"start" => Kind::Start,
            b"end" => Kind::End,
            b"call" => Kind::Call,
            b"line" => Kind::Line,
            _ => return None,
        };
        let rest = rest[kind_ends..].strip_prefix(ID)?;
        let (id, rest) = rest.split_at_checked(UUID_LENGTH)?;
        let rest = rest.strip_prefix(AT)?;
        let at_ends = rest.iter().position(|byte| *byte == b'"')?;
        Some(Self { kind, id: Uuid::try_parse_ascii(id).ok()?, at: &rest[..at_ends] })
    }
}

/// The last record of a line: a torn record may stand before it, if two calls wrote while the disk was full.
pub(super) fn last_record(line: &[u8]) -> (&[u8], bool) {
    // Almost no line has a brace before a space; no early exit, so that this loop is vectorised.
    let pairs = line.iter().zip(line.iter().skip(1)).skip(1);
    if !pairs.fold(false, |seen, (brace, space)| seen | ((*brace == b'{') & (*space == b' '))) {
        return (line, false);
    }
    match line.windows(MARK.len()).rposition(|window| window == MARK) {
        Some(at) if at > 0 => (&line[at..], true),
        _ => (line, false),
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StartLine<'a> {
    id: ExecutionId,
    at: Timestamp,
    run: RunId,
    #[serde(borrow, default)]
    pub(super) tool: Cow<'a, str>,
    #[serde(default)]
    pub(super) profile: String,
    #[serde(borrow, default)]
    pub(super) user: Cow<'a, str>,
    by: Option<String>,
    #[serde(default)]
    pub(super) agent_id: String,
    #[serde(default)]
    agent_version: String,
    pub(super) edge: Edge,
    #[serde(default)]
    pub(super) trace_id: String,
    #[serde(default)]
    correlation_id: String,
    via: Option<String>,
    conversation: Option<String>,
    #[serde(borrow)]
    input: &'a RawValue,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EndLine<'a> {
    at: Timestamp,
    /// Only where start and end are one record; there `at` is the start's.
    ended_at: Option<Timestamp>,
    pub(super) status: EndStatus,
    code: Option<String>,
    message: Option<String>,
    detail: Option<String>,
    ms: f64,
    #[serde(default)]
    cached: bool,
    #[serde(default)]
    replayed: bool,
    #[serde(default)]
    dry_run: bool,
    outcome: Option<Outcome>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(default)]
    truncated: bool,
    approval: Option<String>,
    /// The step in which the call ended.
    step: Option<String>,
    /// When the steps ended that are timed, in microseconds since the call began.
    #[serde(default)]
    us: Vec<u64>,
}

impl EndLine<'_> {
    fn steps(&self) -> Vec<Step> {
        let Some(last) = &self.step else { return Vec::new() };
        let whole = (self.ms.max(0.0) * 1000.0).round() as u64;
        let mut began = 0;
        let named =
            TIMED_STEPS.iter().map(|name| (*name).to_owned()).take(self.us.len()).chain([last.clone()]);
        let ends = self.us.iter().copied().chain([whole]);
        let step = |(name, ended): (String, u64)| {
            let us = ended.saturating_sub(began);
            began = ended;
            Step { name, us }
        };
        named.zip(ends).map(step).collect()
    }
}

impl StartLine<'_> {
    /// Whether the call is this user's, or was made by them.
    pub(super) fn concerns(&self, user: &str) -> bool {
        self.user == user || self.by.as_deref() == Some(user)
    }

    pub(super) fn open_status(&self, live: &[RunId]) -> Status {
        if live.contains(&self.run) { Status::Running } else { Status::Interrupted }
    }

    pub(super) fn merge(self, end: Option<EndLine<'_>>, live: &[RunId], lines: Vec<LogLine>) -> Execution {
        let mut execution = Execution {
            status: self.open_status(live),
            execution_id: self.id,
            tool: self.tool.into_owned(),
            profile: self.profile,
            user: self.user.into_owned(),
            by: self.by,
            agent_id: self.agent_id,
            agent_version: self.agent_version,
            edge: self.edge,
            trace_id: self.trace_id,
            correlation_id: self.correlation_id,
            via: self.via,
            code: None,
            message: None,
            detail: None,
            started_at: self.at,
            ended_at: None,
            duration_ms: None,
            cached: false,
            replayed: false,
            dry_run: false,
            outcome: None,
            input: self.input.to_owned(),
            output: None,
            truncated: false,
            steps: Vec::new(),
            bytes_out: None,
            approval_id: None,
            conversation_id: self.conversation,
            lines,
        };
        if let Some(end) = end {
            execution.steps = end.steps();
            execution.bytes_out = end.output.filter(|_| !end.truncated).map(|output| output.get().len());
            execution.approval_id = end.approval;
            execution.status = end.status.into();
            execution.code = end.code;
            execution.message = end.message;
            execution.detail = end.detail;
            execution.ended_at = Some(end.ended_at.unwrap_or(end.at));
            execution.duration_ms = Some(end.ms);
            execution.cached = end.cached;
            execution.replayed = end.replayed;
            execution.dry_run = end.dry_run;
            execution.outcome = end.outcome;
            execution.output = end.output.map(RawValue::to_owned);
            execution.truncated = end.truncated;
        }
        execution
    }
}
