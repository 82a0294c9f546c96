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
    /// The file alone, where much else is written beside it; the folder for as long as there is no file.
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
    /// The file or its folder.
    watched: Option<PathBuf>,
}

impl Eye {
    fn open(file: &Path, scope: Scope, ring: Arc<Notify>) -> notify::Result<Self> {
        let name = file.file_name().map(OsStr::to_owned);
        let heard = move |event: notify::Result<Event>| match event {
            Ok(event) if !is_of(&event, name.as_deref()) => {}
            // After an error, edits may have gone unseen.
            _ => ring.notify_one(),
        };
        let watcher = notify::recommended_watcher(heard)?;
        let mut eye = Self { watcher, file: file.to_owned(), scope, watched: None };
        eye.aim()?;
        Ok(eye)
    }

    fn aim(&mut self) -> notify::Result<()> {
        if let Some(watched) = self.watched.take() {
            // What is gone has lost its watch already.
            let _ = self.watcher.unwatch(&watched);
        }
        if self.scope == Scope::File && self.watcher.watch(&self.file, RecursiveMode::NonRecursive).is_ok() {
            self.watched = Some(self.file.clone());
            return Ok(());
        }
        // An editor puts a new file in the place of the old.
        let folder = self.file.parent().unwrap_or(Path::new("/")).to_owned();
        self.watcher.watch(&folder, RecursiveMode::NonRecursive)?;
        self.watched = Some(folder);
        Ok(())
    }

    /// Another file may stand under the name by now; watching the old one is useless.
    fn renew(&mut self) {
        if self.scope == Scope::File {
            // What cannot be watched is looked at again soon.
            let _ = self.aim();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_comes_into_being_is_seen_at_once_and_edits_of_it_after_that() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("profiles.json");
        let edited = Arc::new(Notify::new());
        let mut eye = Eye::open(&file, Scope::File, Arc::clone(&edited)).unwrap();
        // One write makes several events: the next must come from the next write.
        let settle = async || while tokio::time::timeout(4 * QUIET, edited.notified()).await.is_ok() {};
        // There is no other clock here: a file that is not watched would be waited for without end.
        std::fs::write(&file, "{}").unwrap();
        edited.notified().await;
        eye.renew();
        settle().await;
        std::fs::write(&file, "{ }").unwrap();
        edited.notified().await;
        std::fs::remove_file(&file).unwrap();
        settle().await;
        eye.renew();
        std::fs::write(&file, "{}").unwrap();
        edited.notified().await;
    }
}
