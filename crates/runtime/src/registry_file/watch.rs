//! Sees edits of a registry file that did not come through the queue.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
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

/// How often the file is looked at unasked: not every file system reports edits, and a folder that is
/// replaced takes its watch with it.
const UNASKED: Duration = Duration::from_secs(10);

/// Watches until it is dropped.
pub struct Watch(JoinHandle<()>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What is watched to see edits of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The folder that it is in.
    Folder,
    /// The file alone, where much else is written beside it.
    File,
}

/// Calls `look` whenever the file may have been edited, until the watch is dropped or `look` gives nothing.
pub(crate) fn watch<F, W>(file: &Path, scope: Scope, look: F) -> Watch
where
    F: Fn() -> Option<W> + Send + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    let edited = Arc::new(Notify::new());
    let eye = Eye::open(file, scope, Arc::clone(&edited)).inspect_err(|error| {
        let file = file.file_name().unwrap_or_default().to_string_lossy();
        tracing::warn!(%error, %file, "a registry file cannot be watched; it is checked every 10 seconds instead");
    });
    // What was edited before the watch began.
    edited.notify_one();
    Watch(tokio::spawn(follow(look, edited, eye.ok())))
}

/// What the system reports about a file.
struct Eye {
    watcher: RecommendedWatcher,
    file: PathBuf,
    scope: Scope,
}

impl Eye {
    fn open(file: &Path, scope: Scope, ring: Arc<Notify>) -> notify::Result<Self> {
        let name = file.file_name().map(OsStr::to_owned);
        let heard = move |event: notify::Result<Event>| match event {
            Ok(event) if !is_of(&event, name.as_deref()) => {}
            // After an error, edits may have gone unseen.
            _ => ring.notify_one(),
        };
        let mut watcher = notify::recommended_watcher(heard)?;
        let watched = match scope {
            // An editor puts a new file in the place of the old.
            Scope::Folder => file.parent().unwrap_or(Path::new("/")),
            Scope::File => file,
        };
        let watching = watcher.watch(watched, RecursiveMode::NonRecursive);
        // A file that is not there yet is looked for again soon.
        if scope == Scope::Folder || file.exists() {
            watching?;
        }
        Ok(Self { watcher, file: file.to_owned(), scope })
    }

    /// Another file may stand under the name by now; watching the old one is useless.
    fn renew(&mut self) {
        if self.scope == Scope::File {
            // One that is not there is looked for again soon.
            let _ = self.watcher.unwatch(&self.file);
            let _ = self.watcher.watch(&self.file, RecursiveMode::NonRecursive);
        }
    }
}

async fn follow<F, W>(look: F, edited: Arc<Notify>, mut eye: Option<Eye>)
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
        // Before it is read, so that no edit falls between the two.
        if let Some(eye) = &mut eye {
            eye.renew();
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
