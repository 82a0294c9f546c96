//! Registry files: `tools.json`, `mcp.json` and `profiles.json`. Each has one queue: a change is checked whole, written
//! durably, then visible, then answered. Edits by hand are picked up as they are made, or told as trouble.
//!
//! | file | what it does |
//! | --- | --- |
//! | `disk` | replaces a file whole, or leaves it as it was |
//! | `watch` | sees edits that did not come through the queue |
//! | `problem` | what is wrong in a file, where, and what to do |
//! | `error` | why a change was refused, as far as it is about the file |

pub(crate) mod disk;
mod error;
pub(crate) mod problem;
pub(crate) mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;
use toolroom_store::registry::Text;

use crate::shared_registry::{CopyDisk, SharedRegistry};

pub use disk::{Disk, RealDisk};
pub use error::FileError;
pub use problem::FileProblem;
pub use watch::{Scope, Watch};

/// What differs from one registry file to the next: what its text means, and how it is put in force.
pub trait Entries: Send + Sync + Sized + 'static {
    /// What is in force of the file, for whoever makes the next change.
    type State: Default + Send + 'static;
    /// A file without entries.
    const EMPTY: &'static str;
    /// Whether a file that is not there reads as one without entries.
    const OPTIONAL: bool = false;
    /// What is watched to see edits.
    const SCOPE: Scope;

    /// Checks a text whole and applies it, or changes nothing.
    fn load(
        &self,
        file: &Path,
        state: &mut Self::State,
        text: &str,
        origin: Origin,
    ) -> Result<(), FileProblem>;

    /// Whether a text could be applied. Nothing is.
    fn check(&self, file: &Path, state: &Self::State, text: &str) -> Result<(), FileProblem>;
}

/// Where a text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The file of the home, which its owner may have edited.
    File,
    /// The registry that several servers share: the server that changed it has checked what it means for callers.
    SharedRegistry,
}

/// A registry file and what is in force of it.
pub struct RegistryFile<E: Entries> {
    pub(crate) path: PathBuf,
    pub(crate) entries: E,
    pub(crate) disk: Arc<dyn Disk>,
    /// The queue: its holder makes a change. Waiters get it in order.
    turns: Arc<tokio::sync::Mutex<InForce<E::State>>>,
    trouble: Mutex<Option<FileProblem>>,
    /// Where the file is only a copy of a document: the registry of all servers.
    pub(crate) shared: Option<Arc<SharedRegistry>>,
}

/// What is in force of a file.
#[derive(Default)]
pub(crate) struct InForce<S> {
    pub(crate) state: S,
    /// The text that it came from.
    pub(crate) text: String,
}

impl<E: Entries> RegistryFile<E> {
    /// Reads the file and applies it. The first thing that is wrong with it ends that.
    pub(crate) fn load(
        path: PathBuf,
        entries: E,
        disk: Arc<dyn Disk>,
        shared: Option<Arc<SharedRegistry>>,
    ) -> Result<Arc<Self>, FileProblem> {
        if let Some(folder) = path.parent() {
            disk::clear_unfinished(folder);
        }
        let mut first = InForce { state: E::State::default(), text: problem::text_of::<E>(&path)? };
        let (origin, disk) = match shared {
            None => (Origin::File, disk),
            Some(_) => (Origin::SharedRegistry, Arc::new(CopyDisk) as Arc<dyn Disk>),
        };
        entries.load(&path, &mut first.state, &first.text, origin)?;
        let turns = Arc::new(tokio::sync::Mutex::new(first));
        Ok(Arc::new(Self { path, entries, disk, turns, trouble: Mutex::default(), shared }))
    }

    /// Without entries, and without a file that changes could go to.
    pub(crate) fn missing(name: &str, entries: E) -> Arc<Self> {
        let (path, disk) = (PathBuf::from(name), Arc::new(RealDisk));
        let trouble = Mutex::default();
        Arc::new(Self { path, entries, disk, turns: Arc::default(), trouble, shared: None })
    }

    /// Picks up an edit of the file, if there was one. A bad one is kept aside as [`RegistryFile::trouble`]. A copy is
    /// not edited.
    pub async fn refresh(self: &Arc<Self>) -> Result<(), FileError> {
        if self.shared.is_some() {
            return Ok(());
        }
        self.in_turn(|_, _| Ok(())).await
    }

    /// Picks up edits of the file as they are made, for as long as the watch is kept.
    pub fn watch(self: &Arc<Self>) -> Watch {
        let me = Arc::downgrade(self);
        watch::watch(&self.path, E::SCOPE, move || {
            let me = me.upgrade()?;
            // A bad edit is told in the log and as trouble.
            Some(async move { drop(me.refresh().await) })
        })
    }

    /// What is wrong with the file on the disk, while what was read before is in use.
    pub fn trouble(&self) -> Option<String> {
        let problem = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        problem.as_ref().map(|problem| format!("{problem}. {}", problem.remedy))
    }

    /// Makes a change when it is its turn, on top of whatever was edited by hand. It is carried to its end even if nobody
    /// waits for it any more.
    pub(crate) async fn in_turn<T, X>(
        self: &Arc<Self>,
        change: impl FnOnce(&Self, &mut InForce<E::State>) -> Result<T, X> + Send + 'static,
    ) -> Result<T, X>
    where
        T: Send + 'static,
        X: From<FileError> + Send + 'static,
    {
        let Some(shared) = &self.shared else { return self.in_turn_here(change).await };
        let (me, shared) = (Arc::clone(self), Arc::clone(shared));
        let made = tokio::spawn(async move {
            let turn = shared.begin().await?;
            let made = me.in_turn_here(change).await;
            shared.end(turn).await;
            made
        });
        made.await.unwrap_or_else(|error| Err(FileError::Aborted(error.to_string()).into()))
    }

    async fn in_turn_here<T, X>(
        self: &Arc<Self>,
        change: impl FnOnce(&Self, &mut InForce<E::State>) -> Result<T, X> + Send + 'static,
    ) -> Result<T, X>
    where
        T: Send + 'static,
        X: From<FileError> + Send + 'static,
    {
        let mut turn: OwnedMutexGuard<_> = Arc::clone(&self.turns).lock_owned().await;
        let me = Arc::clone(self);
        let made = tokio::task::spawn_blocking(move || {
            if me.shared.is_none() {
                me.pick_up_edit(&mut turn)?;
            }
            change(&me, &mut turn)
        });
        made.await.unwrap_or_else(|error| Err(FileError::Aborted(error.to_string()).into()))
    }

    /// Whether a text could be in force. Problems are those of a file of this name. For threads that may block.
    pub(crate) fn check(&self, name: &str, text: &str) -> Result<(), FileError> {
        let turn = self.turns.blocking_lock();
        Ok(self.entries.check(Path::new(name), &turn.state, text)?)
    }

    /// Puts a text of the shared registry in force, whose copy is written. For threads that may block.
    pub(crate) fn take_over(&self, text: String) -> Result<(), FileError> {
        let mut turn = self.turns.blocking_lock();
        if turn.text != text {
            self.entries.load(&self.path, &mut turn.state, &text, Origin::SharedRegistry)?;
            turn.text = text;
        }
        Ok(())
    }

    /// What is in force now, in a few words of the caller's.
    pub(crate) async fn in_force<T>(&self, look: impl FnOnce(&E::State) -> T) -> T {
        look(&self.turns.lock().await.state)
    }

    /// Writes a text that was checked. It is the one in force from then on.
    pub(crate) fn save(&self, turn: &mut InForce<E::State>, text: String) -> Result<(), FileError> {
        self.save_with(turn, text, Vec::new())
    }

    /// The same, in one change of a shared registry with these files, which were written.
    pub(crate) fn save_with(
        &self,
        turn: &mut InForce<E::State>,
        text: String,
        mut beside: Vec<(PathBuf, Text)>,
    ) -> Result<(), FileError> {
        let replaced = disk::replace(&*self.disk, &disk::linked(&self.path), text.as_bytes(), 0o600)?;
        if let Some(shared) = &self.shared {
            let body = Some(text.clone().into_bytes());
            beside.insert(0, (self.path.clone(), Text { body, is_executable: false }));
            let files = beside.into_iter().map(|(path, text)| (shared.name_of(&path), text));
            if let Err(error) = shared.commit_written(files.collect()) {
                replaced.restore(&*self.disk);
                return Err(error);
            }
        }
        turn.text = text;
        Ok(())
    }

    fn pick_up_edit(&self, turn: &mut InForce<E::State>) -> Result<(), FileError> {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        let picked_up = match problem::text_of::<E>(&self.path) {
            Ok(text) if text == turn.text => Ok(()),
            Ok(text) => self.entries.load(&self.path, &mut turn.state, &text, Origin::File).map(|()| {
                tracing::info!("{file} was edited: the new entries are in use");
                turn.text = text;
            }),
            Err(problem) => Err(problem),
        };
        let trouble = picked_up.err();
        let mut told = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(problem) = trouble.as_ref().filter(|problem| told.as_ref() != Some(problem)) {
            let remedy = &problem.remedy;
            tracing::warn!(
                remedy,
                "{file} was edited and cannot be used, what was read before stays: {problem}"
            );
        }
        told.clone_from(&trouble);
        trouble.map_or(Ok(()), |problem| Err(FileError::Unusable(problem)))
    }
}
