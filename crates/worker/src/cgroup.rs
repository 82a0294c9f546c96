//! A control group for each worker, where the system allows it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::processes::own_namespace;
use crate::spec::Limits;

/// Where groups can be created. Found out once.
#[derive(Debug, Default)]
pub(crate) struct Cgroups {
    /// A version 2 folder: its groups can be killed whole.
    unified: Option<PathBuf>,
    /// A folder of the version 1 controller that bounds process counts, where version 2 lacks it.
    pids: Option<PathBuf>,
    /// Whether groups of version 2 bound process counts and memory.
    bounds: bool,
}

/// The limits of a tree.
const CONTROLLERS: [&str; 2] = ["pids", "memory"];

impl Cgroups {
    pub(crate) fn get() -> &'static Self {
        static FOUND: OnceLock<Cgroups> = OnceLock::new();
        FOUND.get_or_init(Self::find)
    }

    pub(crate) fn can_kill(&self) -> bool {
        self.unified.is_some()
    }

    pub(crate) fn can_count(&self) -> bool {
        self.bounds || self.pids.is_some()
    }

    pub(crate) fn can_bound_memory(&self) -> bool {
        self.bounds
    }

    fn find() -> Self {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let name = format!("{}{}", name_prefix(), std::process::id());
        let unified = own_folder(&mounts, &own, "cgroup2", None).filter(|folder| {
            clear_strays(folder);
            usable(&folder.join(&name), "cgroup.kill")
        });
        if let Some(folder) = &unified {
            delegate(folder, &name, &CONTROLLERS);
        }
        let bounds = unified.as_ref().is_some_and(|folder| {
            let available = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
            CONTROLLERS.iter().all(|controller| available.split_whitespace().any(|a| a == *controller))
        });
        let pids = own_folder(&mounts, &own, "cgroup", Some("pids")).filter(|folder| {
            clear_strays(folder);
            !bounds && usable(&folder.join(&name), "pids.max")
        });
        Self {
            unified: unified.map(|folder| folder.join(&name)),
            pids: pids.map(|folder| folder.join(&name)),
            bounds,
        }
    }

    /// A group for one worker; `None` where no group is available.
    pub(crate) fn make(&self, serial: u32, limits: &Limits) -> Option<Group> {
        let mut group = Group { folders: Vec::new() };
        for base in [&self.unified, &self.pids].into_iter().flatten() {
            match make_folder(base, serial) {
                Ok(folder) => group.folders.push(folder),
                Err(error) => {
                    tracing::debug!(%error, folder = %base.display(), "no control group for a worker")
                }
            }
        }
        for folder in &group.folders {
            for (file, value) in [
                ("pids.max", Some(limits.processes)),
                ("memory.max", limits.memory),
                ("memory.swap.max", limits.memory.map(|_| 0)),
                // All of a tree or nothing: half of one is useless.
                ("memory.oom.group", limits.memory.map(|_| 1)),
            ] {
                if let Some(value) = value
                    && folder.join(file).exists()
                {
                    let _ = fs::write(folder.join(file), value.to_string());
                }
            }
        }
        (!group.folders.is_empty()).then_some(group)
    }
}

/// The group of one worker: a folder in each hierarchy that is used.
#[derive(Debug)]
pub(crate) struct Group {
    folders: Vec<PathBuf>,
}

impl Group {
    /// Files to which a process writes `0` to join.
    pub(crate) fn doors(&self) -> io::Result<Vec<OwnedFd>> {
        let open = |folder: &PathBuf| OpenOptions::new().write(true).open(folder.join("cgroup.procs"));
        self.folders.iter().map(|folder| open(folder).map(OwnedFd::from)).collect()
    }

    /// Whether the kernel killed a process of it because its memory was used up.
    pub(crate) fn memory_ran_out(&self) -> bool {
        let count = |folder: &PathBuf| {
            let events = fs::read_to_string(folder.join("memory.events")).ok()?;
            events.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse::<u64>().ok()
        };
        self.folders.iter().filter_map(count).any(|kills| kills > 0)
    }

    /// Kills every process in the group, where the kernel can do that.
    pub(crate) fn kill(&self) {
        for folder in &self.folders {
            kill_folder(folder);
        }
    }

    /// Removes the group; false while something lives in it.
    pub(crate) fn remove(&self) -> bool {
        let removed = self.folders.iter().all(|folder| match fs::remove_dir(folder) {
            Err(error) => error.kind() == io::ErrorKind::NotFound,
            Ok(()) => true,
        });
        for base in self.folders.iter().filter_map(|folder| folder.parent()) {
            // Fails while other workers have their groups in it.
            let _ = fs::remove_dir(base);
        }
        removed
    }
}

fn make_folder(base: &Path, serial: u32) -> io::Result<PathBuf> {
    let folder = base.join(serial.to_string());
    for _ in 0..8 {
        if let Err(error) = fs::create_dir(base)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(error);
        }
        let _ = fs::write(base.join("cgroup.subtree_control"), "+pids +memory");
        match fs::create_dir(&folder) {
            // The last group of another worker was removed just now, and the base with it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other.map(|()| folder),
        }
    }
    Err(io::Error::from(io::ErrorKind::NotFound))
}

fn kill_folder(folder: &Path) {
    if let Ok(mut file) = OpenOptions::new().write(true).open(folder.join("cgroup.kill")) {
        use std::io::Write;
        let _ = file.write_all(b"1");
    }
}

fn usable(folder: &Path, file: &str) -> bool {
    let made = match fs::create_dir(folder) {
        Err(error) => error.kind() == io::ErrorKind::AlreadyExists,
        Ok(()) => true,
    };
    let usable = made && File::options().write(true).open(folder.join(file)).is_ok();
    let _ = fs::remove_dir(folder);
    usable
}

/// Has our own group pass its controllers on to the groups in it. The kernel refuses that while a process is in
/// the group itself, which under delegation is us: we move into a group below it first, and back if we were not
/// alone there.
fn delegate(folder: &Path, name: &str, controllers: &[&str]) {
    let has = |file: &str| {
        let found = fs::read_to_string(folder.join(file)).unwrap_or_default();
        controllers.iter().all(|controller| found.split_whitespace().any(|one| one == *controller))
    };
    if has("cgroup.subtree_control") || !has("cgroup.controllers") {
        return;
    }
    let wanted: Vec<String> = controllers.iter().map(|controller| format!("+{controller}")).collect();
    let enable = || fs::write(folder.join("cgroup.subtree_control"), wanted.join(" "));
    if enable().is_ok() {
        return;
    }
    let leaf = folder.join(format!("{name}-server"));
    if fs::create_dir(&leaf).is_err() {
        return;
    }
    let own = std::process::id().to_string();
    let moved = fs::write(leaf.join("cgroup.procs"), &own).and_then(|()| enable());
    if let Err(error) = moved {
        tracing::debug!(%error, "the control group of this process cannot limit others");
        let _ = fs::write(folder.join("cgroup.procs"), &own);
        let _ = fs::remove_dir(&leaf);
    }
}

/// Where this process itself is in a hierarchy: below that, groups may be made.
fn own_folder(mounts: &str, own: &str, kind: &str, controller: Option<&str>) -> Option<PathBuf> {
    let mount = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (place, found, options) = (fields.next()?, fields.next()?, fields.next()?);
        let fits = controller.is_none_or(|controller| options.split(',').any(|option| option == controller));
        (found == kind && fits).then_some(place)
    })?;
    let path = own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let fits = match controller {
            Some(controller) => controllers.split(',').any(|name| name == controller),
            None => controllers.is_empty(),
        };
        fits.then_some(path)
    })?;
    Some(Path::new(mount).join(path.trim_start_matches('/')))
}

/// Before the process id in names of groups: ids mean the same only within one namespace.
fn name_prefix() -> String {
    format!("toolroom-{}-", own_namespace())
}

/// Ends what an earlier process of ours left in its groups when it was killed.
fn clear_strays(folder: &Path) {
    let prefix = name_prefix();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(|name| name.strip_prefix(&prefix)) else { continue };
        let (owner, is_leaf) = owner.strip_suffix("-server").map_or((owner, false), |owner| (owner, true));
        if owner.parse::<u32>().is_err() || Path::new("/proc").join(owner).exists() {
            continue;
        }
        if is_leaf {
            let _ = fs::remove_dir(entry.path());
            continue;
        }
        for group in fs::read_dir(entry.path()).into_iter().flatten().flatten() {
            kill_folder(&group.path());
            let _ = fs::remove_dir(group.path());
        }
        let _ = fs::remove_dir(entry.path());
    }
}
