//! What /proc says about processes, and the mark by which a worker's descendants are known.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;

use rustix::process::{Pid, PidfdFlags, Signal};

/// The mark of one worker and of all its descendants.
///
/// It is the value of a resource limit that means nothing to ordinary processes (RLIMIT_RTTIME). A limit
/// passes through fork, exec and setsid, stays when the environment is wiped, can be read of any process,
/// and cannot be raised again without privilege.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mark(u64);

impl Mark {
    // 8 bits to know a mark by, 32 for the process that gave it, 24 for a serial number.
    const PREFIX: u64 = 0xA7;

    /// The mark of this process's worker of that number.
    pub(crate) fn new(serial: u32) -> Self {
        static OWN: OnceLock<u32> = OnceLock::new();
        let own = *OWN.get_or_init(|| Process::read(rustix::process::getpid()).map_or(0, |own| own.life()));
        Self(Self::PREFIX << 56 | u64::from(own) << 24 | u64::from(serial & 0xff_ffff))
    }

    pub(crate) fn limit(self) -> u64 {
        self.0
    }

    /// The life of the process that gave the mark; see [`Process::life`].
    pub(crate) fn giver(self) -> u32 {
        (self.0 >> 24 & 0xffff_ffff) as u32
    }

    /// The mark of a process, if it has one.
    pub(crate) fn of(pid: Pid) -> Option<Self> {
        let limits = fs::read_to_string(format!("/proc/{}/limits", pid.as_raw_nonzero())).ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max realtime timeout"))?;
        let value: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        (value >> 56 == Self::PREFIX).then_some(Self(value))
    }
}

/// One process, as a scan saw it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) parent: i32,
    pub(crate) zombie: bool,
    started: u64,
}

impl Process {
    fn read(pid: Pid) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        // The name is in parentheses and may contain anything, so fields are counted from the last one.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let zombie = matches!(fields.next()?, "Z" | "X");
        let parent = fields.next()?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        Some(Self { pid, parent, zombie, started })
    }

    /// A number for this life of this process, in this namespace of process ids. The same in every build:
    /// another version of Toolroom must compute the same number.
    pub(crate) fn life(&self) -> u32 {
        let id = i64::from(self.pid.as_raw_nonzero().get());
        let bytes = [id.to_le_bytes(), self.started.to_le_bytes(), own_namespace().to_le_bytes()].concat();
        // FNV-1a.
        bytes.iter().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
    }

    /// Whether its process ids are ours. In another container, ids and lives mean other processes.
    pub(crate) fn shares_namespace(&self) -> bool {
        namespace(&self.pid.as_raw_nonzero().to_string()).is_some_and(|other| other == own_namespace())
    }

    /// Sends a signal to this very process, never to a later one with the same id.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Ok(handle) = rustix::process::pidfd_open(self.pid, PidfdFlags::empty())
            && Self::read(self.pid).is_some_and(|now| now.started == self.started)
        {
            // A failure means that it is gone, or not ours to signal; the next scan tells.
            let _ = rustix::process::pidfd_send_signal(handle, signal);
        }
    }
}

/// The namespace of our process ids.
pub(crate) fn own_namespace() -> u64 {
    static OWN: OnceLock<u64> = OnceLock::new();
    *OWN.get_or_init(|| namespace("self").unwrap_or_default())
}

fn namespace(process: &str) -> Option<u64> {
    fs::metadata(format!("/proc/{process}/ns/pid")).ok().map(|file| file.ino())
}

/// All process ids, the latest first.
fn ids() -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut ids: Vec<Pid> =
        entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)).collect();
    ids.reverse();
    ids
}

/// All processes.
pub(crate) fn all() -> Vec<Process> {
    ids().into_iter().filter_map(Process::read).collect()
}

/// A process of one of the trees that are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) process: Process,
    /// Its mark; `None` if it got rid of it, so that only its parent identifies it.
    pub(crate) mark: Option<Mark>,
}

/// What one scan of all processes found.
pub(crate) struct Scan {
    pub(crate) members: Vec<Member>,
    /// Whether every process that was there at the start could be looked at. One that could not may have
    /// been a member, and have left a child that was not there yet.
    pub(crate) settled: bool,
}

/// Finds those that carry one of the marks, are one of the roots, or descend from one. Each is shown
/// to `found` at once: the ones to catch are born and gone within a millisecond.
pub(crate) fn scan(marks: &HashSet<Mark>, roots: &HashSet<Pid>, mut found: impl FnMut(&Process)) -> Scan {
    let mut scan = Scan { members: Vec::new(), settled: true };
    let mut known: HashSet<i32> = HashSet::new();
    let mut others: Vec<Process> = Vec::new();
    for pid in ids() {
        let mark = Mark::of(pid).filter(|mark| marks.contains(mark));
        let Some(process) = Process::read(pid) else {
            scan.settled = false;
            continue;
        };
        if mark.is_some() || roots.contains(&pid) {
            found(&process);
            known.insert(pid.as_raw_nonzero().get());
            scan.members.push(Member { process, mark });
        } else {
            others.push(process);
        }
    }
    loop {
        let before = scan.members.len();
        for process in &others {
            if known.contains(&process.parent) && known.insert(process.pid.as_raw_nonzero().get()) {
                found(process);
                scan.members.push(Member { process: *process, mark: None });
            }
        }
        if scan.members.len() == before {
            return scan;
        }
    }
}

/// Whether another process than `own` carries the mark and runs.
pub(crate) fn any_beside(mark: Mark, own: Pid) -> bool {
    let runs = |pid: Pid| Process::read(pid).is_some_and(|process| !process.zombie);
    ids().into_iter().any(|pid| pid != own && Mark::of(pid) == Some(mark) && runs(pid))
}

/// How many processes and threads the user of this process has.
pub(crate) fn tasks_of_user() -> u64 {
    let user = rustix::process::getuid().as_raw().to_string();
    all()
        .iter()
        .filter_map(|process| {
            fs::read_to_string(format!("/proc/{}/status", process.pid.as_raw_nonzero())).ok()
        })
        .filter_map(|status| {
            let field = |name: &str| {
                status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()
            };
            (field("Uid:")? == user).then(|| field("Threads:")?.parse::<u64>().ok()).flatten()
        })
        .sum()
}
