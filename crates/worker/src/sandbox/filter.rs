//! A small system call filter: no sockets, and none of the ways around it.
//!
//! Namespaces and Landlock do not keep code from a Unix socket that its user may open, such as the
//! owner's socket of a home. Without sockets there is nothing to reach it with.

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO,
    SECCOMP_RET_KILL_PROCESS, sock_filter,
};

/// The architecture as the kernel names it to a filter; `None` where this filter was not written for it.
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xC000_003E)
} else if cfg!(target_arch = "aarch64") {
    Some(0xC000_00B7)
} else {
    None
};

/// Numbers from here on are those of the x32 variant of x86-64, which would slip past a list of numbers.
const OTHER_NUMBERING: u32 = 0x4000_0000;

const DENIED: [libc::c_long; 13] = [
    libc::SYS_socket,
    // Can open sockets without the call above.
    libc::SYS_io_uring_setup,
    // Would look into, or act on, processes beside its own tree.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    // Would change the mark by which its tree is found; see also below.
    libc::SYS_setrlimit,
    // Kernel surface that no script needs.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_userfaultfd,
    libc::SYS_unshare,
];

/// The program of the filter; empty where there is none for this architecture.
pub(crate) fn program() -> Vec<sock_filter> {
    let Some(architecture) = ARCHITECTURE else { return Vec::new() };
    // Offsets in the record that a filter sees: the number at 0, the architecture at 4.
    let mut program = vec![
        step(BPF_LD | BPF_W | BPF_ABS, 4),
        branch(BPF_JEQ, architecture, 1, 0),
        step(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        step(BPF_LD | BPF_W | BPF_ABS, 0),
        branch(BPF_JGE, OTHER_NUMBERING, 0, 1),
        step(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    ];
    program.extend(reading_limits_only());
    for call in DENIED.into_iter().filter_map(|call| u32::try_from(call).ok()) {
        program.push(branch(BPF_JEQ, call, 0, 1));
        program.push(refuse());
    }
    program.push(step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    program
}

/// The C library reads limits by the call that also sets them: allowed if its third argument, the new
/// limit, is null. Arguments are 64 bits wide and start at 16.
fn reading_limits_only() -> [sock_filter; 7] {
    let call = u32::try_from(libc::SYS_prlimit64).unwrap_or_default();
    [
        branch(BPF_JEQ, call, 0, 6),
        step(BPF_LD | BPF_W | BPF_ABS, 32),
        branch(BPF_JEQ, 0, 0, 2),
        step(BPF_LD | BPF_W | BPF_ABS, 36),
        branch(BPF_JEQ, 0, 1, 0),
        refuse(),
        step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    ]
}

fn refuse() -> sock_filter {
    step(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs())
}

fn step(code: u32, k: u32) -> sock_filter {
    // All codes fit 16 bits.
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn branch(test: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { jt, jf, ..step(BPF_JMP | test | BPF_K, k) }
}
