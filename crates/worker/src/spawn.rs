//! Starting a process that inherits only what it is given.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Sender};

use rustix::process::{Pid, Resource, Rlimit};
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use crate::cgroup::{Cgroups, Group};
use crate::child_setup::{self, ChildSetup};
use crate::cleaner::Scratch;
use crate::confine::{self, Boxed, Confined, Level, Slot, World};
use crate::processes::{self, Mark};
use crate::spec::Limits;
use crate::tree::{Alive, End, Tree};

/// What to start. Arguments are passed as they are: no shell is involved.
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// The whole environment.
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) workdir: PathBuf,
    pub(crate) limits: Limits,
    /// Whether a process may reserve no more address space than its tree may use memory.
    pub(crate) bound_address_space: bool,
    /// Whether the CPU limit is for the whole life of the process.
    pub(crate) cpu_for_life: bool,
    /// The box to run it in, if any.
    pub(crate) world: Option<World>,
    /// A folder that lives as long as the tree.
    pub(crate) folder: Option<Scratch>,
    /// Held until nothing of the tree is left.
    pub(crate) alive: Alive,
}

/// A running process: its tree, its pipes, and a descriptor that becomes readable when it has exited.
pub(crate) struct Spawned {
    pub(crate) tree: Tree,
    /// `None` once it has been closed.
    pub(crate) stdin: Option<pipe::Sender>,
    pub(crate) stdout: pipe::Receiver,
    pub(crate) stderr: pipe::Receiver,
    pub(crate) exit: AsyncFd<OwnedFd>,
    /// The box, if it runs in one; the process is its helper then.
    pub(crate) boxed: Option<Boxed>,
}

impl Launch {
    /// Starts it.
    pub(crate) async fn spawn(self) -> io::Result<Spawned> {
        let (answer, started) = oneshot::channel();
        let job: Job = Box::new(move || {
            let _ = answer.send(self.start());
        });
        spawner()?.send(job).map_err(|_| io::Error::other("the thread that starts processes has stopped"))?;
        let (mut pipes, tree, confined) = match started.await {
            Ok(result) => result?,
            Err(_) => return Err(io::Error::other("the thread that starts processes has stopped")),
        };
        let pid = Pid::from_raw(pipes.pid).ok_or_else(|| io::Error::other("no process id"))?;
        let exit = child_setup::exit_of(pid)?;
        let boxed = match confined {
            Some(confined) => Some(confined.begin().await?),
            None => None,
        };
        Ok(Spawned {
            tree,
            stdin: Some(pipe::Sender::from_owned_fd(pipes.take(0)?)?),
            stdout: pipe::Receiver::from_owned_fd(pipes.take(1)?)?,
            stderr: pipe::Receiver::from_owned_fd(pipes.take(2)?)?,
            exit,
            boxed,
        })
    }

    fn start(mut self) -> io::Result<(Pipes, Tree, Option<Confined>)> {
        static SERIAL: AtomicU32 = AtomicU32::new(1);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let mark = Mark::new(serial);
        let group = Cgroups::get().make(serial, &self.limits);
        let started = match self.world.take() {
            Some(world) => self.confined(world, mark, group.as_ref()),
            None => std::fs::create_dir_all(&self.workdir)
                .and_then(|()| self.command(mark, group.as_ref()))
                .and_then(|mut command| Ok((command.spawn()?, (End::Scan, None), None))),
        };
        let (mut child, end, confined) = match started {
            Ok(started) => started,
            Err(error) => {
                group.map(|group| group.remove());
                return Err(error);
            }
        };
        let pipes = Pipes::of(&mut child);
        Ok((pipes, Tree::new(child, mark, group, end, self.folder.take(), self.alive), confined))
    }

    fn command(&mut self, mark: Mark, group: Option<&Group>) -> io::Result<Command> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear().envs(&self.environment).current_dir(&self.workdir);
        let setup = ChildSetup {
            parent: rustix::process::getpid(),
            doors: group.map(Group::doors).transpose()?.unwrap_or_default(),
            limits: self.resource_limits(mark),
            passed: Vec::new(),
        };
        with_pipes(&mut command, setup);
        Ok(command)
    }

    /// Starts the helper: this very binary, even if its file was replaced.
    fn confined(&self, world: World, mark: Mark, group: Option<&Group>) -> io::Result<Helped> {
        if !confine::can_help() {
            return Err(io::Error::other("this program cannot be the helper of a sandbox"));
        }
        let (control, theirs) = confine::pair()?;
        let (reads, input) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        // The program itself joins, and nothing of ours: what ends it by its memory must not end the helper.
        let doors = group.map(Group::doors).transpose()?.unwrap_or_default();
        let run = confine::Run {
            program: &self.program,
            arguments: &self.arguments,
            environment: &self.environment,
            workdir: &self.workdir,
            doors: doors.len(),
        };
        let told = world.told(run, &self.limits, self.cpu_for_life)?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0(confine::HELPER).env_clear().current_dir("/");
        let setup = ChildSetup {
            parent: rustix::process::getpid(),
            doors: Vec::new(),
            limits: vec![(Resource::Rttime, at_most(mark.limit())), (Resource::Core, at_most(0))],
            passed: [theirs, reads].into_iter().chain(doors).collect(),
        };
        with_pipes(&mut command, setup);
        let child = command.spawn()?;
        let hold = control.as_fd().try_clone_to_owned()?;
        let end = match world.level {
            Level::Full => End::HangUp(hold),
            Level::Partial | Level::None => End::HangUpAndScan(hold),
        };
        Ok((child, (end, Some(world.slot)), Some(Confined { control, input, told })))
    }

    fn resource_limits(&self, mark: Mark) -> Vec<(Resource, Rlimit)> {
        let limits = &self.limits;
        let mut list = vec![
            (Resource::Rttime, at_most(mark.limit())),
            (Resource::Core, at_most(0)),
            (Resource::Nofile, within(Resource::Nofile, limits.open_files)),
        ];
        let memory = limits.memory.filter(|_| self.bound_address_space);
        list.extend(memory.map(|bytes| (Resource::As, within(Resource::As, bytes))));
        list.extend(limits.file_size.map(|bytes| (Resource::Fsize, within(Resource::Fsize, bytes))));
        if self.cpu_for_life {
            list.extend(limits.cpu_seconds.map(|seconds| (Resource::Cpu, within(Resource::Cpu, seconds))));
        }
        if !Cgroups::get().can_count() {
            // The kernel counts all that the user runs, so what runs already is added.
            let count = processes::tasks_of_user() + limits.processes;
            list.push((Resource::Nproc, within(Resource::Nproc, count)));
        }
        list
    }
}

fn with_pipes(command: &mut Command, setup: ChildSetup) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    child_setup::install(command, setup);
}

fn at_most(value: u64) -> Rlimit {
    Rlimit { current: Some(value), maximum: Some(value) }
}

/// A limit may be lowered by anyone, raised only by root.
fn within(resource: Resource, value: u64) -> Rlimit {
    let bound = rustix::process::getrlimit(resource).maximum;
    at_most(bound.map_or(value, |bound| bound.min(value)))
}

/// A child, how its tree is ended, and its box.
type Helped = (Child, (End, Option<Slot>), Option<Confined>);

type Job = Box<dyn FnOnce() + Send>;

/// The one thread that starts processes. It lives as long as we do, because the signal that ends a child
/// with its parent is sent when the parent's *thread* ends.
fn spawner() -> io::Result<&'static Sender<Job>> {
    static SPAWNER: OnceLock<Option<Sender<Job>>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (sender, receiver) = mpsc::channel::<Job>();
        let named = std::thread::Builder::new().name("toolroom-spawner".to_owned());
        named.spawn(move || receiver.iter().for_each(|job| job())).map(|_| sender).ok()
    });
    spawner.as_ref().ok_or_else(|| io::Error::other("no thread to start processes"))
}

/// Our ends of a child's pipes.
struct Pipes {
    pid: i32,
    ends: [Option<OwnedFd>; 3],
}

impl Pipes {
    fn of(child: &mut Child) -> Self {
        Self {
            pid: i32::try_from(child.id()).unwrap_or_default(),
            ends: [
                child.stdin.take().map(OwnedFd::from),
                child.stdout.take().map(OwnedFd::from),
                child.stderr.take().map(OwnedFd::from),
            ],
        }
    }

    fn take(&mut self, index: usize) -> io::Result<OwnedFd> {
        self.ends[index].take().ok_or_else(|| io::Error::other("a pipe is missing"))
    }
}
