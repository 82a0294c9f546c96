//! The last steps before the program: drops privileges for good, then becomes the program.

use std::ffi::CString;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};

use libc::sock_filter;
use rustix::process::{Gid, Resource, Rlimit, Signal, Uid};
use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags};

use super::plan::{Failed, Plan};
use super::step::Steps;
use super::sys;

/// What was made ready for the program before it was forked.
pub(super) struct Ready<'a> {
    pub(super) plan: &'a Plan,
    pub(super) steps: &'a Steps,
    /// Whether it becomes `plan.user`.
    pub(super) change_user: bool,
    pub(super) full: bool,
    pub(super) doors: &'a [OwnedFd],
    pub(super) rules: Option<&'a OwnedFd>,
    pub(super) filter: &'a [sock_filter],
}

/// Becomes the program. An error is written to `refusal`, which closes by itself on success.
pub(super) fn run(ready: &Ready<'_>, refusal: OwnedFd) -> ! {
    let Err(failed) = become_program(ready);
    let mut refusal = std::fs::File::from(refusal);
    let _ = refusal.write_all(&serde_json::to_vec(&failed).unwrap_or_default());
    sys::exit(127)
}

fn become_program(ready: &Ready<'_>) -> Result<std::convert::Infallible, Failed> {
    let Ready { plan, steps, .. } = ready;
    let bad = |_| Failed { step: "program".to_owned(), errno: libc::EINVAL };
    let text = |text: &[u8]| CString::new(text).map_err(bad);
    let program = text(plan.program.as_os_str().as_encoded_bytes())?;
    let mut arguments = vec![program.clone()];
    for argument in &plan.arguments {
        arguments.push(text(argument.as_bytes())?);
    }
    let mut environment = Vec::new();
    for (name, value) in &plan.environment {
        environment.push(text(format!("{name}={value}").as_bytes())?);
    }
    for door in ready.doors {
        steps.run("join cgroup", || rustix::io::write(door, b"0"))?;
    }
    if ready.full {
        steps.run("unshare cgroup", || match sys::unshare(UnshareFlags::NEWCGROUP) {
            // A kernel without control groups has nothing to hide.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            other => other,
        })?;
    }
    steps.run("session", rustix::process::setsid)?;
    steps.run("nice", || rustix::process::setpriority_process(None, 10))?;
    steps.run("working folder", || rustix::process::chdir(&plan.workdir))?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    steps.run("limits", || limits(ready))?;
    steps.run("user", || user(ready))?;
    steps.run("limit of processes", || set(Resource::Nproc, plan.totals.tasks, plan.totals.tasks))?;
    steps.run("no new privileges", || rustix::thread::set_no_new_privs(true))?;
    if !ready.full {
        // After the change of user, which would clear it.
        steps.run("end with the helper", || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        })?;
    }
    if let Some(rules) = ready.rules {
        steps.run("landlock", || sys::landlock(rules.as_fd()))?;
    }
    sys::close_the_rest_at_exec().map_err(|error| Failed::new("close descriptors", error))?;
    sys::reset_signals();
    steps.run("filter", || sys::filter(ready.filter))?;
    steps.run("exec", || Err(sys::exec(&program, &arguments, &environment)))
}

fn limits(ready: &Ready<'_>) -> io::Result<()> {
    let plan = ready.plan;
    let each = [
        (Resource::Core, Some(0)),
        (Resource::Nofile, Some(plan.open_files)),
        (Resource::Fsize, plan.file_size),
        (Resource::As, plan.address_space),
        (Resource::Memlock, Some(64 << 10)),
        (Resource::Msgqueue, Some(0)),
        // Timers and queued signals count here.
        (Resource::Sigpending, Some(1024)),
        (Resource::Rtprio, Some(0)),
        (Resource::Nice, Some(0)),
    ];
    for (resource, most) in each {
        if let Some(most) = most {
            set(resource, most, most)?;
        }
    }
    if let Some(seconds) = plan.totals.cpu_seconds {
        set(Resource::Cpu, seconds, seconds + 1)?;
    }
    Ok(())
}

/// A limit may be lowered by anyone, raised only by root.
fn set(resource: Resource, current: u64, most: u64) -> io::Result<()> {
    let bound = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let limit = Rlimit { current: Some(current.min(bound)), maximum: Some(most.min(bound)) };
    Ok(rustix::process::setrlimit(resource, limit)?)
}

/// Another user where the server is root; no capabilities, and none to come, in any case.
fn user(ready: &Ready<'_>) -> io::Result<()> {
    for capability in CapabilitySet::all().iter() {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // Not known to this kernel; or not ours to remove, which no-new-privileges makes good.
            Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let _ = rustix::thread::clear_ambient_capability_set();
    if ready.change_user {
        let (user, group) = (Uid::from_raw(ready.plan.user), Gid::from_raw(ready.plan.user));
        rustix::thread::set_thread_groups(&[])?;
        rustix::thread::set_thread_res_gid(group, group, group)?;
        rustix::thread::set_thread_res_uid(user, user, user)?;
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(rustix::thread::set_capabilities(None, sets)?)
}
