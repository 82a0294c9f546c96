//! Reading a script: it runs once, confined, and tells which tools it has.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::error::ScriptError;
use crate::frames::{FrameReader, Message, Next};
use crate::one_shot::{self, Stream, describe_boxed};
use crate::sandbox::Openings;
use crate::scripts::Scripts;
use crate::spec::{Kind, Limits};

/// A script to be read.
#[derive(Clone, Debug)]
pub struct ScriptFile {
    /// The file's name without a folder; its ending says the language.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The Toolroom home, of which nothing can be seen.
    pub home: PathBuf,
    /// The folder whose `node_modules` it may import from, if any.
    pub packages: Option<PathBuf>,
    /// Variables that it finds set while it is read.
    pub env: BTreeMap<String, String>,
}

/// A tool, as its file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Described {
    /// Where it is defined.
    pub line: Option<u32>,
    /// Its entry of `tools.json`, without `script_path`.
    pub entry: Value,
}

/// Why a script could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It raised while it was imported, or what it has cannot be a tool.
    #[error("{kind}: {message}")]
    Raised {
        /// The type of the exception.
        kind: String,
        /// What it said.
        message: String,
        /// The line of the script that it came from.
        line: Option<u32>,
    },
    /// It did not end by itself.
    #[error("it did not finish within {} seconds; do no work while the file is imported", READ_TIME.as_secs())]
    Time,
    /// It ended its own process, or was ended for using too much.
    #[error("it ended before it was read: {0}")]
    Ended(String),
    /// What came out of it is not the one answer that reading a file gives.
    #[error("it interfered with its own reading")]
    Broken,
    /// It could not be run.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// How long a file may take to be imported.
pub const READ_TIME: Duration = Duration::from_secs(10);
/// Bytes that reading may answer: log lines, and the definitions.
const ANSWER: usize = 4 << 20;

impl Scripts {
    /// Runs a Python or Node script once, in a box without network, and takes the definitions that it reports.
    pub async fn describe(&self, file: &ScriptFile) -> Result<Vec<Described>, ReadError> {
        self.unless_stopped(async { Ok(self.read(file).await) }).await?
    }

    async fn read(&self, file: &ScriptFile) -> Result<Vec<Described>, ReadError> {
        let openings = Openings {
            home: file.home.clone(),
            read: Vec::new(),
            write: Vec::new(),
            host_network: false,
            memory: Openings::MEMORY,
            disk: 32 << 20,
            is_resolved: true,
        };
        let limits = Limits {
            memory: Some(openings.memory),
            cpu_seconds: Some(READ_TIME.as_secs()),
            open_files: 256,
            processes: 64,
            file_size: Some(16 << 20),
            output: ANSWER / 2,
        };
        let kind = match file.name.ends_with(".py") {
            true => Kind::Python { entrypoint: String::new() },
            false => Kind::Node { tool: String::new() },
        };
        let launch = self.reader(file, &kind, &openings, limits).await?;
        let mut process = launch.spawn().await.map_err(ScriptError::from)?;
        let mut said = Vec::new();
        let driven = one_shot::drive(&mut process, b"", |stream, bytes| {
            if stream == Stream::Out {
                said.extend_from_slice(bytes);
            }
            if said.len() > ANSWER { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let ended = tokio::time::timeout(READ_TIME, driven).await;
        let how = match &ended {
            Ok(Ok(Some(status))) => describe_boxed(&process, *status),
            _ => String::new(),
        };
        // Nothing of it is left when this is answered.
        let gone = process.tree.end();
        drop(process.boxed);
        let _ = gone.await;
        match ended {
            Err(_) => Err(ReadError::Time),
            Ok(Err(error)) => Err(ReadError::Script(error.into())),
            Ok(Ok(None)) => Err(ReadError::Broken),
            Ok(Ok(Some(_))) => answer(said, how),
        }
    }
}

/// The one answer among the frames.
fn answer(said: Vec<u8>, how: String) -> Result<Vec<Described>, ReadError> {
    let mut frames = FrameReader::holding(said);
    let mut found = None;
    loop {
        match frames.next(ANSWER) {
            Next::Frame(_, Message::Log(_) | Message::Stderr(_)) => {}
            Next::Frame(0, Message::Definitions(told)) if found.is_none() => found = Some(Ok(told.tools)),
            Next::Frame(0, Message::Error(raised)) if found.is_none() => {
                let (kind, message, line) = (raised.kind, raised.message, raised.line);
                found = Some(Err(ReadError::Raised { kind, message, line }));
            }
            Next::Frame(..) | Next::Garbage(_) => return Err(ReadError::Broken),
            Next::Incomplete if !frames.is_empty() => return Err(ReadError::Broken),
            Next::Incomplete => return found.unwrap_or(Err(ReadError::Ended(how))),
        }
    }
}
