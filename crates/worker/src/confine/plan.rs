//! Messages to and from the helper.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Level;

/// Where the box is writable: the one tmpfs of the full level.
pub(crate) const BOX: &str = "/box";
/// The working folder in it, which holds the files that are sent and those that come back.
pub(crate) const WORK: &str = "/box/work";

/// What to run, and in what kind of box. Goes to the helper as JSON through a pipe, with the contents of
/// the files behind it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) level: Level,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) workdir: PathBuf,
    /// The host's folder that is writable at the partial level; at the full one it is the box's own.
    pub(crate) place: PathBuf,
    /// The user that the program becomes where the server is root.
    pub(crate) user: u32,
    /// Folders and files of an interpreter; links are followed.
    pub(crate) library: Vec<PathBuf>,
    /// Folders and files beyond the system's that can be read. Links on their way are refused: they were resolved
    /// when they were looked at, and lead elsewhere if there are any now.
    pub(crate) read: Vec<PathBuf>,
    /// Folders and files of the host that can be written.
    pub(crate) write: Vec<PathBuf>,
    /// The network of the host can be reached.
    pub(crate) host_network: bool,
    /// Names in the working folder, and how many bytes each has.
    pub(crate) files: Vec<(String, u64)>,
    /// A file beside the working folder that cannot be changed: the code.
    pub(crate) code: Option<(String, u64)>,
    pub(crate) totals: Totals,
    /// Limits of each process.
    pub(crate) open_files: u64,
    pub(crate) file_size: Option<u64>,
    pub(crate) address_space: Option<u64>,
    /// How many control groups the program joins: their doors follow the pipe.
    pub(crate) doors: usize,
    /// A step that must fail, to prove that nothing runs without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fail_at: Option<String>,
}

/// What the whole tree may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) memory: Option<u64>,
    pub(crate) cpu_seconds: Option<u64>,
    pub(crate) disk: u64,
    pub(crate) files: u64,
    /// Processes and threads of its user, those of others that share the user included.
    pub(crate) tasks: u64,
}

/// What the helper reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Told {
    /// The program runs. At the full level the descriptor of its working folder comes along.
    Started,
    /// The box could not be made, and nothing was run.
    Failed(Failed),
    /// The program has ended, and everything that it started.
    Ended {
        /// Its exit code; 128 and the signal's number if a signal ended it.
        code: i32,
        /// The total that it exceeded.
        by: Option<EndedBy>,
    },
}

/// A step of the set-up that the system refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{step}: {}", std::io::Error::from_raw_os_error(*errno))]
pub struct Failed {
    /// What was tried.
    pub step: String,
    /// The system's answer.
    pub errno: i32,
}

impl Failed {
    pub(crate) fn new(step: impl Into<String>, error: impl Into<std::io::Error>) -> Self {
        Self { step: step.into(), errno: error.into().raw_os_error().unwrap_or(libc::EIO) }
    }
}

/// Why code was ended before it ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EndedBy {
    /// The tree used more memory than it may.
    Memory,
    /// It wrote more bytes or files than it may.
    Disk,
    /// It used more CPU time than it may.
    Cpu,
    /// Its time was up.
    Time,
    /// It printed more than it may.
    Output,
}
