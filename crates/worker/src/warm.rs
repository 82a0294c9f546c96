//! One warm worker and its conversation with us.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::content;
use crate::error::ScriptError;
use crate::frames::{self, FrameReader, Left, Message, Next, Raised};
use crate::log_lines::LogLines;
use crate::one_shot::describe_boxed;
use crate::scripts::Output;
use crate::sink::Sink;
use crate::spawn::{Launch, Spawned};
use crate::spec::ScriptSpec;

/// Room for messages that are not answers, whatever the limit of the answer is.
const MESSAGE_LIMIT: usize = 256 << 10;

/// A running interpreter that has imported its script.
pub(crate) struct Warm {
    process: Spawned,
    frames: FrameReader,
    spec: ScriptSpec,
    workdir: PathBuf,
    stamp: Stamp,
    user: Option<String>,
    calls: u32,
    reusable: bool,
    /// When the last call ended.
    pub(crate) idle_since: Instant,
}

/// Which state of a file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: (i64, i64),
    size: u64,
    inode: u64,
    /// The permission bits.
    pub(crate) mode: u32,
}

impl Stamp {
    pub(crate) fn of(path: &Path, root: &Path) -> Result<Self, ScriptError> {
        let found = fs::metadata(path).map_err(|_| ScriptError::Missing)?;
        if !found.is_file() {
            return Err(ScriptError::Missing);
        }
        // Whoever can write any of the folders on the way can put another script in its place.
        let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
        refuse_foreign(path, &found)?;
        for folder in folders {
            if let Ok(found) = fs::metadata(folder) {
                refuse_foreign(folder, &found)?;
            }
        }
        let modified = (found.mtime(), found.mtime_nsec());
        Ok(Self { modified, size: found.size(), inode: found.ino(), mode: found.mode() })
    }
}

/// Endings of files that a script can import.
const MODULES: [&str; 11] = ["py", "pyc", "pyi", "so", "js", "mjs", "cjs", "ts", "mts", "cts", "json"];
/// How many names beside a script are looked at: its modules are among the first, and data may be without end.
const MOST_NAMES: usize = 2_000;

/// Refuses a script that could import what other users can write: the modules in its folder and the folders below, those
/// that are linked there too. Packages of Node come from an installer, and are too many to be looked at for every worker.
pub(crate) fn refuse_foreign_modules(script: &Path) -> Result<(), ScriptError> {
    let mut folders: Vec<PathBuf> = script.parent().map(Path::to_owned).into_iter().collect();
    let (mut left, mut seen) = (MOST_NAMES, HashSet::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Some(fewer) = left.checked_sub(1) else {
                tracing::warn!(
                    script = %script.display(),
                    "modules beside a script were not all checked for who can write them: there are more than {MOST_NAMES} names"
                );
                return Ok(());
            };
            left = fewer;
            let path = entry.path();
            let Ok(found) = fs::metadata(&path) else { continue };
            let is_module =
                path.extension().is_some_and(|ending| MODULES.iter().any(|known| ending == *known));
            let is_package = found.is_dir() && entry.file_name() != "node_modules";
            if is_module || is_package {
                refuse_foreign(&path, &found)?;
            }
            // Links may lead in a circle.
            if is_package && seen.insert((found.dev(), found.ino())) {
                folders.push(path);
            }
        }
    }
    Ok(())
}

fn refuse_foreign(path: &Path, found: &fs::Metadata) -> Result<(), ScriptError> {
    if is_foreign(found) { Err(ScriptError::Foreign { path: path.to_owned() }) } else { Ok(()) }
}

/// Whether someone else decides what is there, and so what would be run as this user. The system's administrator does
/// in any case; in a folder with the sticky bit, others cannot replace what is not theirs.
fn is_foreign(found: &fs::Metadata) -> bool {
    let owner = found.uid();
    let sticky = found.is_dir() && found.mode() & 0o1000 != 0;
    let ours = owner == 0 || owner == rustix::process::geteuid().as_raw();
    !ours || (found.mode() & 0o022 != 0 && !sticky)
}

impl Warm {
    /// Starts the interpreter; it imports the script while the first request is on its way.
    pub(crate) async fn start(
        launch: Launch,
        (spec, stamp, user): (&ScriptSpec, Stamp, Option<String>),
    ) -> Result<Self, ScriptError> {
        let workdir = launch.workdir.clone();
        let process = launch.spawn().await?;
        Ok(Self {
            process,
            frames: FrameReader::default(),
            spec: spec.clone(),
            workdir,
            stamp,
            user,
            calls: 0,
            reusable: true,
            idle_since: Instant::now(),
        })
    }

    /// Whether this worker can take a call of that tool, as tool and script are now.
    pub(crate) fn fits(&mut self, spec: &ScriptSpec, stamp: Stamp) -> bool {
        self.stamp == stamp && self.spec == *spec && matches!(self.process.tree.exit_status(), Ok(None))
    }

    pub(crate) fn is_for(&self, user: Option<&str>) -> bool {
        self.user.as_deref() == user
    }

    /// Whether it may be used again, after this many calls.
    pub(crate) fn is_reusable(&self, calls: u32) -> bool {
        self.reusable && self.calls < calls
    }

    /// One call. If the future is dropped before it ends, the worker must be dropped too.
    pub(crate) async fn call(
        &mut self,
        params: &Value,
        context: &Value,
        sink: &dyn Sink,
    ) -> Result<Output, ScriptError> {
        self.calls += 1;
        self.reusable = false;
        let mut lines = LogLines::default();
        let mut left = None;
        let ended = self.converse(params, context, &mut lines, &mut left, sink).await;
        self.drain_stderr(&mut lines, sink);
        let (stderr_tail, truncated) = lines.finish(sink);
        self.idle_since = Instant::now();
        match ended? {
            Message::Result(data) => {
                self.reusable = self.is_quiet(left).await;
                Ok(Output { data, content: Vec::new(), hints: None, written: None, truncated, stderr_tail })
            }
            Message::Content(body) => {
                self.reusable = self.is_quiet(left).await;
                let content::Body { data, blocks, agent_hints: hints } = body;
                let content = content::gather(blocks, &self.folder())
                    .map_err(|error| ScriptError::BadOutput { reason: None, detail: error.to_string() })?;
                Ok(Output { data, content, hints, written: None, truncated, stderr_tail })
            }
            Message::Refusal(refusal) => {
                self.reusable = self.is_quiet(left).await;
                Err(ScriptError::Refused(refusal))
            }
            Message::Invalid(values) => {
                self.reusable = self.is_quiet(left).await;
                Err(ScriptError::Invalid(values))
            }
            Message::Error(raised) => {
                self.reusable = !raised.fatal && self.is_quiet(left).await;
                Err(raised.into())
            }
            Message::BadOutput(detail) => {
                self.reusable = self.is_quiet(left).await;
                Err(ScriptError::BadOutput { reason: None, detail })
            }
            Message::Unreadable(reason) => {
                self.reusable = self.is_quiet(left).await;
                Err(ScriptError::BadOutput { reason: Some(reason), detail: String::new() })
            }
            Message::TooLarge(size) => {
                tracing::debug!(tool = %self.spec.name, size, "an answer is larger than its limit");
                Err(ScriptError::TooLarge { limit: self.spec.limits.output, head: String::new() })
            }
            Message::Progress(_)
            | Message::Log(_)
            | Message::Stderr(_)
            | Message::Ask(_)
            | Message::Definitions(_)
            | Message::Left(_) => Err(self.crash(stderr_tail).await),
        }
    }

    /// Whether nothing of the call still runs: it could write to another caller's log, or act in their call.
    async fn is_quiet(&self, left: Option<Left>) -> bool {
        match left {
            None => true,
            Some(Left::Threads) => false,
            Some(Left::Processes) => {
                let alone = self.process.tree.alone();
                tokio::task::spawn_blocking(alone).await.unwrap_or(false)
            }
        }
    }

    /// Sends the request and passes on what the script reports, until the message that ends the call.
    async fn converse(
        &mut self,
        params: &Value,
        context: &Value,
        lines: &mut LogLines,
        left: &mut Option<Left>,
        sink: &dyn Sink,
    ) -> Result<Message, ScriptError> {
        let id = u64::from(self.calls);
        let request = frames::request(id, params, context)?;
        if self.send(&request).await.is_err() {
            return Err(self.crash_with(lines, sink).await);
        }
        let limit = self.spec.limits.output.max(MESSAGE_LIMIT) + 64;
        // What the import prints belongs to the first call.
        let heard = |of: u64| of == id || (of == 0 && id == 1);
        let mut stderr = [0; 4096];
        let mut stderr_open = true;
        loop {
            match self.frames.next(limit) {
                Next::Frame(of, Message::Log(line)) if heard(of) => lines.line(line.level, &line.text, sink),
                Next::Frame(of, Message::Stderr(line)) if heard(of) => lines.stderr_line(&line, sink),
                Next::Frame(of, Message::Progress(progress)) if of == id => sink.progress(progress),
                Next::Frame(of, Message::Ask(asked)) if of == id => {
                    let answer = frames::answer(id, sink.ask(asked).await)?;
                    if self.send(&answer).await.is_err() {
                        return Err(self.crash_with(lines, sink).await);
                    }
                }
                Next::Frame(of, Message::Left(what)) if of == id => *left = Some(what),
                Next::Frame(of, message) if of == id => return Ok(message),
                // A thread that was there before the call: what it says may be another caller's.
                Next::Frame(..) => {}
                Next::Garbage(why) => {
                    let how = "The script broke its worker.".to_owned();
                    return Err(ScriptError::Ended { how, stderr: why });
                }
                Next::Incomplete => tokio::select! {
                    biased;
                    read = self.frames.fill(&mut self.process.stdout) => {
                        if read? == 0 {
                            return Err(self.crash_with(lines, sink).await);
                        }
                    }
                    read = self.process.stderr.read(&mut stderr), if stderr_open => match read? {
                        0 => stderr_open = false,
                        read => lines.push(&stderr[..read], sink),
                    },
                    ready = self.process.exit.readable() => {
                        // The last frames may still be in the pipe, which a child can hold open.
                        ready?.retain_ready();
                        if !self.rest_after_exit().await {
                            return Err(self.crash_with(lines, sink).await);
                        }
                    }
                },
            }
        }
    }

    async fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        match &mut self.process.stdin {
            Some(stdin) => stdin.write_all(frame).await,
            None => Err(io::Error::from(io::ErrorKind::BrokenPipe)),
        }
    }

    /// Where it writes content that is too large for a frame.
    fn folder(&self) -> content::Folder<'_> {
        match self.process.boxed.as_ref().and_then(|boxed| boxed.work.as_ref()) {
            Some(work) => content::Folder::Open(work),
            None => content::Folder::Path(&self.workdir),
        }
    }

    /// Reads what an exited worker left in its pipe; false if there is nothing.
    async fn rest_after_exit(&mut self) -> bool {
        let read =
            tokio::time::timeout(Duration::from_millis(20), self.frames.fill(&mut self.process.stdout));
        matches!(read.await, Ok(Ok(read)) if read > 0)
    }

    fn drain_stderr(&mut self, lines: &mut LogLines, sink: &dyn Sink) {
        let mut buffer = [0; 4096];
        for _ in 0..16 {
            match self.process.stderr.try_read(&mut buffer) {
                Ok(read) if read > 0 => lines.push(&buffer[..read], sink),
                _ => return,
            }
        }
    }

    async fn crash_with(&mut self, lines: &mut LogLines, sink: &dyn Sink) -> ScriptError {
        self.drain_stderr(lines, sink);
        let (tail, _) = std::mem::take(lines).finish(sink);
        self.crash(tail).await
    }

    /// The error for a worker that died in the middle of a call.
    async fn crash(&mut self, detail: String) -> ScriptError {
        // The pipe ends a moment before the process does.
        let _ = tokio::time::timeout(Duration::from_millis(100), self.process.exit.readable()).await;
        let message = match self.process.tree.exit_status() {
            Ok(Some(status)) => describe_boxed(&self.process, status),
            _ => "The script closed its connection.".to_owned(),
        };
        ScriptError::Ended { how: message, stderr: detail }
    }
}

impl From<Raised> for ScriptError {
    fn from(raised: Raised) -> Self {
        Self::Raised { kind: raised.kind, message: raised.message, traceback: raised.traceback }
    }
}
