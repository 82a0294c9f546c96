//! What a new process does to itself between fork and exec, and how descriptors are watched.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal};
use tokio::io::unix::AsyncFd;

/// Everything the child needs, made before the fork so that it allocates nothing after it.
pub(crate) struct ChildSetup {
    /// This process.
    pub(crate) parent: Pid,
    /// Files to which the child writes `0` to join its control groups.
    pub(crate) doors: Vec<OwnedFd>,
    /// Resource limits. Those that the system refuses are left as they are.
    pub(crate) limits: Vec<(Resource, Rlimit)>,
    /// Descriptors that the program finds from 3 on.
    pub(crate) passed: Vec<OwnedFd>,
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

/// A descriptor that can be waited for.
pub(crate) fn watch(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` always gives the same descriptor, and keeps it open until it is dropped.
    Ok(unsafe { AsyncFd::register(descriptor) }?)
}

/// Above every descriptor that is passed on, so that none is overwritten before it was.
const OUT_OF_THE_WAY: libc::c_int = 64;

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
        self.pass()?;
        for (resource, limit) in &self.limits {
            let _ = rustix::process::setrlimit(*resource, *limit);
        }
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(self.parent) {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        Ok(())
    }

    /// Puts the descriptors to pass on where the program expects them. All are copied away first: one of them
    /// may stand where another is to go.
    fn pass(&self) -> io::Result<()> {
        let mut copies = [-1; 8];
        for (copy, descriptor) in copies.iter_mut().zip(&self.passed) {
            // SAFETY: copies an open descriptor to a free number.
            *copy = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, OUT_OF_THE_WAY) };
            if *copy < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        for (number, copy) in (3..).zip(copies.iter().take(self.passed.len())) {
            // SAFETY: takes two numbers. Should it close the pipe on which std tells that exec failed, the silence of
            // the helper shows it.
            if unsafe { libc::dup2(*copy, number) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }
}
