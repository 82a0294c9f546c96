//! Puts in force what other servers have changed, as soon as the bell rings, and says so in this server's row.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use tokio::task::JoinHandle;
use toolroom_store::registry::{self, Document, Kind};

use super::{Parts, SharedRegistry};
use crate::registry_file::{Entries, FileError, FileProblem, RegistryFile};

/// Follows the registry until it is dropped.
pub struct Following(JoinHandle<()>);

impl Drop for Following {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The registry files of a home, in the order in which they are put in force.
pub(super) const TOOLS: &str = "tools/tools.json";
pub(super) const SERVERS: &str = "mcp.json";
pub(super) const PROFILES: &str = "profiles.json";

impl SharedRegistry {
    /// Begins to follow. What the home was filled with is served from now on.
    pub async fn follow(self: &Arc<Self>) -> Result<Following, FileError> {
        // Before the first look, so that no ring falls between the two.
        let mut changed = self.store.subscribe(registry::BELL, "");
        self.catch_up().await?;
        let me = Arc::clone(self);
        Ok(Following(tokio::spawn(async move {
            let mut trouble = String::new();
            loop {
                changed.rung().await;
                let now = me.catch_up().await.err().map(|error| error.to_string()).unwrap_or_default();
                match (now.is_empty(), trouble.is_empty()) {
                    (false, _) if now != trouble => {
                        tracing::error!(reason = now, "what other servers have changed is not in force here");
                    }
                    (true, false) => tracing::info!("what other servers have changed is in force again"),
                    _ => {}
                }
                trouble = now;
            }
        })))
    }

    /// Puts the newest version in force, if it is not.
    pub(super) async fn catch_up(self: &Arc<Self>) -> Result<(), FileError> {
        let mut version = Arc::clone(&self.in_force).lock_owned().await;
        self.catch_up_in(&mut version).await
    }

    /// The same, where nobody else does so meanwhile.
    pub(super) async fn catch_up_in(self: &Arc<Self>, version: &mut i64) -> Result<(), FileError> {
        let (newest, documents) = self.read_since(*version).await?;
        if newest > *version {
            let me = Arc::clone(self);
            // It is carried to its end even if nobody waits for it any more.
            let put = tokio::task::spawn_blocking(move || me.put_in_force(documents));
            put.await.map_err(|error| FileError::Aborted(error.to_string()))??;
            *version = newest;
        }
        self.lease.serve(*version);
        if self.told.load(Ordering::Acquire) != *version {
            let (run, serves) = (self.lease.run(), *version);
            self.store.once(move |unit| registry::serve(unit, run, serves)).await?;
            self.told.store(serves, Ordering::Release);
        }
        Ok(())
    }

    /// Scripts are there before the entries that name them, and what a person has not seen is marked before the server is
    /// met. For threads that may block.
    fn put_in_force(&self, documents: Vec<Document>) -> Result<(), FileError> {
        let Some(Parts { registrar, federation, profiles }) = self.parts.get() else { return Ok(()) };
        let (Some(registrar), Some(federation), Some(profiles)) =
            (registrar.upgrade(), federation.upgrade(), profiles.upgrade())
        else {
            return Ok(());
        };
        let (logins, documents): (Vec<_>, Vec<_>) =
            documents.into_iter().partition(|document| document.kind == Kind::Login);
        let (approved, files): (Vec<_>, Vec<_>) =
            documents.into_iter().partition(|document| document.kind == Kind::Approved);
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).write(&files)?;
        if files.iter().any(|document| document.kind == Kind::Secrets) {
            self.check_secrets();
        }
        take_over(&registrar, TOOLS, &files)?;
        federation.take_over_approved(approved)?;
        take_over(&federation, SERVERS, &files)?;
        federation.logins_changed(logins.iter().map(|document| document.name.as_str()));
        take_over(&profiles, PROFILES, &files)
    }
}

fn take_over<E: Entries>(
    file: &Arc<RegistryFile<E>>,
    name: &str,
    files: &[Document],
) -> Result<(), FileError> {
    let Some(document) = files.iter().find(|document| document.name == name) else { return Ok(()) };
    let text = match &document.text.body {
        None => E::EMPTY.to_owned(),
        Some(body) => String::from_utf8(body.clone()).map_err(|_| {
            FileProblem::whole(&file.path, "it is not UTF-8", "Replace it: toolroom registry apply DIR")
        })?,
    };
    file.take_over(text)
}
