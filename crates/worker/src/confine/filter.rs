//! The system call filter: what a program in a box may not ask of the kernel.
//!
//! Namespaces and the read-only root keep what is outside away; the filter keeps the kernel's own controls,
//! shared allowances and rarely used parts away. Numbers that are newer than this list do not exist to the
//! program, so that the list stays closed when the kernel grows.

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_PROCESS, c_long, sock_filter,
};

/// What differs between boxes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leave {
    /// Sockets to the internet and to Unix sockets can be made.
    pub(crate) sockets: bool,
    /// There is no read-only root: changes of modes, owners, times and attributes are blocked here.
    pub(crate) host_files: bool,
}

/// The architecture as the kernel names it to a filter; `None` where this filter was not written for it.
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xC000_003E)
} else if cfg!(target_arch = "aarch64") {
    Some(0xC000_00B7)
} else {
    None
};

/// Numbers from here on are those of the x32 variant of x86-64, which would bypass a list of numbers.
const OTHER_NUMBERING: u32 = 0x4000_0000;

/// The newest call that this list was written for: `file_setattr` of Linux 6.17.
const NEWEST: u32 = 469;

/// Flags of `clone` that make namespaces.
const NEW_NAMESPACES: u32 = 0x7E02_0000;

/// Requests that change a file's flags, or write to a terminal in another's name.
const DENIED_REQUESTS: [u32; 5] = [0x4008_6602, 0x4004_6602, 0x401C_5820, 0x5412, 0x541C];

/// Where the arguments are in the record that a filter sees; each is 64 bits wide, the low half first.
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

/// Calls that libc does not name; the numbers are the same on every architecture from 424 on.
mod newer {
    use libc::c_long;
    pub(super) const STATMOUNT: c_long = 457;
    pub(super) const LISTMOUNT: c_long = 458;
    pub(super) const FCHMODAT2: c_long = 452;
    pub(super) const SETXATTRAT: c_long = 463;
    pub(super) const REMOVEXATTRAT: c_long = 466;
    pub(super) const OPEN_TREE_ATTR: c_long = 467;
    pub(super) const FILE_SETATTR: c_long = 469;
}

const DENIED: &[c_long] = &[
    // Scheduling and priorities: those of the server could be changed.
    libc::SYS_setpriority,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
    libc::SYS_ioprio_set,
    libc::SYS_mbind,
    libc::SYS_set_mempolicy,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    newer::OPEN_TREE_ATTR,
    newer::STATMOUNT,
    newer::LISTMOUNT,
    newer::FILE_SETATTR,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Looking into, or acting on, other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Limits: also the mark by which a tree is found.
    libc::SYS_setrlimit,
    libc::SYS_personality,
    // Allowances that are shared with the server, and memory that counts in no process.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_io_setup,
    libc::SYS_io_submit,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semctl,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Kernel surface that no such program needs.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ustat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_sysfs,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
];

/// Where the host's files can be seen: refused, because nothing else keeps an owner from it.
const DENIED_ON_HOST_FILES: &[c_long] = &[
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    newer::SETXATTRAT,
    newer::REMOVEXATTRAT,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
];

/// Where the host's files can be seen: answered as if it had been done, because copying a file ends with it.
const IGNORED_ON_HOST_FILES: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    newer::FCHMODAT2,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// Whether there is a filter for this architecture.
pub(crate) fn exists() -> bool {
    ARCHITECTURE.is_some()
}

/// The program of the filter; `None` where there is none for this architecture.
pub(crate) fn program(leave: Leave) -> Option<Vec<sock_filter>> {
    // Offsets in the record that a filter sees: the number at 0, the architecture at 4.
    let mut program = vec![
        step(BPF_LD | BPF_W | BPF_ABS, 4),
        branch(BPF_JEQ, ARCHITECTURE?, 1, 0),
        answer(SECCOMP_RET_KILL_PROCESS),
        step(BPF_LD | BPF_W | BPF_ABS, 0),
        branch(BPF_JGE, OTHER_NUMBERING, 0, 1),
        answer(SECCOMP_RET_KILL_PROCESS),
        branch(BPF_JGT, NEWEST, 0, 1),
        errno(libc::ENOSYS),
    ];
    // The C library falls back to `clone`, whose flags can be read.
    program.extend(refused(libc::SYS_clone3, libc::ENOSYS));
    program.extend(clone_without_namespaces());
    program.extend(reading_limits_only());
    program.extend(families(libc::SYS_socketpair, &[libc::AF_UNIX]));
    program.extend(match leave.sockets {
        true => families(libc::SYS_socket, &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6]),
        false => families(libc::SYS_socket, &[]),
    });
    program.extend(requests());
    for call in DENIED {
        program.extend(refused(*call, libc::EPERM));
    }
    if leave.host_files {
        for call in DENIED_ON_HOST_FILES {
            program.extend(refused(*call, libc::EPERM));
        }
        for call in IGNORED_ON_HOST_FILES {
            program.extend(refused(*call, 0));
        }
    }
    program.push(answer(SECCOMP_RET_ALLOW));
    Some(program)
}

fn refused(call: c_long, with: i32) -> [sock_filter; 2] {
    [branch(BPF_JEQ, number(call), 0, 1), errno(with)]
}

fn clone_without_namespaces() -> [sock_filter; 5] {
    [
        branch(BPF_JEQ, number(libc::SYS_clone), 0, 4),
        step(BPF_LD | BPF_W | BPF_ABS, argument(0)),
        branch(BPF_JSET, NEW_NAMESPACES, 0, 1),
        errno(libc::EPERM),
        answer(SECCOMP_RET_ALLOW),
    ]
}

/// The C library reads limits by the call that also sets them: allowed if its third argument, the new
/// limit, is null.
fn reading_limits_only() -> [sock_filter; 7] {
    [
        branch(BPF_JEQ, number(libc::SYS_prlimit64), 0, 6),
        step(BPF_LD | BPF_W | BPF_ABS, argument(2)),
        branch(BPF_JEQ, 0, 0, 2),
        step(BPF_LD | BPF_W | BPF_ABS, argument(2) + 4),
        branch(BPF_JEQ, 0, 1, 0),
        errno(libc::EPERM),
        answer(SECCOMP_RET_ALLOW),
    ]
}

/// Only sockets of these families.
fn families(call: c_long, allowed: &[i32]) -> Vec<sock_filter> {
    let count = allowed.len() as u8;
    let mut block =
        vec![branch(BPF_JEQ, number(call), 0, count + 3), step(BPF_LD | BPF_W | BPF_ABS, argument(0))];
    for (at, family) in allowed.iter().enumerate() {
        block.push(branch(BPF_JEQ, family.unsigned_abs(), count - at as u8, 0));
    }
    block.push(errno(libc::EPERM));
    block.push(answer(SECCOMP_RET_ALLOW));
    block
}

fn requests() -> Vec<sock_filter> {
    let count = DENIED_REQUESTS.len() as u8;
    let mut block = vec![
        branch(BPF_JEQ, number(libc::SYS_ioctl), 0, count + 3),
        step(BPF_LD | BPF_W | BPF_ABS, argument(1)),
    ];
    for (at, request) in DENIED_REQUESTS.into_iter().enumerate() {
        block.push(branch(BPF_JEQ, request, count - at as u8, 0));
    }
    block.push(answer(SECCOMP_RET_ALLOW));
    block.push(errno(libc::EPERM));
    block
}

/// No number is negative or above 32 bits; one that is would match no call.
fn number(call: c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

fn errno(error: i32) -> sock_filter {
    answer(SECCOMP_RET_ERRNO | error.unsigned_abs())
}

fn answer(with: u32) -> sock_filter {
    step(BPF_RET | BPF_K, with)
}

fn step(code: u32, k: u32) -> sock_filter {
    // All codes fit 16 bits.
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn branch(test: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { jt, jf, ..step(BPF_JMP | test | BPF_K, k) }
}
