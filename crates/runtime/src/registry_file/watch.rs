//! Sees edits of a registry file that did not come through the queue.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// How long the file must be left alone before it is read: an editor writes in several steps.
const QUIET: Duration = Duration::from_millis(50);
/// How many such pauses are waited for at most.
const PAUSES: usize = 20;

/// How often the file is looked at unasked: not every file system tells of edits, and a folder that is
/// replaced takes its watch with it.
const UNASKED: Duration = Duration::from_secs(10);

/// Watches until it is dropped.
pub struct Watch {
    _watcher: Option<RecommendedWatcher>,
    task: JoinHandle<()>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Calls `look` whenever the file may have been edited, until the watch is dropped or `look` gives nothing.
pub(crate) fn watch<F, W>(file: &Path, look: F) -> Watch
where
    F: Fn() -> Option<W> + Send + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    let edited = Arc::new(Notify::new());
    let watcher = watcher(file, Arc::clone(&edited)).inspect_err(|error| {
        let file = file.file_name().unwrap_or_default().to_string_lossy();
        tracing::warn!(%error, %file, "edits of a registry file are not told; it is looked at every 10 seconds instead");
    });
    // What was edited before the watch began.
    edited.notify_one();
    let task = tokio::spawn(follow(look, edited));
    Watch { _watcher: watcher.ok(), task }
}

fn watcher(file: &Path, ring: Arc<Notify>) -> notify::Result<RecommendedWatcher> {
    let name = file.file_name().map(OsStr::to_owned);
    let heard = move |event: notify::Result<Event>| match event {
        Ok(event) if !is_of(&event, name.as_deref()) => {}
        // After an error, edits may have gone unseen.
        _ => ring.notify_one(),
    };
    let mut watcher = notify::recommended_watcher(heard)?;
    // The folder, because an editor puts a new file in the place of the old.
    watcher.watch(file.parent().unwrap_or(Path::new("/")), RecursiveMode::NonRecursive)?;
    Ok(watcher)
}

async fn follow<F, W>(look: F, edited: Arc<Notify>)
where
    F: Fn() -> Option<W> + Send + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    loop {
        let _ = tokio::time::timeout(UNASKED, edited.notified()).await;
        for _ in 0..PAUSES {
            if tokio::time::timeout(QUIET, edited.notified()).await.is_err() {
                break;
            }
        }
        let Some(looking) = look() else { return };
        looking.await;
    }
}

/// Whether the event can mean another text. Reading the file makes events too.
fn is_of(event: &Event, name: Option<&OsStr>) -> bool {
    let changes = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    };
    changes && (event.need_rescan() || event.paths.iter().any(|path| path.file_name() == name))
}
