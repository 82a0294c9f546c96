//! How code is confined, as every answer reports it.

use serde::Serialize;

use crate::Containment;
use crate::confine::{self, Level, Maker};
use crate::spec::Limits;

/// Who enforces a protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The kernel.
    Kernel,
    /// A watcher that checks every few milliseconds and ends what exceeds the limit.
    Watched,
    /// Nobody.
    None,
}

/// How code was confined: each protection, and who enforces it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Confinement {
    /// The overall level.
    pub level: Level,
    /// It reads the system's programs and its own files, and writes only its own folder.
    pub files: By,
    /// It reaches no network and no socket.
    pub network: By,
    /// It can neither signal, change nor look into other processes.
    pub processes: By,
    /// The memory of all its processes together.
    pub memory: Memory,
    /// What it writes.
    pub disk: Disk,
    /// Its processes and threads.
    pub tasks: Tasks,
    /// CPU time of all its processes together.
    pub cpu: Cpu,
    /// Nothing of it is left when it has ended.
    pub end: By,
    /// What it can see but not read of the host: names and sizes of files, processes.
    pub visible: Vec<&'static str>,
}

/// The memory of all processes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Bytes.
    pub limit: Option<u64>,
    /// Who enforces it.
    pub by: By,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// Bytes.
    pub limit: Option<u64>,
    /// Files and folders.
    pub files: Option<u64>,
    /// Who enforces it.
    pub by: By,
}

/// Processes and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tasks {
    /// How many.
    pub limit: u64,
    /// Who enforces it.
    pub by: By,
}

/// CPU time of all processes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cpu {
    /// Seconds.
    pub seconds: Option<u64>,
    /// Who enforces it.
    pub by: By,
}

impl Confinement {
    pub(crate) fn new(level: Level, limits: &Limits, disk: (u64, u64)) -> Self {
        let found = Containment::probe();
        let kernel_or = |kernel: bool, other: By| if kernel { By::Kernel } else { other };
        let confined = level != Level::None;
        let held = kernel_or(confined, By::None);
        let watched = if confined { By::Watched } else { By::None };
        Self {
            level,
            files: held,
            network: held,
            processes: held,
            memory: Memory { limit: limits.memory, by: kernel_or(found.tree_memory_bounded, watched) },
            disk: Disk {
                limit: confined.then_some(disk.0),
                files: confined.then_some(disk.1),
                by: kernel_or(level == Level::Full, watched),
            },
            tasks: Tasks {
                limit: limits.processes,
                by: kernel_or(confined || found.bounds_processes(), By::None),
            },
            cpu: Cpu { seconds: limits.cpu_seconds, by: watched },
            end: match level {
                Level::Full => By::Kernel,
                _ => kernel_or(found.cgroup_kill, if found.marked { By::Watched } else { By::None }),
            },
            visible: match level {
                Level::Full => Vec::new(),
                Level::Partial => vec!["names", "processes"],
                Level::None => vec!["names", "contents", "processes", "network"],
            },
        }
    }

    /// How, in words.
    pub fn means(&self) -> String {
        let own_user = match Maker::this() {
            Maker::User => "",
            Maker::Root | Maker::WeakRoot => "; as root: own user",
        };
        let landlock = match confine::landlock_version() {
            0 => "no Landlock".to_owned(),
            version => format!("Landlock {version}"),
        };
        match self.level {
            Level::Full => {
                format!("confined fully (mount, pid, network, ipc namespaces; filter; {landlock}{own_user})")
            }
            Level::Partial => format!("confined in part ({landlock}; filter{own_user})"),
            Level::None => "not confined".to_owned(),
        }
    }
}
