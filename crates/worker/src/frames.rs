//! Length-prefixed JSON between us and a warm worker.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use crate::content;
use crate::describe::Described;
use crate::sink::{Asked, Level, Progress};

/// What a worker says about a call.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Message {
    /// The answer.
    Result(Value),
    /// The answer, with content beside its data.
    Content(content::Body),
    /// The script raised.
    Error(Raised),
    /// The script refuses the call, in words that are meant for the caller.
    Refusal(Refusal),
    /// Values that fit the schema and are not what the script can use.
    Invalid(Vec<BadValue>),
    /// The answer cannot be written as JSON.
    BadOutput(String),
    /// The answer cannot be read as it is; why, in words for the caller.
    Unreadable(String),
    /// The answer is larger than the limit; how large it is.
    TooLarge(u64),
    /// Progress.
    Progress(Progress),
    /// A line for the caller.
    Log(Line),
    /// A line of stderr, only for the owner.
    Stderr(String),
    /// A question to the person, which the script waits for.
    Ask(Asked),
    /// The tools of a file that was read.
    Definitions(Definitions),
    /// Something of the call still runs after its answer.
    Left(Left),
}

/// What a call left behind in its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Left {
    /// A thread that the call started still runs.
    Threads,
    /// The call started processes, some of which may still run.
    Processes,
}

/// What a script raised.
#[derive(Debug, Deserialize)]
pub(crate) struct Raised {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) traceback: String,
    /// Whether the worker cannot be used again.
    pub(crate) fatal: bool,
    /// The line of the script, if it was only read.
    #[serde(default)]
    pub(crate) line: Option<u32>,
}

/// A refusal by the script's author.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// A code: one of Toolroom's, or the author's own.
    pub code: String,
    /// What is the matter, for the caller.
    pub message: String,
    /// The bad fields, if the author named some.
    #[serde(default)]
    pub details: Vec<Value>,
    /// Data that belongs to it.
    #[serde(default)]
    pub data: Option<Value>,
    /// Milliseconds until another call makes sense.
    #[serde(default)]
    pub retry_after: Option<u64>,
}

/// A value that a script cannot use.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BadValue {
    /// A JSON pointer into the parameters.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

/// What reading a file reports.
#[derive(Debug, Deserialize)]
pub(crate) struct Definitions {
    pub(crate) tools: Vec<Described>,
}

/// A line of log.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    pub(crate) level: Level,
    pub(crate) text: String,
}

/// The frame of a request: `[id, params, context]`.
pub(crate) fn request(id: u64, params: &impl Serialize, context: &impl Serialize) -> io::Result<Vec<u8>> {
    frame(&(id, params, context))
}

/// The frame that answers a question: `[id, {"answer": value}]`.
pub(crate) fn answer(id: u64, answer: Option<Value>) -> io::Result<Vec<u8>> {
    frame(&(id, serde_json::json!({ "answer": answer })))
}

fn frame(body: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, body)?;
    let size = u32::try_from(frame.len() - 4).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    frame[..4].copy_from_slice(&size.to_be_bytes());
    Ok(frame)
}

/// An answer that cannot be read ends its call and nothing else: what is nested too deep is the author's own.
fn unreadable(body: &[u8], error: &serde_json::Error) -> Next {
    // Values are passed over here, however deep they are.
    match serde_json::from_slice::<(u64, BTreeMap<String, &RawValue>)>(body) {
        Ok((id, message)) if message.contains_key("result") || message.contains_key("content") => {
            let reason = if error.to_string().starts_with("recursion") {
                format!("it is nested deeper than {DEEPEST} levels")
            } else {
                error.to_string()
            };
            Next::Frame(id, Message::Unreadable(reason))
        }
        Ok((_, message)) => {
            let kind = message.into_keys().next().unwrap_or_default();
            Next::Garbage(format!("a frame '{}': {error}", kind.escape_debug()))
        }
        Err(_) => Next::Garbage(error.to_string()),
    }
}

/// How deep an answer may be nested: what the JSON reader takes, less the frame around it.
const DEEPEST: usize = 125;

/// Takes frames out of what has been read so far.
#[derive(Debug, Default)]
pub(crate) struct FrameReader {
    buffer: Vec<u8>,
    taken: usize,
}

/// What the buffer holds.
pub(crate) enum Next {
    /// A whole frame, for that call.
    Frame(u64, Message),
    /// Not yet a whole frame.
    Incomplete,
    /// Something that no worker of ours writes, and what is wrong with it.
    Garbage(String),
}

impl FrameReader {
    /// Reads what has come already.
    pub(crate) fn holding(buffer: Vec<u8>) -> Self {
        Self { buffer, taken: 0 }
    }

    /// Whether nothing is waiting; right after [`Next::Incomplete`].
    pub(crate) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The next whole frame of at most `limit` bytes.
    pub(crate) fn next(&mut self, limit: usize) -> Next {
        let waiting = &self.buffer[self.taken..];
        let Some((size, rest)) = waiting.split_first_chunk::<4>() else { return self.incomplete() };
        let size = u32::from_be_bytes(*size) as usize;
        if size > limit {
            return Next::Garbage(format!("a frame of {size} bytes is larger than {limit}"));
        }
        let Some(body) = rest.get(..size) else { return self.incomplete() };
        let parsed = serde_json::from_slice::<(u64, Message)>(body);
        self.taken += 4 + size;
        match parsed {
            Ok((id, message)) => Next::Frame(id, message),
            Err(error) => unreadable(body, &error),
        }
    }

    /// Reads more; 0 is the end. Nothing is lost if the future is dropped.
    pub(crate) async fn fill(&mut self, pipe: &mut pipe::Receiver) -> io::Result<usize> {
        self.buffer.reserve(16 << 10);
        pipe.read_buf(&mut self.buffer).await
    }

    fn incomplete(&mut self) -> Next {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        // One large answer must not keep its memory for as long as the worker lives.
        if self.buffer.is_empty() && self.buffer.capacity() > 256 << 10 {
            self.buffer.shrink_to(64 << 10);
        }
        Next::Incomplete
    }
}
