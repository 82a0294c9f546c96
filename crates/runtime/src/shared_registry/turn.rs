//! One change of the shared registry: made by one server at a time, and answered when every server serves it.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OwnedMutexGuard;
use toolroom_store::registry::{self, Base, Kind, NewDocument, Text};
use toolroom_store::{StoreError, replicas, slots};
use uuid::Uuid;

use super::{SharedRegistry, fields};
use crate::registry_file::FileError;

/// How long a change waits for those of other servers.
const PATIENCE: Duration = Duration::from_secs(30);

/// The turn to change the registry, on top of its newest version.
pub(crate) struct Turn {
    _changing: OwnedMutexGuard<()>,
    version: OwnedMutexGuard<i64>,
    token: String,
    /// What had been made before.
    made: i64,
}

impl SharedRegistry {
    /// Waits for the turn. What others have changed is in force then.
    pub(crate) async fn begin(self: &Arc<Self>) -> Result<Turn, FileError> {
        let changing = Arc::clone(&self.changing).lock_owned().await;
        let (token, began) = (Uuid::now_v7().to_string(), Instant::now());
        loop {
            let (run, token) = (self.lease.run(), token.clone());
            if self.store.once(move |unit| registry::take_turn(unit, run, &token)).await? {
                break;
            }
            if began.elapsed() > PATIENCE {
                return Err(FileError::Busy);
            }
            tokio::time::sleep(slots::TICK).await;
        }
        // Not before: what others wait for to be served here must not wait for them.
        let mut version = Arc::clone(&self.in_force).lock_owned().await;
        if let Err(error) = self.catch_up_in(&mut version).await {
            self.give_turn_back(token);
            return Err(error);
        }
        self.base.store(*version, Ordering::Release);
        let made = self.made.load(Ordering::Acquire);
        Ok(Turn { _changing: changing, version, token, made })
    }

    /// Lets others change the registry, and waits until what was changed is served everywhere.
    pub(crate) async fn end(self: &Arc<Self>, turn: Turn) {
        let Turn { _changing, mut version, token, made } = turn;
        self.give_turn_back(token);
        let now = self.made.load(Ordering::Acquire);
        if now == made {
            return;
        }
        if let Err(error) = self.catch_up_in(&mut version).await {
            tracing::warn!(%error, "what was changed here is not known to be served here");
        }
        drop((version, _changing));
        self.served_everywhere(now).await;
    }

    /// Waits until everything that this process has changed is served everywhere.
    pub(crate) async fn settle(self: &Arc<Self>) {
        let made = self.made.load(Ordering::Acquire);
        if let Err(error) = self.catch_up().await {
            tracing::warn!(%error, "what was changed here is not known to be served here");
        }
        self.served_everywhere(made).await;
    }

    /// Makes these files the next version. On a thread that may block, in its turn.
    pub(crate) fn commit(&self, files: Vec<(String, Text)>) -> Result<i64, FileError> {
        let what = files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let fields: Vec<String> = fields::used(&files).into_iter().collect();
        let document = |(name, text)| NewDocument { kind: Kind::File, name, text };
        let documents = files.into_iter().map(document).collect();
        let base = Base::Files(self.base.load(Ordering::Acquire));
        let here = tokio::runtime::Handle::current();
        if let Some(other) = here.block_on(self.store.read(move |unit| registry::not_known(unit, &fields)))? {
            return Err(FileError::NotKnown(other));
        }
        let version = here.block_on(self.write(what, documents, base))?.ok_or(FileError::ChangedMeanwhile)?;
        self.base.store(version, Ordering::Release);
        Ok(version)
    }

    /// The same for files that are written here already.
    pub(crate) fn commit_written(&self, files: Vec<(String, Text)>) -> Result<(), FileError> {
        self.commit(files.clone())?;
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).note(&files);
        Ok(())
    }

    /// The document that is copied to this file.
    pub(crate) fn name_of(&self, file: &Path) -> String {
        file.strip_prefix(&self.home).unwrap_or(file).to_string_lossy().into_owned()
    }

    /// Waits until every server that is alive serves that version. One that does not within the time of a lease has
    /// stopped serving by then.
    async fn served_everywhere(&self, version: i64) {
        let mut served = self.store.subscribe(registry::BELL, registry::SERVED);
        let since = Instant::now();
        loop {
            let behind = self.store.read(move |unit| registry::behind(unit, version)).await;
            match behind {
                Ok(behind) if behind.is_empty() => return,
                Ok(behind) if since.elapsed() > replicas::LEASE => {
                    let homes = behind.join(", ");
                    tracing::warn!(version, homes, "a change is answered that these servers do not serve");
                    return;
                }
                Err::<_, StoreError>(_) if since.elapsed() > replicas::LEASE => return,
                _ => {}
            }
            served.rung().await;
        }
    }

    fn give_turn_back(&self, token: String) {
        self.store.once_unheard(move |unit| registry::end_turn(unit, &token));
    }
}
