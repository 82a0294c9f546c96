//! Code that nobody vouches for: always a fresh process, held back as far as the kernel allows.

mod confine;
mod files;
mod filter;

use std::ops::ControlFlow;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::sync::OnceCell;

pub use confine::InForce;
pub use files::CodeFile;

use crate::child_setup::Confinement;
use crate::error::ScriptError;
use crate::one_shot::{self, Stream};
use crate::scripts::Scripts;
use crate::spawn::Launch;
use crate::spec::Limits;

/// Runs code with no files but its own and no network.
#[derive(Clone)]
pub struct Sandbox {
    scripts: Scripts,
    /// Where the working folders are made.
    folder: PathBuf,
}

/// What is to be run.
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
    /// Bytes of written files that are brought back, in all.
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
        Self { language, code: code.into(), files: Vec::new(), limits, files_limit: 1 << 20, timeout: None }
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

/// What came of it.
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
    /// What held it back.
    pub sandbox: InForce,
    /// Whether output or files were cut; code that writes too much is ended.
    pub truncated: bool,
    /// Whether it was ended because its time was up.
    pub timed_out: bool,
}

/// Programs for the code get these names, which are not brought back.
const CODE_FILE: &str = ".toolroom-code";

impl Sandbox {
    /// A sandbox whose working folders are made below `folder`, which may hold nothing secret.
    pub fn new(scripts: Scripts, folder: impl Into<PathBuf>) -> Self {
        Self { scripts, folder: folder.into() }
    }

    /// What holds code back on this system, found out by trying where that is the only way.
    pub async fn probe(&self) -> Result<InForce, ScriptError> {
        static FOUND: OnceCell<InForce> = OnceCell::const_new();
        let find = || async {
            let mut found = InForce::of_kernel();
            let isolated = InForce { network_namespace: true, ..InForce::default() };
            let confinement = isolated.confinement(&self.folder, &[]).map_err(std::io::Error::other)?;
            let limits = Limits { memory: None, ..Limits::default() };
            let launch = self.launch("/bin/true".into(), self.folder.clone(), limits, Some(confinement))?;
            found.network_namespace = match launch.spawn().await {
                Ok(mut process) => one_shot::drive(&mut process, b"", |_, _| ControlFlow::Continue(()))
                    .await?
                    .is_some_and(|status| status.success()),
                Err(_) => false,
            };
            Ok(found)
        };
        FOUND.get_or_try_init(find).await.copied()
    }

    /// Runs code. Dropping the future ends it with all that it started.
    pub async fn run_code(&self, request: &CodeRequest) -> Result<CodeOutput, ScriptError> {
        self.scripts.unless_stopped(self.run(request)).await
    }

    async fn run(&self, request: &CodeRequest) -> Result<CodeOutput, ScriptError> {
        let sandbox = self.probe().await?;
        let (folder, code) = self.lay_out(request)?;
        // Past symbolic links: rules are about where a path really leads.
        let workdir = folder.path().canonicalize()?;
        let mut readable = Vec::new();
        let (program, mut arguments) = match request.language {
            Language::Shell => (PathBuf::from("/bin/sh"), Vec::new()),
            Language::Python => {
                let interpreter = self.scripts.interpreter().await?;
                readable.clone_from(&interpreter.folders);
                (interpreter.program.clone(), vec!["-I".into(), "-u".into()])
            }
        };
        arguments.push(workdir.join(code).into());
        let confinement = sandbox.confinement(&workdir, &readable).map_err(std::io::Error::other)?;
        let mut launch = self.launch(program, workdir.clone(), request.limits.clone(), Some(confinement))?;
        launch.arguments = arguments;
        launch.folder = Some(folder);
        let mut process = launch.spawn().await?;
        let mut captured = Captured { limit: request.limits.output, ..Captured::default() };
        let driven = one_shot::drive(&mut process, b"", |stream, bytes| captured.take(stream, bytes));
        let ended = match request.timeout {
            Some(limit) => tokio::time::timeout(limit, driven).await.ok(),
            None => Some(driven.await),
        };
        let timed_out = ended.is_none();
        let ended = ended.transpose()?.flatten();
        let sent = request.files.clone();
        let limit = request.files_limit;
        let gather = move || files::changed(&workdir, CODE_FILE, &sent, limit);
        let gathered = tokio::task::spawn_blocking(gather).await.map_err(std::io::Error::from)?;
        let gone = process.tree.end();
        // An error would mean that the reaper is gone, and with it any way to wait for it.
        let _ = gone.await;
        Ok(CodeOutput {
            stdout: text(captured.out),
            stderr: text(captured.err),
            exit_code: ended.map_or(128 + libc::SIGKILL, |status| {
                status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
            }),
            truncated: (ended.is_none() && !timed_out) || gathered.truncated,
            timed_out,
            files: gathered.files,
            sandbox,
        })
    }

    /// A fresh folder with the files and the code; and the name of the code in it.
    fn lay_out(&self, request: &CodeRequest) -> Result<(TempDir, String), ScriptError> {
        std::fs::create_dir_all(&self.folder)?;
        let folder = tempfile::Builder::new().prefix("code-").tempdir_in(&self.folder)?;
        for (name, content) in &request.files {
            files::write(folder.path(), name, content)?;
        }
        let suffix = match request.language {
            Language::Python => "py",
            Language::Shell => "sh",
        };
        let name = format!("{CODE_FILE}.{suffix}");
        std::fs::write(folder.path().join(&name), &request.code)?;
        Ok((folder, name))
    }

    fn launch(
        &self,
        program: PathBuf,
        workdir: PathBuf,
        limits: Limits,
        confinement: Option<Confinement>,
    ) -> Result<Launch, ScriptError> {
        let mut environment = self.scripts.settings().environment.clone();
        for name in ["HOME", "TMPDIR"] {
            environment.insert(name.to_owned(), own_path(&workdir));
        }
        let alive = self.scripts.alive()?;
        Ok(Launch {
            program,
            arguments: Vec::new(),
            environment,
            workdir,
            limits,
            cpu_for_life: true,
            confinement,
            folder: None,
            alive,
        })
    }
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

fn own_path(folder: &Path) -> String {
    folder.to_string_lossy().into_owned()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
