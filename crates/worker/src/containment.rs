//! How a worker's whole tree is found and ended on this system.

use rustix::process::{Resource, getrlimit, getuid};

use crate::cgroup::Cgroups;

/// The mechanisms of this system. All that are available are used together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Containment {
    /// Each worker has a control group that the kernel kills whole.
    pub cgroup_kill: bool,
    /// Descendants carry a mark that survives fork, exec, setsid and a wiped environment, and are found by it.
    pub marked: bool,
    /// How many processes a tree may have is bounded exactly, by a control group.
    pub processes_bounded: bool,
    /// The memory of a whole tree is bounded; otherwise that of each process is.
    pub tree_memory_bounded: bool,
}

impl Containment {
    /// What is available to this user.
    pub fn probe() -> Self {
        let cgroups = Cgroups::get();
        Self {
            cgroup_kill: cgroups.can_kill(),
            marked: getrlimit(Resource::Rttime).maximum.is_none(),
            processes_bounded: cgroups.can_count(),
            tree_memory_bounded: cgroups.can_bound_memory(),
        }
    }

    /// Whether anything bounds the number of processes: a group, or the limit per user, which root escapes.
    pub fn bounds_processes(&self) -> bool {
        self.processes_bounded || !getuid().is_root()
    }
}
