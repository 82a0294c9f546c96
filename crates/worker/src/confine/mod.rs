//! A box for untrusted programs, made by our own binary under another name.
//!
//! Four processes: the server; the helper, which is this binary started afresh, so that it holds nothing of
//! the server's memory; the first process of the box; and the program. See "Callers' code" in `docs/executor.md`.

mod filter;
mod init;
mod layout;
mod mounts;
mod outer;
mod plan;
mod program;
mod rules;
mod spent;
mod step;
mod sys;
mod users;
mod view;
mod watch;
mod wire;
mod world;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

pub(crate) use outer::Maker;
pub(crate) use plan::WORK;
pub use plan::{EndedBy, Failed};
pub(crate) use sys::landlock_version;
pub(crate) use users::Slot;
pub(crate) use wire::pair;
pub(crate) use world::{Boxed, Confined, Run, World, hang_up};

/// How far code is confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Isolated: namespaces, a read-only root, one limited place to write to.
    Full,
    /// The host's file system, with Landlock, a filter and, for root, another user.
    Partial,
    /// Not at all.
    None,
}

/// The name under which this binary is the helper.
pub(crate) const HELPER: &str = "toolroom-sandbox";

/// Whether [`enter_helper`] was called: a binary that never does would run itself, not the helper.
static CAN_HELP: AtomicBool = AtomicBool::new(false);

/// Becomes the helper if that is what this process was started as; it never returns then. To be called first
/// thing in `main`, before any thread is started: without it nothing can be confined.
pub fn enter_helper() {
    CAN_HELP.store(true, Ordering::Relaxed);
    let name = std::env::args_os().next();
    if name.as_deref().map(OsStr::as_bytes) == Some(HELPER.as_bytes()) {
        outer::run();
    }
}

pub(crate) fn can_help() -> bool {
    CAN_HELP.load(Ordering::Relaxed)
}

/// Whether there is a filter for this architecture.
pub(crate) fn has_filter() -> bool {
    filter::exists()
}

/// For tests, whose binaries have a `main` that is not ours.
#[cfg(feature = "enter-before-main")]
mod before_main {
    #![allow(unsafe_code)]

    extern "C" fn enter() {
        super::enter_helper();
    }

    // SAFETY: the loader calls what stands in this section once, before `main`; arguments are there by then.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static ENTER: extern "C" fn() = enter;
}
