//! The server's side of a box: its plan, and the messages to and from the helper.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::net::Shutdown;
use tokio::io::AsyncWriteExt;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;

use super::plan::{EndedBy, Failed, Plan, Told, Totals};
use super::{Level, Maker, Slot, view, wire};
use crate::child_setup;
use crate::processes;
use crate::spec::Limits;

/// The box that a program is to have.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) level: Level,
    /// Folders of an interpreter, which may be links.
    pub(crate) library: Vec<PathBuf>,
    /// Folders and files of the host that can be read, beyond the system's. No link is on their way.
    pub(crate) read: Vec<PathBuf>,
    /// Those that can be written.
    pub(crate) write: Vec<PathBuf>,
    pub(crate) host_network: bool,
    /// Names in the working folder and contents.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// A file beside it that cannot be changed.
    pub(crate) code: Option<(String, Vec<u8>)>,
    /// Bytes and files that can be written in total.
    pub(crate) disk: (u64, u64),
    /// The host's folder to write to, at the partial level.
    pub(crate) place: PathBuf,
    pub(crate) slot: Slot,
    /// Whether one process may reserve no more address space than the tree may use memory.
    pub(crate) bound_address_space: bool,
    pub(crate) fail_at: Option<String>,
}

impl World {
    pub(crate) fn new(level: Level) -> io::Result<Self> {
        let slot = Slot::take().ok_or_else(|| io::Error::from_raw_os_error(libc::EAGAIN))?;
        Ok(Self {
            level,
            library: Vec::new(),
            read: Vec::new(),
            write: Vec::new(),
            host_network: false,
            files: Vec::new(),
            code: None,
            disk: (256 << 20, 20_000),
            place: PathBuf::new(),
            slot,
            bound_address_space: true,
            fail_at: None,
        })
    }

    /// What every box shows of the system.
    pub(crate) fn system(&self) -> impl Iterator<Item = &Path> {
        let network: &[&str] = if self.host_network { &view::ETC_FOR_NETWORK } else { &[] };
        view::SYSTEM.iter().chain(&view::ETC).chain(network).map(Path::new)
    }

    /// Everything that the helper is told, as it reads it.
    pub(crate) fn told(&self, program: Run<'_>, limits: &Limits, cpu: bool) -> io::Result<Vec<u8>> {
        let text = |path: &std::ffi::OsStr| {
            path.to_str().map(str::to_owned).ok_or_else(|| io::Error::other("a path is not UTF-8"))
        };
        let totals = Totals {
            memory: limits.memory,
            cpu_seconds: limits.cpu_seconds.filter(|_| cpu),
            disk: self.disk.0,
            files: self.disk.1,
            tasks: self.tasks(limits.processes),
        };
        let plan = Plan {
            level: self.level,
            program: program.program.clone(),
            arguments: program.arguments.iter().map(|one| text(one)).collect::<Result<_, _>>()?,
            environment: program.environment.clone(),
            workdir: program.workdir.clone(),
            place: self.place.clone(),
            user: self.slot.user(),
            library: self.library.clone(),
            read: self.read.clone(),
            write: self.write.clone(),
            host_network: self.host_network,
            files: self.files.iter().map(|(name, bytes)| (name.clone(), bytes.len() as u64)).collect(),
            code: self.code.as_ref().map(|(name, bytes)| (name.clone(), bytes.len() as u64)),
            totals,
            open_files: limits.open_files,
            file_size: limits.file_size,
            address_space: limits.memory.filter(|_| self.bound_address_space),
            doors: program.doors,
            fail_at: self.fail_at.clone(),
        };
        let json = serde_json::to_vec(&plan)?;
        let mut told = u32::try_from(json.len()).map_err(io::Error::other)?.to_le_bytes().to_vec();
        told.extend(json);
        told.extend(self.code.iter().chain(&self.files).flat_map(|(_, bytes)| bytes));
        Ok(told)
    }

    /// What the kernel is told about the number of processes: it counts a whole user, not a tree.
    fn tasks(&self, wanted: u64) -> u64 {
        match (self.level, Maker::this()) {
            (Level::Full, Maker::Root) | (Level::Partial, Maker::Root | Maker::WeakRoot) => wanted,
            // The helper and the first process are in the user namespace too, where they are counted apart.
            (Level::Full, _) if counts_by_namespace() => wanted + 2,
            _ => processes::tasks_of_user() + wanted + 2,
        }
    }
}

/// What is run in the box.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a PathBuf,
    pub(crate) arguments: &'a [std::ffi::OsString],
    pub(crate) environment: &'a std::collections::BTreeMap<String, String>,
    pub(crate) workdir: &'a PathBuf,
    pub(crate) doors: usize,
}

/// Whether processes are counted for each user namespace, as from Linux 5.14 on.
fn counts_by_namespace() -> bool {
    let release = rustix::system::uname();
    let text = release.release().to_string_lossy();
    let mut numbers = text.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (5, 14)
}

/// A box whose helper was started, and is to be told what to do.
pub(crate) struct Confined {
    pub(crate) control: OwnedFd,
    pub(crate) input: OwnedFd,
    pub(crate) told: Vec<u8>,
}

impl Confined {
    /// Tells the helper, and waits until the program runs. A refusal is the system's, never the program's.
    pub(crate) async fn begin(self) -> io::Result<Boxed> {
        let mut boxed = Boxed { control: child_setup::watch(self.control)?, work: None };
        let mut input = pipe::Sender::from_owned_fd(self.input)?;
        let told = self.told;
        let feed = async move {
            // A helper that fails says why on the other channel.
            let _ = input.write_all(&told).await;
        };
        let (_, first) = tokio::join!(feed, boxed.next());
        match first? {
            Some((Told::Started, work)) => {
                boxed.work = work;
                Ok(boxed)
            }
            // As if we had started it ourselves.
            Some((Told::Failed(failed), _)) if failed.step == "exec" => {
                Err(io::Error::from_raw_os_error(failed.errno))
            }
            Some((Told::Failed(failed), _)) => Err(io::Error::other(failed)),
            Some((Told::Ended { .. }, _)) | None => {
                Err(io::Error::other(Failed { step: "helper".to_owned(), errno: libc::ECHILD }))
            }
        }
    }
}

/// A box whose program runs.
pub(crate) struct Boxed {
    control: AsyncFd<OwnedFd>,
    /// The working folder, at the full level.
    pub(crate) work: Option<OwnedFd>,
}

impl Boxed {
    async fn next(&mut self) -> io::Result<Option<(Told, Option<OwnedFd>)>> {
        loop {
            let mut ready = self.control.readable().await?;
            match wire::receive(self.control.get_ref()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
                other => return other,
            }
        }
    }

    /// How the program ended, once the helper has exited; `None` if the helper could not say.
    pub(crate) fn ended(&self) -> Option<(i32, Option<EndedBy>)> {
        match wire::receive(self.control.get_ref()) {
            Ok(Some((Told::Ended { code, by }, _))) => Some((code, by)),
            _ => None,
        }
    }
}

/// Makes the helper end its box, by closing the connection.
pub(crate) fn hang_up(control: &OwnedFd) {
    let _ = rustix::net::shutdown(control, Shutdown::Both);
}
