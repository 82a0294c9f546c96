//! Untrusted code: always a fresh process, in a box.

mod confiner;
mod files;
mod level;
mod report;

use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use confiner::script_text;
pub use confiner::{BadPath, Confiner, Openings};
pub use files::CodeFile;
pub use level::Found;
pub use report::{By, Confinement};

use crate::cleaner::{self, Scratch};
use crate::confine::{EndedBy, Failed, Level};
use crate::error::ScriptError;
use crate::one_shot::{self, Stream};
use crate::scripts::Scripts;
use crate::spawn::{Launch, Spawned};
use crate::spec::Limits;

/// Runs code with only its own files and no network.
#[derive(Clone)]
pub struct Sandbox {
    scripts: Scripts,
    /// Where folders of code are made that has no box of its own.
    folder: PathBuf,
    allow_unconfined: bool,
    confiner: Confiner,
}

/// What to run.
#[derive(Clone, Debug)]
pub struct CodeRequest {
    /// The language of the code.
    pub language: Language,
    /// The code.
    pub code: String,
    /// Files that it finds in its working folder: relative names and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// What it may use. `output` bounds stdout and stderr, each.
    pub limits: Limits,
    /// Bytes and files that it may have in its folder and among its temporary files, in total.
    pub disk: (u64, u64),
    /// Bytes of written files that are brought back, in total.
    pub files_limit: usize,
    /// How long it may run. It is then ended, and what it wrote until then is brought back.
    pub timeout: Option<Duration>,
}

impl CodeRequest {
    /// Code with limits that suit a short computation.
    pub fn new(language: Language, code: impl Into<String>) -> Self {
        let limits = Limits {
            memory: Some(1 << 30),
            cpu_seconds: Some(60),
            open_files: 256,
            processes: 64,
            file_size: Some(64 << 20),
            output: 256 << 10,
        };
        Self {
            language,
            code: code.into(),
            files: Vec::new(),
            limits,
            disk: DISK,
            files_limit: 1 << 20,
            timeout: None,
        }
    }
}

/// The languages that code can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Python 3.
    Python,
    /// POSIX shell.
    Shell,
}

/// The result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeOutput {
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
    /// Its exit code; 128 and the signal's number if a signal ended it.
    pub exit_code: i32,
    /// Files that it made or changed.
    pub files: Vec<CodeFile>,
    /// How it was confined.
    pub sandbox: Confinement,
    /// Why it was ended, if it did not end by itself.
    pub ended_by: Option<EndedBy>,
    /// Whether output or files were cut; code that writes too much is ended.
    pub truncated: bool,
    /// Whether it was ended because its time was up.
    pub timed_out: bool,
}

/// Bytes and files that code may have written at any time.
const DISK: (u64, u64) = (256 << 20, 20_000);

impl Sandbox {
    /// A sandbox for code. `folder` is where code works that runs unconfined; it may hold nothing secret.
    pub fn new(scripts: Scripts, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        cleaner::sweep(&folder);
        confiner::sweep(&folder);
        let confiner = scripts.settings().confiner.clone();
        Self { scripts, folder, allow_unconfined: false, confiner }
    }

    /// Whether code runs where it cannot be confined: only the owner of a home may say so.
    #[must_use]
    pub fn allow_unconfined(self, allowed: bool) -> Self {
        Self { allow_unconfined: allowed, ..self }
    }

    /// Uses no higher level than this one, to try the lower ones out.
    #[must_use]
    pub fn at_most(self, level: Level) -> Self {
        Self { confiner: self.confiner.at_most(level), ..self }
    }

    /// Makes a step of the set-up fail, to prove that nothing runs without it.
    #[doc(hidden)]
    #[must_use]
    pub fn failing_at(self, step: &str) -> Self {
        Self { confiner: self.confiner.failing_at(step), ..self }
    }

    /// How far code can be confined on this system. Tried once; a temporary shortage is an error, not a lower level.
    pub async fn probe(&self) -> Result<Found, ScriptError> {
        self.confiner.probe(&self.folder).await
    }

    /// How code with these limits would be confined.
    pub async fn confinement(&self, limits: &Limits) -> Result<Confinement, ScriptError> {
        Ok(Confinement::new(self.probe().await?.level, limits, DISK))
    }

    /// Runs code. Dropping the future ends it with everything it started.
    pub async fn run_code(&self, request: &CodeRequest) -> Result<CodeOutput, ScriptError> {
        self.scripts.unless_stopped(self.run(request)).await
    }

    async fn run(&self, request: &CodeRequest) -> Result<CodeOutput, ScriptError> {
        for (name, _) in &request.files {
            files::check_name(name)?;
        }
        let found = self.probe().await?;
        if found.level == Level::None && !self.allow_unconfined {
            return Err(ScriptError::Unconfined { reason: found.reason() });
        }
        let (launch, host_work) = self.launch(request, found.level).await?;
        let mut process = launch.spawn().await?;
        let mut captured = Captured { limit: request.limits.output, ..Captured::default() };
        let driven = one_shot::drive(&mut process, b"", |stream, bytes| captured.take(stream, bytes));
        let ended = match request.timeout {
            Some(limit) => tokio::time::timeout(limit, driven).await.ok(),
            None => Some(driven.await),
        };
        let timed_out = ended.is_none();
        let status = ended.transpose()?.flatten();
        let too_much = status.is_none() && !timed_out;
        let (exit_code, mut ended_by) = match status {
            None => (128 + libc::SIGKILL, Some(if timed_out { EndedBy::Time } else { EndedBy::Output })),
            Some(status) => how(&process, status)?,
        };
        let memory_ran_out = process.tree.memory_ran_out();
        ended_by = ended_by.or(memory_ran_out.then_some(EndedBy::Memory));
        let work = process.boxed.as_mut().and_then(|boxed| boxed.work.take());
        // Also keeps the folder of code that has one on the host until it was read.
        let keep = process.tree.keep_folder();
        let Spawned { tree, boxed, .. } = process;
        // An error would mean that the reaper is gone, and with it any way to wait for it.
        let _ = tree.end().await;
        drop(boxed);
        let (sent, limit) = (request.files.clone(), request.files_limit);
        let gather = move || {
            let work = match (work, host_work) {
                (Some(work), _) => Some(work),
                (None, Some(path)) => open_folder(&path).ok(),
                (None, None) => None,
            };
            let gathered = work.map(|work| files::changed(work, &sent, limit)).unwrap_or_default();
            drop(keep);
            gathered
        };
        let gathered = tokio::task::spawn_blocking(gather).await.map_err(std::io::Error::from)?;
        Ok(CodeOutput {
            stdout: text(captured.out),
            stderr: text(captured.err),
            exit_code,
            truncated: too_much || gathered.truncated,
            timed_out,
            ended_by,
            files: gathered.files,
            sandbox: Confinement::new(found.level, &request.limits, request.disk),
        })
    }

    /// What is started, and the working folder if it is one of the host.
    async fn launch(
        &self,
        request: &CodeRequest,
        level: Level,
    ) -> Result<(Launch, Option<PathBuf>), ScriptError> {
        let interpreter = match request.language {
            Language::Shell => None,
            Language::Python => Some(self.scripts.interpreter().await?),
        };
        let code = match request.language {
            Language::Python => "code.py",
            Language::Shell => "code.sh",
        };
        let mut environment = self.scripts.settings().environment.clone();
        let mut set = |name: &str, value: &Path| {
            environment.insert(name.to_owned(), value.to_string_lossy().into_owned());
        };
        let (mut world, folder, place, workdir) = if level == Level::None {
            let folder = lay_out(&self.folder, request, code)?;
            let place = folder.path().canonicalize()?;
            let workdir = place.join("work");
            (None, Some(folder), place, workdir)
        } else {
            let mut world = self.confiner.world(level)?;
            let folder = confiner::place_of(&mut world, &self.folder)?;
            let place = if level == Level::Full { PathBuf::from("/box") } else { world.place.clone() };
            let workdir = level::work_in(&world);
            world.files.clone_from(&request.files);
            world.code = Some((code.to_owned(), request.code.clone().into_bytes()));
            world.disk = request.disk;
            (Some(world), folder, place, workdir)
        };
        set("HOME", &workdir);
        set("TMPDIR", &if level == Level::Full { PathBuf::from("/tmp") } else { place.join("tmp") });
        if level != Level::None {
            let own = interpreter.and_then(|found| found.program.parent());
            let paths = own.into_iter().chain(["/usr/local/bin", "/usr/bin", "/bin"].map(Path::new));
            let paths = std::env::join_paths(paths).map_err(std::io::Error::other)?;
            set("PATH", Path::new(&paths));
        }
        if let Some(world) = &mut world {
            if let Some(interpreter) = interpreter {
                world.library.extend(confiner::library(interpreter)?);
            }
            self.confiner.refuse_to_show_private(world, &self.folder)?;
        }
        let (program, mut arguments) = match interpreter {
            None => (PathBuf::from("/bin/sh"), Vec::new()),
            Some(interpreter) => (interpreter.program.clone(), vec!["-I".into(), "-u".into()]),
        };
        arguments.push(place.join(code).into());
        let on_host = (level != Level::Full).then(|| workdir.clone());
        let launch = Launch {
            program,
            arguments,
            environment,
            workdir,
            limits: request.limits.clone(),
            bound_address_space: true,
            cpu_for_life: true,
            world,
            folder,
            alive: self.scripts.alive()?,
        };
        Ok((launch, on_host))
    }
}

/// How the program ended. If the helper could not tell, that is an error of the sandbox, not the code's exit.
fn how(process: &Spawned, status: std::process::ExitStatus) -> Result<(i32, Option<EndedBy>), ScriptError> {
    let Some(boxed) = &process.boxed else {
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
        return Ok((code, None));
    };
    boxed.ended().ok_or_else(|| {
        ScriptError::Sandbox(Failed { step: "the helper ended early".to_owned(), errno: libc::ECHILD })
    })
}

fn open_folder(path: &Path) -> std::io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// A fresh folder with the files and the code, for code that is not confined.
fn lay_out(folder: &Path, request: &CodeRequest, code: &str) -> Result<Scratch, ScriptError> {
    let folder = Scratch::new_in(folder)?;
    let work = folder.path().join("work");
    std::fs::create_dir(&work)?;
    std::fs::create_dir(folder.path().join("tmp"))?;
    for (name, content) in &request.files {
        let target = work.join(name);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(target, content)?;
    }
    std::fs::write(folder.path().join(code), &request.code)?;
    Ok(folder)
}

/// What a process wrote, up to the limit of each stream.
#[derive(Default)]
struct Captured {
    out: Vec<u8>,
    err: Vec<u8>,
    limit: usize,
}

impl Captured {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> ControlFlow<()> {
        let taken = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        };
        let room = self.limit - taken.len();
        taken.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
