//! The first process in a box: makes it, starts the program, reaps and watches, and ends everything.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::outer::{INNER_USER, Maker};
use super::plan::{BOX, EndedBy, Failed, Plan, Told};
use super::program::{self, Ready};
use super::step::Steps;
use super::sys::{self, Fork};
use super::watch::{PAUSE, Watch};
use super::{Level, filter, layout, mounts, rules, view, wire};

/// What the helper hands over.
pub(super) struct Inside<'a> {
    pub(super) control: &'a OwnedFd,
    /// The contents of the files.
    pub(super) input: File,
    pub(super) plan: Plan,
    pub(super) steps: Steps,
    pub(super) doors: Vec<OwnedFd>,
    pub(super) maker: Maker,
    pub(super) socket_size: Option<u64>,
    /// Closes when the helper is gone.
    pub(super) life: OwnedFd,
}

pub(super) fn run(inside: Inside<'_>) -> ! {
    let control = inside.control;
    match start(inside) {
        Ok((started, program)) => sys::exit(started.stay(control, program)),
        Err(failed) => {
            let _ = wire::send(control, &Told::Failed(failed), None);
            sys::exit(1)
        }
    }
}

/// A box whose program runs.
struct Started {
    watch: Watch,
    full: bool,
}

fn start(inside: Inside<'_>) -> Result<(Started, Pid), Failed> {
    let Inside { control, mut input, plan, steps, doors, maker, socket_size, life } = inside;
    steps.run("end with the helper", || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
    })?;
    if is_closed(&life) {
        sys::exit(0);
    }
    sys::block_child_signal();
    let full = plan.level == Level::Full;
    let user = match maker {
        Maker::Root => plan.user,
        Maker::WeakRoot if !full => plan.user,
        _ if full => INNER_USER,
        _ => rustix::process::geteuid().as_raw(),
    };
    // The host's /proc, for a box that cannot have one of its own; and who we are in it.
    let outside = open_folder("/proc").ok();
    let own = fs::read_link("/proc/self").ok().and_then(|link| link.to_str()?.parse().ok()).unwrap_or(0);
    let place = if full { PathBuf::from(BOX) } else { plan.place.clone() };
    let has_proc = if full {
        mounts::enter(&plan, user, &steps)?
    } else {
        steps
            .run("adopt orphans", || rustix::process::set_child_subreaper(Some(rustix::process::getpid())))?;
        steps.run("lay out folder", || layout::folders(&place, user))?;
        false
    };
    let work = steps.run("work folder", || layout::fill(&place, &plan, user, &mut input))?;
    drop(input);
    let rules = steps.run("landlock rules", || landlock(&plan, &place, has_proc))?;
    let leave = filter::Leave { sockets: plan.host_network, host_files: !full };
    let filter = filter::program(leave)
        .ok_or_else(|| Failed { step: "filter for this architecture".to_owned(), errno: libc::ENOSYS })?;
    let watch = Watch {
        proc: if has_proc { open_folder("/proc").ok() } else { outside },
        own: if has_proc { 1 } else { own },
        all_ours: has_proc,
        work: if full { open_folder(BOX).ok() } else { None },
        socket_size: socket_size.filter(|_| has_proc),
        folder: (!full).then(|| place.clone()),
        totals: plan.totals,
        spent: Default::default(),
    };
    let (refusal, theirs) =
        steps.run("pipe", || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC))?;
    let program = match steps.run("fork", sys::fork)? {
        Fork::Child => {
            let ready = Ready {
                plan: &plan,
                steps: &steps,
                change_user: maker == Maker::Root || (maker == Maker::WeakRoot && !full),
                full,
                doors: &doors,
                rules: rules.as_ref(),
                filter: &filter,
            };
            drop(refusal);
            program::run(&ready, theirs)
        }
        Fork::Parent(program) => program,
    };
    drop((theirs, doors, rules));
    sys::close_stdio();
    steps.run("give up capabilities", || keep_few(full))?;
    // Ends when the program has replaced the copy of us, or with the reason why it could not.
    let mut reason = Vec::new();
    steps.run("wait for the program", || File::from(refusal).take(4096).read_to_end(&mut reason))?;
    if !reason.is_empty() {
        let unread = Failed { step: "program".to_owned(), errno: libc::EIO };
        return Err(serde_json::from_slice(&reason).unwrap_or(unread));
    }
    let with = full.then_some(&work).map(std::os::fd::AsFd::as_fd);
    steps.run("tell the server", || wire::send(control, &Told::Started, with))?;
    Ok((Started { watch, full }, program))
}

fn landlock(plan: &Plan, place: &Path, has_proc: bool) -> io::Result<Option<OwnedFd>> {
    if plan.level != Level::Full {
        for path in plan.read.iter().chain(&plan.write) {
            if fs::canonicalize(path)? != *path {
                return Err(io::Error::from_raw_os_error(libc::ELOOP));
            }
        }
    }
    let mut read = [plan.library.as_slice(), &plan.read].concat();
    if plan.host_network {
        read.extend(view::ETC_FOR_NETWORK.map(PathBuf::from));
    }
    read.extend(["/etc/passwd", "/etc/group", "/etc/nsswitch.conf"].map(PathBuf::from));
    if has_proc {
        read.push("/proc".into());
    }
    let full = plan.level == Level::Full;
    if full {
        read.extend(["/etc", "/dev"].map(PathBuf::from));
    }
    if let Some((name, _)) = &plan.code {
        read.push(place.join(name));
    }
    let mut write = plan.write.clone();
    write.extend(match plan.level {
        Level::Full => vec![place.to_owned(), "/tmp".into()],
        _ => vec![place.join("work"), place.join("tmp")],
    });
    // The root of a box holds nothing but mount points and links.
    let list = full.then_some(Path::new("/"));
    let allowed = rules::Allowed { list, read: &read, write: &write, network: plan.host_network };
    rules::make(&allowed).map_err(io::Error::other)
}

/// What is needed to signal and to measure processes of another user, and nothing else.
fn keep_few(full: bool) -> rustix::io::Result<()> {
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    let has = rustix::thread::capabilities(None)?.permitted;
    let few = CapabilitySet::KILL | CapabilitySet::SYS_PTRACE | CapabilitySet::DAC_READ_SEARCH;
    let kept = if full || has.contains(few) { few & has } else { CapabilitySet::empty() };
    rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() },
    )
}

impl Started {
    /// Reaps and watches until the program has ended or exceeded a total; then ends everything and reports.
    fn stay(mut self, control: &OwnedFd, program: Pid) -> i32 {
        let mut ended = None;
        let mut by = None;
        let mut looked = Instant::now();
        while ended.is_none() && by.is_none() {
            sys::wait_for_child_signal(PAUSE.saturating_sub(looked.elapsed()));
            ended = reap(program);
            if ended.is_none() && looked.elapsed() >= PAUSE {
                by = self.watch.passed();
                looked = Instant::now();
            }
        }
        let ended = self.end_all(program).or(ended);
        let signal = ended.and_then(WaitStatus::terminating_signal);
        let by = by.or(match signal {
            Some(libc::SIGXCPU) => Some(EndedBy::Cpu),
            Some(libc::SIGXFSZ) => Some(EndedBy::Disk),
            _ => None,
        });
        let code = ended.and_then(WaitStatus::exit_status).unwrap_or(128 + signal.unwrap_or(libc::SIGKILL));
        let _ = wire::send(control, &Told::Ended { code, by }, None);
        code
    }

    /// Kills and waits until nothing is left.
    fn end_all(&mut self, program: Pid) -> Option<WaitStatus> {
        let mut ended = None;
        loop {
            if self.full {
                sys::kill_all();
                match rustix::process::wait(WaitOptions::empty()) {
                    Ok(Some((pid, status))) if pid == program => ended = Some(status),
                    Err(rustix::io::Errno::CHILD) => return ended,
                    _ => {}
                }
            } else {
                let members = self.watch.members();
                for pid in members.iter().filter_map(|pid| Pid::from_raw(*pid)) {
                    let _ = rustix::process::kill_process(pid, Signal::KILL);
                }
                ended = reap(program).or(ended);
                if members.is_empty() {
                    return ended;
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
    }
}

/// Waits for all children that have ended; how the program ended, if it is among them.
fn reap(program: Pid) -> Option<WaitStatus> {
    let mut ended = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if pid == program {
            ended = Some(status);
        }
    }
    ended
}

fn is_closed(pipe: &OwnedFd) -> bool {
    let mut watched = [PollFd::new(pipe, PollFlags::empty())];
    let _ = poll(&mut watched, Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 }));
    watched[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

fn open_folder(path: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}
