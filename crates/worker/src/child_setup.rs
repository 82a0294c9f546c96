//! What a new process does to itself between fork and exec, and how its exit is watched: the one file with
//! unsafe code.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use libc::sock_filter;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal};
use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags};
use tokio::io::unix::AsyncFd;

/// Everything the child needs, made before the fork so that it allocates nothing after it.
pub(crate) struct ChildSetup {
    /// This process.
    pub(crate) parent: Pid,
    /// Files to which the child writes `0` to join its control groups.
    pub(crate) doors: Vec<OwnedFd>,
    /// Resource limits. Those that the system refuses are left as they are.
    pub(crate) limits: Vec<(Resource, Rlimit)>,
    /// What it gives up, for code that nobody vouches for.
    pub(crate) confinement: Option<Confinement>,
}

/// What confined code gives up.
pub(crate) struct Confinement {
    /// Namespaces without a network, and how users are mapped if a user namespace is needed for that.
    pub(crate) namespaces: Option<Namespaces>,
    /// The Landlock rules.
    pub(crate) landlock: Option<OwnedFd>,
    /// The system call filter.
    pub(crate) filter: Vec<sock_filter>,
}

/// Which namespaces are entered.
#[derive(Clone, Debug)]
pub(crate) enum Namespaces {
    /// As root.
    Privileged,
    /// As anyone: within a user namespace that knows only this user and group.
    User {
        /// Contents of `uid_map`.
        users: String,
        /// Contents of `gid_map`.
        groups: String,
    },
}

/// Has the child set itself up before it becomes the program.
pub(crate) fn install(command: &mut Command, setup: ChildSetup) {
    // SAFETY: the closure runs in the forked child. It makes system calls on memory and descriptors that
    // were prepared before the fork; it takes no lock and allocates nothing.
    unsafe {
        command.pre_exec(move || setup.apply());
    }
}

/// A descriptor of a child that becomes readable when it has exited.
pub(crate) fn exit_of(child: Pid) -> io::Result<AsyncFd<OwnedFd>> {
    let exit = rustix::process::pidfd_open(child, PidfdFlags::empty())?;
    // SAFETY: an `OwnedFd` always gives the same descriptor, and keeps it open until it is dropped.
    Ok(unsafe { AsyncFd::register(exit) }?)
}

/// The version of Landlock that the kernel has; 0 is none.
pub(crate) fn landlock_version() -> i32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with a null pointer, size 0 and this flag the call reads nothing and answers with a number.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION) };
    i32::try_from(version).unwrap_or(0).max(0)
}

impl ChildSetup {
    fn apply(&self) -> io::Result<()> {
        rustix::process::setsid()?;
        // SAFETY: only marks descriptors; those for the program's own stdin, stdout and stderr are below 3.
        if unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) }
            != 0
        {
            return Err(io::Error::last_os_error());
        }
        for door in &self.doors {
            rustix::io::write(door, b"0")?;
        }
        if let Some(namespaces) = self.confinement.as_ref().and_then(|c| c.namespaces.as_ref()) {
            namespaces.enter()?;
        }
        for (resource, limit) in &self.limits {
            let _ = rustix::process::setrlimit(*resource, *limit);
        }
        if let Some(confinement) = &self.confinement {
            // Calls of others come first.
            let _ = rustix::process::setpriority_process(None, 10);
            drop_capabilities();
            rustix::thread::set_no_new_privs(true)?;
            confinement.landlock()?;
        }
        // Last but one, because a change of credentials would clear it.
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(self.parent) {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        match &self.confinement {
            Some(confinement) => confinement.filter(),
            None => Ok(()),
        }
    }
}

impl Namespaces {
    fn enter(&self) -> io::Result<()> {
        let without_network = UnshareFlags::NEWNET | UnshareFlags::NEWIPC;
        // SAFETY: descriptors stay shared with nobody: the child has one thread, and FILES is not asked for.
        match self {
            Self::Privileged => unsafe { rustix::thread::unshare_unsafe(without_network) }?,
            Self::User { users, groups } => {
                unsafe { rustix::thread::unshare_unsafe(without_network | UnshareFlags::NEWUSER) }?;
                write_file(c"/proc/self/setgroups", "deny")?;
                write_file(c"/proc/self/uid_map", users)?;
                write_file(c"/proc/self/gid_map", groups)?;
            }
        }
        Ok(())
    }
}

impl Confinement {
    fn landlock(&self) -> io::Result<()> {
        let Some(rules) = &self.landlock else { return Ok(()) };
        // SAFETY: takes a descriptor and flags, no memory.
        if unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    fn filter(&self) -> io::Result<()> {
        let Ok(len) = libc::c_ushort::try_from(self.filter.len()) else {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        };
        if len == 0 {
            return Ok(());
        }
        let program = libc::sock_fprog { len, filter: self.filter.as_ptr().cast_mut() };
        // SAFETY: the program points to `len` instructions that live as long as `self`; the kernel copies them.
        if unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

/// Root without capabilities, and without a way back to them through exec.
fn drop_capabilities() {
    for capability in CapabilitySet::all().iter() {
        // Without the right to change the bounding set, no-new-privileges does the same.
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    let _ = rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    );
}

fn write_file(path: &std::ffi::CStr, text: &str) -> io::Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(file, text.as_bytes())?;
    Ok(())
}
