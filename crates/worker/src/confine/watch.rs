//! The totals of a tree: what all its processes together use.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Dir, Mode, OFlags};

use super::plan::{EndedBy, Totals};
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
}

/// What /proc says of one process.
struct Process {
    pid: i32,
    parent: i32,
    ticks: u64,
    pages: u64,
    zombie: bool,
}

impl Watch {
    /// The total that the tree has passed, if it has passed one.
    pub(super) fn passed(&self) -> Option<EndedBy> {
        let tree = self.tree();
        if self.totals.cpu_seconds.is_some_and(|most| self.cpu(&tree) > Duration::from_secs(most)) {
            return Some(EndedBy::Cpu);
        }
        if self.folder.as_deref().is_some_and(|folder| self.disk_is_passed(folder, &tree)) {
            return Some(EndedBy::Disk);
        }
        let most = self.totals.memory?;
        let besides = self.in_work() + self.in_sockets();
        let resident: u64 = tree.iter().map(|one| one.pages * rustix::param::page_size() as u64).sum();
        if resident + besides <= most {
            return None;
        }
        // Pages that processes share were counted once for each: only now it is worth the time to be exact.
        let exact: u64 = tree.iter().map(|one| self.proportional(one.pid)).sum();
        (exact + besides > most).then_some(EndedBy::Memory)
    }

    /// The processes below this one.
    pub(super) fn members(&self) -> Vec<i32> {
        self.tree().into_iter().filter(|one| !one.zombie).map(|one| one.pid).collect()
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
        found
    }

    fn process(&self, pid: i32) -> Option<Process> {
        let stat = self.read(&format!("{pid}/stat"))?;
        // The name stands in parentheses and may hold anything, so fields are counted from the last one.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok());
        Some(Process {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            zombie: matches!(*fields.first()?, "Z" | "X"),
            ticks: number(11)? + number(12)? + number(13)? + number(14)?,
            pages: number(21)?,
        })
    }

    fn cpu(&self, tree: &[Process]) -> Duration {
        let ticks: u64 = tree.iter().map(|one| one.ticks).sum();
        let living = Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1));
        living + sys::cpu_of_waited()
    }

    /// Memory of a process, with what it shares divided among those that share it.
    fn proportional(&self, pid: i32) -> u64 {
        let text = self.read(&format!("{pid}/smaps_rollup")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
        let kib: u64 = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default();
        kib << 10
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
            let open = format!("/proc/{}/fd", process.pid);
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
        let line = text.lines().find_map(|line| line.strip_prefix("sockets: used "));
        line.and_then(|line| line.trim().parse::<u64>().ok()).unwrap_or_default() * each
    }

    fn read(&self, path: &str) -> Option<String> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(self.proc.as_ref()?, path, flags, Mode::empty()).ok()?;
        let mut text = String::new();
        std::fs::File::from(file).take(64 << 10).read_to_string(&mut text).ok()?;
        Some(text)
    }
}
