//! A program that runs until it is ended, such as a server on stdin and stdout.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;

use crate::interpreter::on_path;
use crate::reaper;
use crate::sandbox::{Confiner, Openings};
use crate::spawn::Launch;
use crate::spec::Limits;
use crate::tree::Tree;

/// What to start. Arguments are passed as they are: no shell is involved.
#[derive(Clone)]
pub struct Program {
    /// A path, or a name to be found on the PATH of `environment`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The whole environment: nothing of ours is passed on.
    pub environment: BTreeMap<String, String>,
    /// The working folder.
    pub workdir: PathBuf,
    /// What it may use. `output` and `cpu_seconds` do not apply: it answers many calls.
    pub limits: Limits,
    /// The box to run it in, if any; it then never runs without. Its working folder is the box's own
    /// unless the box shows `workdir`.
    pub sandbox: Option<(Confiner, Openings)>,
}

/// A running program with everything it started. Dropping it ends them all.
#[derive(Debug)]
pub struct RunningProgram {
    tree: Tree,
    exit: AsyncFd<std::os::fd::OwnedFd>,
    pid: u32,
}

/// Our ends of its pipes.
#[derive(Debug)]
pub struct ProgramPipes {
    /// What it reads.
    pub stdin: pipe::Sender,
    /// What it answers.
    pub stdout: pipe::Receiver,
    /// Its stderr.
    pub stderr: pipe::Receiver,
}

impl Program {
    /// Starts it.
    pub async fn start(self) -> io::Result<(RunningProgram, ProgramPipes)> {
        reaper::start();
        // Nobody waits on the other end: `end` reports when this tree is gone.
        let (alive, _) = mpsc::channel(1);
        let mut launch = Launch {
            program: self.program,
            arguments: self.arguments.into_iter().map(Into::into).collect(),
            environment: self.environment,
            workdir: self.workdir,
            limits: self.limits,
            bound_address_space: true,
            cpu_for_life: false,
            world: None,
            folder: None,
            alive,
        };
        if let Some((confiner, openings)) = &self.sandbox {
            let path = launch.environment.get("PATH");
            let program = on_path(&launch.program, path).ok_or(io::ErrorKind::NotFound)?;
            launch.program = std::path::absolute(program)?;
            let workdir = launch.workdir.clone();
            confiner.enclose(&mut launch, openings, None, None).await.map_err(io::Error::other)?;
            if openings.show(&workdir) {
                launch.workdir = workdir;
            }
        }
        let mut spawned = launch.spawn().await?;
        let stdin = spawned.stdin.take().ok_or_else(|| io::Error::other("a pipe is missing"))?;
        let pid = spawned.tree.pid().unwrap_or_default();
        let running = RunningProgram { tree: spawned.tree, exit: spawned.exit, pid };
        Ok((running, ProgramPipes { stdin, stdout: spawned.stdout, stderr: spawned.stderr }))
    }
}

impl RunningProgram {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until the program itself has exited, and says how.
    pub async fn exited(&mut self) -> io::Result<Option<ExitStatus>> {
        self.exit.readable().await?.retain_ready();
        self.tree.exit_status()
    }

    /// Ends it with everything it started, and waits until nothing is left.
    pub async fn end(self) {
        drop(self.exit);
        // The sender goes away only once the tree is gone.
        let _ = self.tree.end().await;
    }
}
