//! The outer process of a box. It makes the namespaces, starts the first process in them, and ends with it.

use std::convert::Infallible;
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Gid, Pid, PidfdFlags, Signal, Uid, WaitOptions};
use rustix::thread::{CapabilitySet, UnshareFlags};

use super::plan::{Failed, Plan, Told};
use super::step::Steps;
use super::sys::{self, Fork};
use super::{Level, init, wire};

/// Where the descriptors are that the server leaves to us, behind stdin, stdout and stderr of the program.
const CONTROL: RawFd = 3;
const INPUT: RawFd = 4;
const FIRST_DOOR: RawFd = 5;

/// A plan is some settings and arguments.
const LONGEST_PLAN: u32 = 16 << 20;

/// How the box is made depends on who makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// Root that may make namespaces: the program becomes another user.
    Root,
    /// Root that may not: becomes another user first, then like anyone.
    WeakRoot,
    /// Anyone: within a user namespace that knows only this user.
    User,
}

impl Maker {
    pub(crate) fn this() -> Self {
        let can = rustix::thread::capabilities(None)
            .is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
        match (rustix::process::geteuid().is_root(), can) {
            (true, true) => Self::Root,
            (true, false) => Self::WeakRoot,
            (false, _) => Self::User,
        }
    }
}

/// The user that the program is to itself where it has a user namespace.
pub(super) const INNER_USER: u32 = 1000;

/// Runs a box from beginning to end.
pub(super) fn run() -> ! {
    let Ok(control) = sys::inherited(CONTROL) else { sys::exit(2) };
    let Err(failed) = outer(&control);
    // If reporting fails, the silence says so.
    let _ = wire::send(&control, &Told::Failed(failed), None);
    sys::exit(1)
}

fn outer(control: &OwnedFd) -> Result<Infallible, Failed> {
    let mut input = fs::File::from(sys::inherited(INPUT).map_err(|error| Failed::new("input", error))?);
    let plan = read_plan(&mut input).map_err(|error| Failed::new("plan", error))?;
    let steps = Steps { fail_at: plan.fail_at.clone() };
    let mut doors = Vec::new();
    for number in 0..plan.doors {
        let number = FIRST_DOOR + RawFd::try_from(number).unwrap_or(RawFd::MAX);
        doors.push(steps.run("doors", || sys::inherited(number))?);
    }
    // If memory runs out, this tree goes before any other. Anyone may raise it.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    let socket_size = (!plan.host_network && plan.level == Level::Full).then(socket_size);
    let maker = Maker::this();
    if plan.level == Level::Full {
        namespaces(maker, &plan, &steps)?;
    }
    steps.run("end with the server", || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
    })?;
    if is_over(control) {
        sys::exit(0);
    }
    let (life, ours) = steps.run("pipe", || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC))?;
    match steps.run("fork", sys::fork)? {
        Fork::Child => {
            drop(ours);
            init::run(init::Inside { control, input, plan, steps, doors, maker, socket_size, life })
        }
        Fork::Parent(first) => {
            drop((input, doors, life));
            sys::close_stdio();
            let code = stay(control, first);
            drop(ours);
            sys::exit(code)
        }
    }
}

fn read_plan(input: &mut fs::File) -> io::Result<Plan> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST_PLAN {
        return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
    }
    let mut text = vec![0; length as usize];
    input.read_exact(&mut text)?;
    serde_json::from_slice(&text).map_err(|_| io::Error::from_raw_os_error(libc::EBADMSG))
}

fn namespaces(maker: Maker, plan: &Plan, steps: &Steps) -> Result<(), Failed> {
    let mut flags = UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
    if !plan.host_network {
        flags |= UnshareFlags::NEWNET;
    }
    if maker == Maker::WeakRoot {
        steps.run("change user", || {
            let (user, group) = (Uid::from_raw(plan.user), Gid::from_raw(plan.user));
            rustix::thread::set_thread_groups(&[])?;
            rustix::thread::set_thread_res_gid(group, group, group)?;
            rustix::thread::set_thread_res_uid(user, user, user)?;
            // Else the files of this process in /proc would be root's.
            rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable)
        })?;
    }
    if maker != Maker::Root {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        steps.run("unshare user", || sys::unshare(UnshareFlags::NEWUSER))?;
        steps.run("map user", || {
            fs::write("/proc/self/setgroups", "deny")?;
            fs::write("/proc/self/uid_map", format!("{INNER_USER} {user} 1"))?;
            fs::write("/proc/self/gid_map", format!("{INNER_USER} {group} 1"))
        })?;
    }
    steps.run("unshare", || sys::unshare(flags))?;
    steps.run("host name", || rustix::system::sethostname(b"box"))
}

/// What a socket may hold at most.
fn socket_size() -> u64 {
    const USUAL: u64 = 212_992;
    let set = fs::read_to_string("/proc/sys/net/core/wmem_max").ok();
    // The kernel gives twice what is asked for.
    2 * set.and_then(|text| text.trim().parse().ok()).unwrap_or(USUAL).max(USUAL)
}

/// Whether the server has hung up.
pub(super) fn is_over(control: &OwnedFd) -> bool {
    let mut watched = [PollFd::new(control, PollFlags::empty())];
    let _ = poll(&mut watched, Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 }));
    watched[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

/// Waits for the first process of the box, and ends it when the server hangs up. That it is gone means that
/// all are: the kernel takes a pid namespace down with its first process.
fn stay(control: &OwnedFd, first: Pid) -> i32 {
    if let Ok(handle) = rustix::process::pidfd_open(first, PidfdFlags::empty()) {
        loop {
            let mut watched = [
                PollFd::new(control, PollFlags::empty()),
                PollFd::from_borrowed_fd(handle.as_fd(), PollFlags::IN),
            ];
            let _ = poll(&mut watched, None);
            if !watched[1].revents().is_empty() {
                break;
            }
            if !watched[0].revents().is_empty() {
                let _ = rustix::process::pidfd_send_signal(&handle, Signal::KILL);
                break;
            }
        }
    }
    loop {
        match rustix::process::waitpid(Some(first), WaitOptions::empty()) {
            Ok(Some((_, status))) => {
                return status.exit_status().unwrap_or(128 + status.terminating_signal().unwrap_or(0));
            }
            Err(rustix::io::Errno::INTR) | Ok(None) => {}
            Err(_) => return 1,
        }
    }
}
