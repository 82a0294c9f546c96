//! The thread that ends process trees and makes sure nothing of them is left.

use std::collections::HashSet;
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};

use crate::processes::{self, Mark, Member, Process, Scan};
use crate::tree::Parts;

/// Ends a tree reliably, in the background.
pub(crate) fn take(parts: Parts) {
    let refused = match start() {
        Some(sender) => sender.send(parts).err().map(|error| error.0),
        None => Some(parts),
    };
    if let Some(parts) = refused {
        // No thread could be started. Better block the caller than leave something behind.
        let mut doomed = vec![Doomed::new(parts)];
        while !doomed.is_empty() {
            sweep(&mut doomed);
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Starts the thread, unless it runs already.
pub(crate) fn start() -> Option<&'static Sender<Parts>> {
    static REAPER: OnceLock<Option<Sender<Parts>>> = OnceLock::new();
    let reaper = REAPER.get_or_init(|| {
        let (sender, receiver) = mpsc::channel();
        let named = thread::Builder::new().name("toolroom-reaper".to_owned());
        named.spawn(move || run(&receiver)).map(|_| sender).ok()
    });
    reaper.as_ref()
}

/// Passes in a row that must find nothing. One is not enough: a process that is born behind the scan, with
/// a lower number than the scan has reached, is missed.
const CLEAN_PASSES: u32 = 3;

struct Doomed {
    parts: Parts,
    clean: u32,
    since: Instant,
    warned: bool,
}

impl Doomed {
    fn new(parts: Parts) -> Self {
        Self { parts, clean: 0, since: Instant::now(), warned: false }
    }
}

fn run(receiver: &Receiver<Parts>) {
    // A fork bomb competes with this thread for the processor; only root can raise our priority.
    let _ = rustix::process::setpriority_process(None, -15);
    clear_strays();
    let mut doomed: Vec<Doomed> = Vec::new();
    let mut pause = Duration::from_millis(1);
    loop {
        let next = match doomed.is_empty() {
            true => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => receiver.recv_timeout(pause),
        };
        match next {
            Ok(parts) => {
                doomed.push(Doomed::new(parts));
                doomed.extend(receiver.try_iter().map(Doomed::new));
                pause = Duration::from_millis(1);
            }
            Err(RecvTimeoutError::Timeout) => pause = (pause * 2).min(Duration::from_millis(50)),
            Err(RecvTimeoutError::Disconnected) => return,
        }
        sweep(&mut doomed);
    }
}

/// How long the helper of a box has to end it.
const HELPER_TIME: Duration = Duration::from_secs(2);

/// One pass over all trees at once. What is gone leaves the list.
fn sweep(doomed: &mut Vec<Doomed>) {
    doomed.retain_mut(|tree| !(tree.parts.end.proves_itself() && box_is_gone(tree)));
    if doomed.iter().all(|tree| tree.parts.end.proves_itself()) {
        return;
    }
    // Trees that their helper ends are skipped.
    let (boxes, mut others): (Vec<Doomed>, Vec<Doomed>) =
        doomed.drain(..).partition(|tree| tree.parts.end.proves_itself());
    sweep_by_scan(&mut others);
    doomed.extend(boxes);
    doomed.extend(others);
}

/// Whether the helper of a box has exited, and with it all that was in the box.
fn box_is_gone(tree: &mut Doomed) -> bool {
    if matches!(tree.parts.child.try_wait(), Ok(None)) {
        if !tree.warned && tree.since.elapsed() > HELPER_TIME {
            tree.warned = true;
            tracing::warn!(
                pid = tree.parts.child.id(),
                "the helper of a sandbox did not end, and was killed"
            );
            // What it started ends with it.
            let _ = tree.parts.child.kill();
        }
        return false;
    }
    if tree.parts.group.as_ref().is_some_and(|group| !group.remove()) {
        return false;
    }
    tell(tree);
    true
}

/// Reports that nothing of a tree is left. Another thread removes its folder.
fn tell(tree: &mut Doomed) {
    drop(tree.parts.folder.take());
    if let Some(gone) = tree.parts.gone.take() {
        let _ = gone.send(());
    }
}

fn sweep_by_scan(doomed: &mut Vec<Doomed>) {
    for tree in doomed.iter() {
        if let Some(group) = &tree.parts.group {
            group.kill();
        }
    }
    let marks: HashSet<Mark> = doomed.iter().map(|tree| tree.parts.mark).collect();
    let roots: HashSet<Pid> = doomed
        .iter_mut()
        .filter_map(|tree| {
            matches!(tree.parts.child.try_wait(), Ok(None)).then(|| tree.parts.pid()).flatten()
        })
        .collect();
    let scan = halt(&marks, &roots);
    let (dead, alive): (Vec<&Member>, Vec<&Member>) = scan.members.iter().partition(|m| m.process.zombie);
    for member in &alive {
        member.process.signal(Signal::KILL);
    }
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    for orphan in dead.iter().map(|m| m.process).filter(|p| p.parent == own && !roots.contains(&p.pid)) {
        // Orphans come to us if we are the first process of a container; nobody else would wait for them.
        let _ = rustix::process::waitpid(Some(orphan.pid), WaitOptions::NOHANG);
    }
    // One without a mark may be any tree's.
    let seen = |mark: Mark| alive.iter().any(|member| member.mark.is_none_or(|of| of == mark));
    doomed.retain_mut(|tree| !is_gone(tree, seen(tree.parts.mark), scan.settled));
}

/// Stops all members first, so that none can fork while the others are being killed.
fn halt(marks: &HashSet<Mark>, roots: &HashSet<Pid>) -> Scan {
    let mut stopped: HashSet<Pid> = HashSet::new();
    let mut rounds = 0;
    loop {
        let before = stopped.len();
        let scan = processes::scan(marks, roots, |process| {
            if !process.zombie && stopped.insert(process.pid) {
                process.signal(Signal::STOP);
            }
        });
        rounds += 1;
        // An unlimited fork bomb may fork faster than we scan; killing what we have slows it down.
        if stopped.len() == before || rounds == 20 {
            return scan;
        }
    }
}

fn is_gone(tree: &mut Doomed, seen: bool, settled: bool) -> bool {
    // What was seen alive in this pass may have left a child since, though it is dead by now. Where other
    // programs come and go all the time, no pass is ever settled.
    let settled = settled || tree.since.elapsed() > Duration::from_secs(2);
    tree.clean = if seen { 0 } else { tree.clean + u32::from(settled) };
    let waited = !matches!(tree.parts.child.try_wait(), Ok(None));
    let empty = tree.clean >= CLEAN_PASSES;
    if waited && empty && tree.parts.group.as_ref().is_none_or(|group| group.remove()) {
        tell(tree);
        return true;
    }
    if !tree.warned && tree.since.elapsed() > Duration::from_secs(5) {
        tree.warned = true;
        tracing::warn!(pid = tree.parts.child.id(), "a script process does not end although it was killed");
    }
    false
}

/// Ends what an earlier process of ours left behind when it was killed itself.
fn clear_strays() {
    let processes = processes::all();
    let lives: HashSet<u32> = processes.iter().map(Process::life).collect();
    for process in &processes {
        if Mark::of(process.pid).is_some_and(|mark| !lives.contains(&mark.giver()))
            && process.shares_namespace()
        {
            process.signal(Signal::KILL);
        }
    }
}
