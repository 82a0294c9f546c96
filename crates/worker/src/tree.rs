//! A process that was started here, with all its descendants.

use std::convert::Infallible;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};

use rustix::process::{Pid, Signal};
use tokio::sync::{mpsc, oneshot};

use crate::cgroup::Group;
use crate::cleaner::Scratch;
use crate::confine::{Slot, hang_up};
use crate::processes::{self, Mark};
use crate::reaper;

/// A process and all that descends from it. Dropping it ends them all, without waiting for that.
#[derive(Debug)]
pub(crate) struct Tree {
    parts: Option<Parts>,
}

/// What the reaper needs of a tree.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) child: Child,
    pub(crate) mark: Mark,
    pub(crate) group: Option<Group>,
    /// How it is ended.
    pub(crate) end: End,
    /// Removed when nothing is left that could write to it.
    pub(crate) folder: Option<Scratch>,
    /// Notified when nothing is left.
    pub(crate) gone: Option<oneshot::Sender<()>>,
    /// The user of a confined program, which nobody else gets before nothing is left.
    _slot: Option<Slot>,
    /// Dropped when nothing is left.
    _alive: Alive,
}

/// How a tree is ended.
#[derive(Debug)]
pub(crate) enum End {
    /// Its members are looked for and killed.
    Scan,
    /// The helper of a full box ends it when it is hung up on, and its exit proves that nothing is left.
    HangUp(OwnedFd),
    /// The helper of a partial box does its part, and its members are looked for too.
    HangUpAndScan(OwnedFd),
}

impl End {
    /// Whether the exit of the process itself proves that nothing is left.
    pub(crate) fn proves_itself(&self) -> bool {
        matches!(self, Self::HangUp(..))
    }
}

/// Held by every tree: who has the other end of the channel learns when the last one is gone.
pub(crate) type Alive = mpsc::Sender<Infallible>;

impl Parts {
    pub(crate) fn pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.child.id()).ok()?)
    }
}

impl Tree {
    pub(crate) fn new(
        child: Child,
        mark: Mark,
        group: Option<Group>,
        (end, slot): (End, Option<Slot>),
        folder: Option<Scratch>,
        alive: Alive,
    ) -> Self {
        Self {
            parts: Some(Parts { child, mark, group, end, folder, gone: None, _slot: slot, _alive: alive }),
        }
    }

    /// The id of the process itself.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.parts.as_ref().map(|parts| parts.child.id())
    }

    /// How the process itself ended; `None` while it runs.
    pub(crate) fn exit_status(&mut self) -> io::Result<Option<ExitStatus>> {
        match &mut self.parts {
            Some(parts) => parts.child.try_wait(),
            None => Ok(None),
        }
    }

    /// Finds out whether the process is the only one of its tree. That takes a look at every process.
    pub(crate) fn alone(&self) -> impl FnOnce() -> bool + Send + use<> {
        let known = self.parts.as_ref().and_then(|parts| Some((parts.mark, parts.pid()?)));
        move || known.is_some_and(|(mark, own)| !processes::any_beside(mark, own))
    }

    /// Hands the folder to the caller: it is removed when the caller drops it.
    pub(crate) fn keep_folder(&mut self) -> Option<Scratch> {
        self.parts.as_mut().and_then(|parts| parts.folder.take())
    }

    /// Whether the kernel ended a process of it because the memory of its control group was used up.
    pub(crate) fn memory_ran_out(&self) -> bool {
        self.parts.as_ref().and_then(|parts| parts.group.as_ref()).is_some_and(Group::memory_ran_out)
    }

    /// Ends the tree; the receiver is notified when nothing of it is left.
    pub(crate) fn end(mut self) -> oneshot::Receiver<()> {
        let (gone, told) = oneshot::channel();
        if let Some(parts) = &mut self.parts {
            parts.gone = Some(gone);
        }
        told
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let Some(mut parts) = self.parts.take() else { return };
        if let End::HangUp(control) | End::HangUpAndScan(control) = &parts.end {
            hang_up(control);
        }
        if parts.end.proves_itself() {
            reaper::take(parts);
            return;
        }
        // This covers the common case, one process in its own group. The reaper handles the others.
        // An id that has been waited for may belong to someone else by now, so it is not signalled.
        if let (Ok(None), Some(pid)) = (parts.child.try_wait(), parts.pid()) {
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        }
        reaper::take(parts);
    }
}
