//! System calls of the helper that no safe wrapper offers. The helper has one thread, from its first line on.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use libc::sock_filter;
use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// Which of the two a process is after a fork.
pub(super) enum Fork {
    Child,
    Parent(Pid),
}

/// Makes a copy of this process.
pub(super) fn fork() -> io::Result<Fork> {
    // SAFETY: this process has one thread, so that no lock is held by another one in the copy.
    match unsafe { libc::fork() } {
        0 => Ok(Fork::Child),
        pid => match Pid::from_raw(pid) {
            Some(pid) if pid.as_raw_nonzero().get() > 0 => Ok(Fork::Parent(pid)),
            _ => Err(io::Error::last_os_error()),
        },
    }
}

/// A descriptor that our parent left open for us.
pub(super) fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: asks about a number; an unused one is an error.
    if unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open, and nothing else in this process knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Lets go of stdin, stdout and stderr: they belong to the program only.
pub(super) fn close_stdio() {
    // SAFETY: closes three numbers that this process never uses again.
    unsafe { libc::syscall(libc::SYS_close_range, 0, 2, 0) };
}

/// Ends this process without running anything else.
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: never returns.
    unsafe { libc::_exit(code) }
}

pub(super) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: descriptors stay shared with nobody: there is one thread, and FILES is not asked for.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Adds attributes to a mount, and to those below it if `recursive`; makes it private.
pub(super) fn set_mount(mount: BorrowedFd<'_>, attributes: u64, recursive: bool) -> io::Result<()> {
    #[repr(C)]
    struct MountAttr {
        set: u64,
        clear: u64,
        propagation: u64,
        userns: u64,
    }
    let wanted = MountAttr { set: attributes, clear: 0, propagation: libc::MS_PRIVATE, userns: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is an empty string, and the record lives through the call.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const wanted,
            size_of::<MountAttr>(),
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Blocks SIGCHLD, so that it can be waited for.
pub(super) fn block_child_signal() {
    // SAFETY: the set is initialised by sigemptyset before it is read.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
    }
}

/// Waits until a child has changed, or that long.
pub(super) fn wait_for_child_signal(most: Duration) {
    // SAFETY: the set is initialised by sigemptyset before it is read; the record of the signal is not asked for.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        let most = libc::timespec {
            tv_sec: most.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(most.subsec_nanos()),
        };
        libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const most);
    }
}

/// Signals as a program expects them: nothing blocked, nothing ignored.
pub(super) fn reset_signals() {
    // SAFETY: default actions and an empty set; both calls only read what they are given.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
    }
}

/// Kills every process that this one may signal. Only for the first process of a pid namespace.
pub(super) fn kill_all() {
    if rustix::process::getpid().as_raw_nonzero().get() == 1 {
        // SAFETY: takes two numbers.
        unsafe { libc::kill(-1, libc::SIGKILL) };
    }
}

/// CPU time of all children that were waited for.
pub(super) fn cpu_of_waited() -> Duration {
    // SAFETY: the record is plain numbers, for which zero is a value, and the kernel fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let of = |time: libc::timeval| {
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_usec.unsigned_abs() as u32 * 1000)
    };
    of(usage.ru_utime) + of(usage.ru_stime)
}

/// Has all descriptors but stdin, stdout and stderr closed by exec.
pub(super) fn close_the_rest_at_exec() -> io::Result<()> {
    // SAFETY: only marks descriptors.
    let marked =
        unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if marked == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Confines this process by Landlock rules.
pub(super) fn landlock(rules: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: takes a descriptor and flags, no memory.
    match unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The version of Landlock that the kernel has; 0 is none.
pub(crate) fn landlock_version() -> i32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with a null pointer, size 0 and this flag the call reads nothing and answers with a number.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION) };
    i32::try_from(version).unwrap_or(0).max(0)
}

/// Puts the filter on this process.
pub(super) fn filter(program: &[sock_filter]) -> io::Result<()> {
    let len = libc::c_ushort::try_from(program.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len, filter: program.as_ptr().cast_mut() };
    // SAFETY: the program points to `len` instructions that live through the call; the kernel copies them.
    match unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Becomes another program; returns only if it cannot.
pub(super) fn exec(program: &CString, arguments: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |list: &[CString]| -> Vec<*const libc::c_char> {
        list.iter().map(|one| one.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: both lists end with a null pointer, and their strings live through the call.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}
