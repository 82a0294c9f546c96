//! The totals of a tree: what all its processes together use.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Dir, Mode, OFlags};

use super::plan::{EndedBy, Totals};
use super::spent::{Spent, Used};
use super::sys;

/// How often the totals are looked at.
pub(super) const PAUSE: Duration = Duration::from_millis(20);

/// Looks at a tree from its root, which is this process.
pub(super) struct Watch {
    /// A /proc that shows the tree; none if there is none at all.
    pub(super) proc: Option<OwnedFd>,
    /// This process, as that /proc names it.
    pub(super) own: i32,
    /// Whether every process in it is of the tree: it is that of the box.
    pub(super) all_ours: bool,
    /// Where the tree may write, if all of it is a tmpfs.
    pub(super) work: Option<OwnedFd>,
    /// Where sockets are counted, and what each may hold.
    pub(super) socket_size: Option<u64>,
    /// A folder of the host that the tree writes to; it is measured file by file.
    pub(super) folder: Option<PathBuf>,
    pub(super) totals: Totals,
    pub(super) spent: Spent,
}

/// What /proc says about one process.
struct Process {
    pid: i32,
    parent: i32,
    start: u64,
    used: Used,
    pages: u64,
    zombie: bool,
    /// The thread to ask where the first one has ended before the others.
    thread: Option<i32>,
    /// It is there, and nothing can be known of it.
    unreadable: bool,
}

impl Process {
    /// Where in /proc it is described.
    fn place(&self) -> String {
        match self.thread {
            Some(thread) => format!("{}/task/{thread}", self.pid),
            None => self.pid.to_string(),
        }
    }
}

/// How often threads are listed to find one that is still there when it is asked.
const TRIES: usize = 16;

impl Watch {
    /// The total that the tree has exceeded, if any.
    pub(super) fn passed(&mut self) -> Option<EndedBy> {
        let tree = self.tree();
        let used = tree.iter().map(|one| ((one.pid, one.start), one.used)).collect();
        self.spent.look(used, millis(sys::cpu_of_waited()));
        if self.totals.cpu_seconds.is_some_and(|most| self.spent.total() > most.saturating_mul(1000)) {
            return Some(EndedBy::Cpu);
        }
        if self.folder.as_deref().is_some_and(|folder| self.disk_is_passed(folder, &tree)) {
            return Some(EndedBy::Disk);
        }
        let most = self.totals.memory?;
        if tree.iter().any(|one| one.unreadable) {
            return Some(EndedBy::Memory);
        }
        let besides = self.in_work() + self.in_sockets();
        let resident: u64 = tree.iter().map(|one| one.pages * rustix::param::page_size() as u64).sum();
        if resident + besides <= most {
            return None;
        }
        // Pages that processes share were counted once for each: only now it is worth the time to be exact.
        let exact: u64 = tree.iter().map(|one| self.proportional(one)).sum();
        (exact + besides > most).then_some(EndedBy::Memory)
    }

    /// The processes below this one.
    pub(super) fn members(&self) -> Vec<i32> {
        self.tree().into_iter().filter(|one| !one.zombie && !one.unreadable).map(|one| one.pid).collect()
    }

    fn tree(&self) -> Vec<Process> {
        let Some(proc) = &self.proc else { return Vec::new() };
        let Ok(folder) = Dir::read_from(proc) else { return Vec::new() };
        let mut found: Vec<Process> = folder
            .flatten()
            .filter_map(|entry| entry.file_name().to_str().ok()?.parse().ok())
            .filter(|pid| *pid != self.own)
            .filter_map(|pid| self.process(pid))
            .collect();
        if !self.all_ours {
            let mut known = HashSet::from([self.own]);
            loop {
                let before = known.len();
                known.extend(
                    found
                        .iter()
                        .filter(|one| known.contains(&one.parent))
                        .map(|one| one.pid)
                        .collect::<Vec<_>>(),
                );
                if known.len() == before {
                    break;
                }
            }
            found.retain(|one| known.contains(&one.pid));
        }
        for one in &mut found {
            // Its memory and descriptors live on with its other threads.
            if !one.unreadable && (one.zombie || one.pages == 0) {
                self.ask_threads(one);
            }
        }
        found
    }

    fn process(&self, pid: i32) -> Option<Process> {
        match self.stat(pid, &pid.to_string()) {
            Ok(process) => Some(process),
            Err(error) if is_gone(&error) => None,
            // Of others it need not be known; of ours it must.
            Err(_) if self.all_ours || self.spent.knows(pid) => Some(Process {
                pid,
                parent: self.own,
                start: 0,
                used: Used::default(),
                pages: 0,
                zombie: false,
                thread: None,
                unreadable: true,
            }),
            Err(_) => None,
        }
    }

    fn stat(&self, pid: i32, place: &str) -> io::Result<Process> {
        let stat = self.read(&format!("{place}/stat"))?;
        parse(pid, &stat).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }

    /// Finds a thread that lives, in a process whose first one does not.
    fn ask_threads(&self, process: &mut Process) {
        let Some(proc) = &self.proc else { return };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        for _ in 0..TRIES {
            let tasks = rustix::fs::openat(proc, format!("{}/task", process.pid), flags, Mode::empty());
            let threads = match tasks.and_then(Dir::new) {
                Ok(threads) => threads.flatten(),
                Err(error) => {
                    process.unreadable = !is_gone(&error.into());
                    return;
                }
            };
            let mut others = false;
            for thread in threads.filter_map(|entry| entry.file_name().to_str().ok()?.parse::<i32>().ok()) {
                if thread == process.pid {
                    continue;
                }
                others = true;
                match self.stat(process.pid, &format!("{}/task/{thread}", process.pid)) {
                    Ok(found) if !found.zombie && found.pages > 0 => {
                        process.thread = Some(thread);
                        process.pages = found.pages;
                        process.zombie = false;
                        return;
                    }
                    Err(error) if !is_gone(&error) => process.unreadable = true,
                    _ => {}
                }
            }
            if !others {
                return;
            }
        }
    }

    /// Memory of a process, with what it shares divided among those that share it; where that is not told,
    /// all of what it shares.
    fn proportional(&self, process: &Process) -> u64 {
        let resident = process.pages * rustix::param::page_size() as u64;
        if resident == 0 {
            return 0;
        }
        let text = match self.read(&format!("{}/smaps_rollup", process.place())) {
            Ok(text) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) if is_gone(&error) => return 0,
            Err(_) => return resident,
        };
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
        let kib: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        kib.map_or(resident, |kib| kib << 10)
    }

    /// Whether a folder of the host, with files that are open though they have no name any more, is too large.
    fn disk_is_passed(&self, folder: &Path, tree: &[Process]) -> bool {
        let (mut bytes, mut files) = (0_u64, 0_u64);
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).into_iter().flatten().flatten() {
                let Ok(found) = entry.metadata() else { continue };
                files += 1;
                bytes += found.blocks() * 512;
                if bytes > self.totals.disk || files > self.totals.files {
                    return true;
                }
                if found.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        let mut seen = HashSet::new();
        for process in tree {
            let open = format!("/proc/{}/fd", process.place());
            for entry in fs::read_dir(open).into_iter().flatten().flatten() {
                let Ok(found) = fs::metadata(entry.path()) else { continue };
                if found.is_file() && found.nlink() == 0 && seen.insert((found.dev(), found.ino())) {
                    bytes += found.blocks() * 512;
                }
            }
        }
        bytes > self.totals.disk
    }

    fn in_work(&self) -> u64 {
        let Some(found) = self.work.as_ref().and_then(|work| rustix::fs::fstatvfs(work).ok()) else {
            return 0;
        };
        (found.f_blocks - found.f_bfree) * found.f_frsize
    }

    /// What sockets may hold counts in no process, and can be told only from how many there are.
    fn in_sockets(&self) -> u64 {
        let Some(each) = self.socket_size else { return 0 };
        let text = self.read(&format!("{}/net/sockstat", self.own)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().find_map(|line| line.strip_prefix("sockets: used "));
        line.and_then(|line| line.trim().parse::<u64>().ok()).unwrap_or_default() * each
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let proc = self.proc.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let file = rustix::fs::openat(proc, path, flags, Mode::empty())?;
        let mut text = Vec::new();
        fs::File::from(file).take(64 << 10).read_to_end(&mut text)?;
        Ok(text)
    }
}

/// Reads a line of /proc. The name is in parentheses and may contain any bytes, so fields are counted from
/// the last one.
fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
    let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
    let fields: Vec<&str> = std::str::from_utf8(&stat[name_ends + 1..]).ok()?.split_whitespace().collect();
    let number = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok());
    let time = |ticks: u64| ticks * 1000 / rustix::param::clock_ticks_per_second().max(1);
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        start: number(19)?,
        used: Used { own: time(number(11)? + number(12)?), children: time(number(13)? + number(14)?) },
        pages: number(21)?,
        zombie: matches!(*fields.first()?, "Z" | "X"),
        thread: None,
        unreadable: false,
    })
}

/// Whether a process could not be read because it has ended.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
