//! A program as a server: one message a line, on its stdin and stdout.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolroom_worker::{Confiner, Limits, Program, ProgramPipes, RunningProgram};

use super::Parcel;
use super::lines::{Line, LineReader};
use crate::config::Stdio;
use crate::error::{Failure, excerpt};
use crate::http::MOST_BYTES;
use crate::oauth::{Consent, TokenStore};
use crate::outbox::Job;
use crate::pending_calls::{PendingCalls, Ticket};

/// After that much of one line, the server is given up.
const MOST_DROPPED: u64 = 64 << 20;
/// How long a program has to end by itself once its stdin is closed.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long output is still read once the program has exited.
const GRACE: Duration = Duration::from_millis(50);
/// What is kept of stderr.
const TAIL_LINES: usize = 40;

/// The way to a program.
pub(crate) struct StdioTransport {
    outbox: mpsc::Sender<Job>,
    calls: Arc<PendingCalls>,
    /// Set once nothing of the program is left.
    gone: CancellationToken,
}

/// What every server finds around it.
#[derive(Clone, Debug, Default)]
pub struct SpawnEnv {
    /// The few variables that every program gets, PATH and HOME among them.
    pub environment: BTreeMap<String, String>,
    /// The working folder of those that name none.
    pub workdir: PathBuf,
    /// Where logins are kept; without it, until the process ends.
    pub tokens: Option<Arc<dyn TokenStore>>,
    /// Who can ask a person at once when a server wants a login. Without it, only [`crate::Upstream::login`] does.
    pub consent: Option<Arc<dyn Consent>>,
    /// Makes the boxes of servers that have one.
    pub confiner: Confiner,
}

impl SpawnEnv {
    /// What others give their servers of this process's environment: no keys are among it.
    pub fn of_this_process(workdir: impl Into<PathBuf>) -> Self {
        const NAMES: [&str; 11] = [
            "HOME",
            "LANG",
            "LC_ALL",
            "LOGNAME",
            "PATH",
            "SHELL",
            "TERM",
            "TMPDIR",
            "TZ",
            "USER",
            "XDG_CACHE_HOME",
        ];
        let given = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
        Self {
            environment: NAMES.into_iter().filter_map(given).collect(),
            workdir: workdir.into(),
            ..Self::default()
        }
    }
}

impl StdioTransport {
    /// Starts the program.
    pub(crate) async fn start(
        program: Program,
        server: &Arc<str>,
        calls: &Arc<PendingCalls>,
        (outbox, jobs): (mpsc::Sender<Job>, mpsc::Receiver<Job>),
        tail: Arc<Tail>,
        tasks: &TaskTracker,
    ) -> Result<Self, Failure> {
        let path = program.program.clone();
        let confined = program.sandbox.is_some();
        let gone = CancellationToken::new();
        let (started, starting) = oneshot::channel();
        // If we are dropped while the program is being started, it is ended as soon as it has been.
        let ours = calls.closed().clone().drop_guard();
        let (server, kept, done) = (Arc::clone(server), Arc::clone(calls), gone.clone());
        tasks.spawn(async move {
            match program.start().await {
                Ok((running, pipes)) => {
                    tail.begin();
                    tracing::debug!(%server, pid = running.pid(), "a server's program was started");
                    let _ = started.send(Ok(()));
                    supervise(server, running, pipes, jobs, kept, tail).await;
                }
                Err(error) => {
                    let reason = format!("its program {}", refusal(&path, confined, &error));
                    let _ = started.send(Err(Failure::NotSent(reason)));
                }
            }
            done.cancel();
        });
        starting
            .await
            .unwrap_or_else(|_| Err(Failure::NotSent("its program could not be started".to_owned())))?;
        ours.disarm();
        Ok(Self { outbox, calls: Arc::clone(calls), gone })
    }

    pub(crate) async fn carry(&self, ticket: &Ticket, parcel: Parcel) -> Result<(), Failure> {
        self.send(Job { text: parcel.text, sent: Some(Arc::clone(&ticket.sent)) }).await
    }

    pub(crate) async fn notify(&self, text: Vec<u8>) -> Result<(), Failure> {
        self.send(Job { text, sent: None }).await
    }

    async fn send(&self, job: Job) -> Result<(), Failure> {
        let closed = |_| Failure::NotSent(self.calls.close_reason());
        self.outbox.send(job).await.map_err(closed)
    }

    pub(crate) async fn end(&self) {
        self.gone.cancelled().await;
    }
}

/// Why a program was not started, in plain words.
fn refusal(program: &Path, confined: bool, error: &io::Error) -> String {
    let name = program.display();
    match error.get_ref() {
        // All that is told in words is about the sandbox.
        Some(why) if confined => {
            return format!(
                "'{name}' was not started, because its sandbox is not available: {why}. See 'toolroom doctor'"
            );
        }
        None if confined && error.kind() == io::ErrorKind::NotFound => {
            return format!(
                "'{name}' is not visible in its sandbox: add its folder, and the folders it needs, to sandbox.read"
            );
        }
        _ => {}
    }
    let is_path = program.components().count() > 1;
    let why = match error.kind() {
        io::ErrorKind::NotFound if !is_path => "no program of that name is in PATH".to_owned(),
        io::ErrorKind::NotFound if program.exists() => "its first line names no program".to_owned(),
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "it is not executable".to_owned(),
        other => other.to_string(),
    };
    format!("'{name}' cannot be started: {why}")
}

/// What is to be started.
pub(crate) fn program(config: &Stdio, spawn_env: &SpawnEnv) -> Result<Program, Failure> {
    let workdir = config.cwd.clone().unwrap_or_else(|| spawn_env.workdir.clone());
    let confined = config.sandbox.is_some();
    if !workdir.is_dir() {
        return Err(Failure::NotSent("its working folder (cwd) does not exist".to_owned()));
    }
    let mut environment = spawn_env.environment.clone();
    if confined {
        // Folders of the host, for which the box has its own.
        for name in ["HOME", "TMPDIR", "XDG_CACHE_HOME"] {
            environment.remove(name);
        }
    }
    environment.extend(config.env.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned())));
    // Address space is not bounded: Node.js reserves far more than it uses.
    let limits = Limits {
        memory: None,
        cpu_seconds: None,
        open_files: 1 << 16,
        processes: if confined { 256 } else { 4096 },
        file_size: None,
        output: MOST_BYTES,
    };
    let (program, arguments) = (PathBuf::from(&config.command), config.args.clone());
    let sandbox = config.sandbox.clone().map(|openings| (spawn_env.confiner.clone(), openings));
    Ok(Program { program, arguments, environment, workdir, limits, sandbox })
}

/// Sees to a program until nothing of it is left.
async fn supervise(
    server: Arc<str>,
    mut running: RunningProgram,
    pipes: ProgramPipes,
    jobs: mpsc::Receiver<Job>,
    calls: Arc<PendingCalls>,
    tail: Arc<Tail>,
) {
    let mut reader = Box::pin(read(pipes.stdout, &calls));
    let mut errors = Box::pin(collect(&server, pipes.stderr, &tail));
    let mut writer = Box::pin(write(pipes.stdin, jobs));
    let (mut reads, mut collects, mut writes) = (true, true, true);
    let status = loop {
        tokio::select! {
            told = &mut reader, if reads => {
                reads = false;
                // The pipe ends a moment before the process does.
                let status = tokio::time::timeout(GRACE * 4, running.exited()).await;
                collects = collects && !heard_out(&mut errors).await;
                calls.close(Failure::Lost(told.unwrap_or_else(|| ending(status.ok().and_then(Result::ok).flatten()))));
            }
            () = &mut errors, if collects => collects = false,
            () = &mut writer, if writes => writes = false,
            status = running.exited() => {
                // The last answers may still be in the pipe, which a child can hold open.
                if reads {
                    reads = tokio::time::timeout(GRACE, &mut reader).await.is_err();
                }
                collects = collects && !heard_out(&mut errors).await;
                break status.ok().flatten();
            }
            () = calls.closed().cancelled() => break None,
        }
    };
    calls.close(Failure::Lost(ending(status)));
    // Closing its stdin asks a server to end.
    drop(writer);
    let farewell = async {
        loop {
            tokio::select! {
                _ = running.exited() => return,
                _ = &mut reader, if reads => reads = false,
                () = &mut errors, if collects => collects = false,
            }
        }
    };
    let _ = tokio::time::timeout(FAREWELL, farewell).await;
    running.end().await;
    tracing::debug!(%server, reason = calls.close_reason(), "a server's program has ended");
}

/// Waits a moment for the end of stderr, which a child can hold open: its last words say why a program ended, so they
/// are there before its end is told. Whether it came.
async fn heard_out(errors: impl Future<Output = ()>) -> bool {
    tokio::time::timeout(GRACE * 4, errors).await.is_ok()
}

fn ending(status: Option<ExitStatus>) -> String {
    match status {
        Some(status) => match status.code() {
            Some(code) => format!("its program ended with exit code {code}"),
            None => "its program was killed".to_owned(),
        },
        None => "its program closed the connection".to_owned(),
    }
}

/// Reads until the end; `Some` if the server is given up.
async fn read(mut stdout: pipe::Receiver, calls: &Arc<PendingCalls>) -> Option<String> {
    let mut lines = LineReader::new(MOST_BYTES);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = match stdout.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => read,
        };
        lines.push(&buffer[..read], |line| match line {
            Line::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => {}
            Line::Whole(line) => calls.receive(line, None),
            Line::Dropped(dropped) => {
                tracing::warn!(bytes = dropped.length, "a server's message was larger than the limit");
                if let Some(id) = dropped.id() {
                    calls.answer(Some(id), Err(Failure::TooLarge(MOST_BYTES)));
                }
            }
        });
        if lines.dropping() > MOST_DROPPED {
            return Some("it sends an endless message".to_owned());
        }
        // A flood must not keep the tasks of others from running.
        tokio::task::yield_now().await;
    }
}

async fn write(mut stdin: pipe::Sender, mut jobs: mpsc::Receiver<Job>) {
    while let Some(Job { mut text, sent }) = jobs.recv().await {
        if sent.as_ref().is_some_and(|sent| !sent.start()) {
            continue;
        }
        text.push(b'\n');
        if stdin.write_all(&text).await.is_err() {
            // Without its end, the line is nothing to the server. Its output tells when it has ended.
            if let Some(sent) = sent {
                sent.failed();
            }
            jobs.close();
        }
    }
}

/// The last lines of stderr.
#[derive(Default)]
pub(crate) struct Tail(Mutex<Words>);

#[derive(Default)]
struct Words {
    lines: VecDeque<String>,
    /// Whether they are those of a program before the one that runs.
    of_another: bool,
}

impl Tail {
    /// Another program was started: its first words take the place of those that are there.
    fn begin(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).of_another = true;
    }

    fn push(&self, line: &str) {
        let mut words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut words.of_another) {
            words.lines.clear();
        }
        if words.lines.len() == TAIL_LINES {
            words.lines.pop_front();
        }
        words.lines.push_back(excerpt(line).to_owned());
    }

    pub(crate) fn text(&self) -> String {
        let words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        words.lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

async fn collect(server: &str, mut stderr: pipe::Receiver, tail: &Tail) {
    let mut lines = LineReader::new(8 << 10);
    let mut buffer = vec![0; 8 << 10];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        lines.push(&buffer[..read], |line| {
            if let Line::Whole(line) = line {
                let line = String::from_utf8_lossy(line);
                tracing::debug!(%server, line = excerpt(&line), "a server's program wrote to stderr");
                tail.push(&line);
            }
        });
        tokio::task::yield_now().await;
    }
}
