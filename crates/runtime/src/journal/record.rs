//! The records of the journal and how each becomes a line.

use std::io::{self, Write};

use jiff::Timestamp;
use toolroom_contract::ids::{ExecutionId, PendingId, RunId};

use super::{Masked, json};

/// Every record begins with this. Nested JSON is written without spaces and quotes in strings are escaped,
/// so that no caller's text can contain it: the reader finds a whole record behind a torn one by it.
pub(super) const MARK: &[u8] = br#"{ "t":""#;

const NAME_CAP: usize = 512;
const MESSAGE_CAP: usize = 1 << 20;
const DETAIL_CAP: usize = 256 * 1024;
const LINE_CAP: usize = 16 * 1024;

/// What is known of a call before its tool runs. Empty texts are left out.
#[derive(Clone, Copy, Debug)]
pub struct StartRecord<'a> {
    pub id: ExecutionId,
    pub at: Timestamp,
    pub tool: &'a str,
    pub profile: &'a str,
    pub user: &'a str,
    /// Who made the call for that user, where it was another.
    pub by: Option<&'a str>,
    pub agent_id: &'a str,
    pub agent_version: &'a str,
    pub edge: Edge,
    pub trace_id: &'a str,
    pub correlation_id: &'a str,
    /// The tool that made this call, where one did: `call-tool`, `batch-tasks`.
    pub via: Option<&'a str>,
    /// The conversation in which it is made.
    pub conversation: Option<&'a str>,
    pub input: Masked<'a>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug)]
pub struct EndRecord<'a> {
    pub id: ExecutionId,
    pub at: Timestamp,
    pub status: EndStatus,
    pub code: Option<&'a str>,
    pub message: Option<&'a str>,
    /// What a failed tool itself said, such as a traceback; not for its caller.
    pub detail: Option<&'a str>,
    pub ms: f64,
    pub cached: bool,
    pub replayed: bool,
    pub dry_run: bool,
    pub outcome: Option<Outcome>,
    /// The whole output, or the data of the error.
    pub output: Option<Masked<'a>>,
    /// The output was cut before it came here.
    pub truncated: bool,
    /// The request or the standing approval by which a person decided about it.
    pub approval: Option<PendingId>,
    pub steps: Steps,
}

/// How far a call came, and when. A clock is read at the few steps that can take long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The step in which the call is; empty where nobody counts them.
    pub now: &'static str,
    /// When those of [`TIMED_STEPS`] ended that did, in microseconds since the call began.
    pub ended: [u32; TIMED_STEPS.len()],
    /// How many of them did.
    pub timed: u8,
}

impl Steps {
    /// The next of the timed steps has ended.
    pub fn end_timed(&mut self, microseconds: u128) {
        if let Some(slot) = self.ended.get_mut(usize::from(self.timed)) {
            *slot = u32::try_from(microseconds).unwrap_or(u32::MAX);
            self.timed += 1;
        }
    }
}

/// Everything up to the rate limit; then what may be waited for or looked up; then the tool.
pub(super) const TIMED_STEPS: [&str; 3] = ["checks", "admission", "run"];

/// A line that a tool wrote while it ran.
#[derive(Clone, Copy, Debug)]
pub struct LineRecord<'a> {
    pub id: ExecutionId,
    pub at: Timestamp,
    pub stream: Stream,
    pub text: &'a str,
}

/// A closed set of words, each with the text that stands in the journal.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident $(as $shown:literal)? { $($(#[$word_doc:meta])* $word:ident = $text:literal),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $(#[schemars(rename = $shown)])?
        pub enum $name { $($(#[$word_doc])* #[serde(rename = $text)] $word),+ }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$word),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$word => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )+};
}
pub(super) use words;

words! {
    /// The way in by which a call came.
    Edge {
        Cli = "cli",
        Rest = "rest",
        Functions = "functions",
        Mcp = "mcp",
        Chat = "chat",
        /// By a person's hand, in a session of the web console.
        Console = "console",
        Socket = "socket",
        /// A note of the server itself, which is not a call.
        System = "system",
    }

    /// How a call ended, as its end record says.
    EndStatus { Ok = "ok", Error = "error", Cancelled = "cancelled", Timeout = "timeout", Pending = "pending" }

    /// What is known of the effect of a call that failed.
    Outcome as "ExecutionOutcome" {
        /// The tool ran and its effect stands.
        Applied = "applied",
        /// The tool may have run.
        Unknown = "unknown",
    }

    /// Where a line of a tool came from.
    Stream as "LogStream" { Stdout = "stdout", Stderr = "stderr", Log = "log" }
}

impl From<toolroom_contract::error::Outcome> for Outcome {
    fn from(outcome: toolroom_contract::error::Outcome) -> Self {
        match outcome {
            toolroom_contract::error::Outcome::Applied => Self::Applied,
            toolroom_contract::error::Outcome::Unknown => Self::Unknown,
        }
    }
}

/// What every thread keeps to build its lines in.
pub(super) struct Scratch {
    /// Framed as newline, record, newline; the first is written only behind a torn record.
    pub(super) framed: Vec<u8>,
    clock: json::Clockface,
}

impl Scratch {
    pub(super) const fn new() -> Self {
        Self { framed: Vec::new(), clock: json::Clockface::new() }
    }

    /// One large record must not keep its memory for as long as the thread lives.
    pub(super) fn shrink(&mut self) {
        if self.framed.capacity() > 1 << 20 {
            self.framed = Vec::new();
        }
    }

    pub(super) fn run(&mut self, run: RunId, at: Timestamp, version: &str) -> io::Result<()> {
        self.open("run");
        self.uuid(r#","run":""#, run.0);
        self.instant(r#","at":""#, at);
        self.text(r#","version":"#, version, NAME_CAP)?;
        write!(self.framed, r#","pid":{}"#, std::process::id())?;
        self.close();
        Ok(())
    }

    pub(super) fn start(&mut self, run: RunId, start: &StartRecord<'_>) -> io::Result<()> {
        self.head("start", start.id, start.at);
        self.start_fields(run, start)?;
        self.close();
        Ok(())
    }

    pub(super) fn end(&mut self, end: &EndRecord<'_>) -> io::Result<()> {
        self.head("end", end.id, end.at);
        self.end_fields(end)?;
        self.close();
        Ok(())
    }

    pub(super) fn call(
        &mut self,
        run: RunId,
        start: &StartRecord<'_>,
        end: &EndRecord<'_>,
    ) -> io::Result<()> {
        self.head("call", start.id, start.at);
        self.start_fields(run, start)?;
        self.instant(r#","endedAt":""#, end.at);
        self.end_fields(end)?;
        self.close();
        Ok(())
    }

    pub(super) fn line(&mut self, line: &LineRecord<'_>) -> io::Result<()> {
        self.head("line", line.id, line.at);
        self.word(r#","stream":""#, line.stream.as_str());
        self.text(r#","text":"#, line.text, LINE_CAP)?;
        self.close();
        Ok(())
    }

    fn start_fields(&mut self, run: RunId, start: &StartRecord<'_>) -> io::Result<()> {
        self.uuid(r#","run":""#, run.0);
        self.text(r#","tool":"#, start.tool, NAME_CAP)?;
        self.text(r#","profile":"#, start.profile, NAME_CAP)?;
        self.text(r#","user":"#, start.user, NAME_CAP)?;
        self.text(r#","by":"#, start.by.unwrap_or_default(), NAME_CAP)?;
        self.text(r#","agentId":"#, start.agent_id, NAME_CAP)?;
        self.text(r#","agentVersion":"#, start.agent_version, NAME_CAP)?;
        self.word(r#","edge":""#, start.edge.as_str());
        self.text(r#","traceId":"#, start.trace_id, NAME_CAP)?;
        self.text(r#","correlationId":"#, start.correlation_id, NAME_CAP)?;
        self.text(r#","via":"#, start.via.unwrap_or_default(), NAME_CAP)?;
        self.text(r#","conversation":"#, start.conversation.unwrap_or_default(), NAME_CAP)?;
        self.framed.extend_from_slice(br#","input":"#);
        json::value_capped(&mut self.framed, &start.input, json::VALUE_CAP)?;
        Ok(())
    }

    fn end_fields(&mut self, end: &EndRecord<'_>) -> io::Result<()> {
        self.word(r#","status":""#, end.status.as_str());
        self.text(r#","code":"#, end.code.unwrap_or_default(), NAME_CAP)?;
        self.text(r#","message":"#, end.message.unwrap_or_default(), MESSAGE_CAP)?;
        if let Some(detail) = end.detail {
            self.framed.extend_from_slice(br#","detail":"#);
            json::text_end(&mut self.framed, detail, DETAIL_CAP)?;
        }
        let ms = if end.ms.is_finite() { end.ms } else { 0.0 };
        self.framed.extend_from_slice(br#","ms":"#);
        serde_json::to_writer(&mut self.framed, &ms)?;
        self.flag(r#","cached":true"#, end.cached);
        self.flag(r#","replayed":true"#, end.replayed);
        self.flag(r#","dryRun":true"#, end.dry_run);
        if let Some(outcome) = end.outcome {
            self.word(r#","outcome":""#, outcome.as_str());
        }
        let mut truncated = end.truncated;
        if let Some(output) = &end.output {
            self.framed.extend_from_slice(br#","output":"#);
            truncated |= !json::value_capped(&mut self.framed, output, json::VALUE_CAP)?;
        }
        self.flag(r#","truncated":true"#, truncated);
        if let Some(id) = end.approval {
            self.uuid(r#","approval":""#, id.0);
        }
        self.steps(&end.steps)
    }

    fn steps(&mut self, steps: &Steps) -> io::Result<()> {
        if steps.now.is_empty() {
            return Ok(());
        }
        self.word(r#","step":""#, steps.now);
        self.framed.extend_from_slice(br#","us":"#);
        Ok(serde_json::to_writer(&mut self.framed, &steps.ended[..usize::from(steps.timed)])?)
    }

    fn open(&mut self, kind: &str) {
        self.framed.clear();
        self.framed.push(b'\n');
        self.framed.extend_from_slice(MARK);
        self.framed.extend_from_slice(kind.as_bytes());
        self.framed.push(b'"');
    }

    /// The reader finds type, id and instant by their places, without parsing.
    fn head(&mut self, kind: &str, id: ExecutionId, at: Timestamp) {
        self.open(kind);
        self.uuid(r#","id":""#, id.0);
        self.instant(r#","at":""#, at);
    }

    fn close(&mut self) {
        self.framed.extend_from_slice(b"}\n");
    }

    fn uuid(&mut self, name: &str, id: uuid::Uuid) {
        self.word(name, id.hyphenated().encode_lower(&mut [0; 36]));
    }

    fn instant(&mut self, name: &str, at: Timestamp) {
        self.framed.extend_from_slice(name.as_bytes());
        self.clock.write(&mut self.framed, at);
        self.framed.push(b'"');
    }

    /// For words that need no escape; the name brings the opening quote.
    fn word(&mut self, name: &str, word: &str) {
        self.framed.extend_from_slice(name.as_bytes());
        self.framed.extend_from_slice(word.as_bytes());
        self.framed.push(b'"');
    }

    fn text(&mut self, name: &str, text: &str, cap: usize) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.framed.extend_from_slice(name.as_bytes());
        json::text_capped(&mut self.framed, text, cap)
    }

    fn flag(&mut self, written: &str, set: bool) {
        if set {
            self.framed.extend_from_slice(written.as_bytes());
        }
    }
}
