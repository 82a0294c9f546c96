//! The registry of servers that share a database: tools with their scripts, profiles, servers and approved definitions are
//! documents there, under one version, and the files of each home are copies of them.
//!
//! | file | what it does |
//! | --- | --- |
//! | `turn` | one change, made by one server at a time; answered when every server serves it |
//! | `follow` | puts in force what others have changed |
//! | `copies` | the files of a home |
//! | `fields` | what each server can read of them |
//! | `apply` | a folder as the registry: what that would change, and the change |
//! | `secrets` | sealed values of tools, the same for all servers |

pub mod apply;
mod copies;
pub mod fields;
mod follow;
mod secrets;
mod turn;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use toolroom_store::registry::{self, Base, Change, Document, Kind, NewDocument, Text};
use toolroom_store::{Lease, Store, StoreError};

use crate::federation::{Federation, bring_in_logins};
use crate::profile_file::ProfileFile;
use crate::registrar::Registrar;
use crate::registry_file::FileError;
use copies::Copies;

pub(crate) use copies::CopyDisk;
pub use follow::Following;

/// What is in force here of the shared registry.
pub struct SharedRegistry {
    store: Store,
    lease: Arc<Lease>,
    home: PathBuf,
    copies: Mutex<Copies>,
    /// Held for a change of this process: it asks for the turn among all servers.
    changing: Arc<tokio::sync::Mutex<()>>,
    /// The version that is in force. Held while another one is put in force, or made.
    in_force: Arc<tokio::sync::Mutex<i64>>,
    /// What the next change is based on, while one is made.
    base: AtomicI64,
    /// The last version that this process has made.
    made: AtomicI64,
    /// The version that others know to be served here.
    told: AtomicI64,
    /// Approved definitions, as they were when the home was filled.
    approved: Mutex<Vec<Document>>,
    parts: OnceLock<Parts>,
}

/// What is made of the documents. Weak, because they hold the registry.
struct Parts {
    registrar: Weak<Registrar>,
    federation: Weak<Federation>,
    profiles: Weak<ProfileFile>,
}

impl SharedRegistry {
    /// The registry that this process shares with others; `None` if it shares nothing.
    pub fn of(store: &Store, home: &Path) -> Option<Arc<Self>> {
        let lease = Arc::clone(store.lease()?);
        Some(Arc::new(Self {
            store: store.clone(),
            lease,
            home: home.to_owned(),
            copies: Mutex::new(Copies::open(home)),
            changing: Arc::default(),
            in_force: Arc::default(),
            base: AtomicI64::new(0),
            made: AtomicI64::new(0),
            told: AtomicI64::new(0),
            approved: Mutex::default(),
            parts: OnceLock::new(),
        }))
    }

    /// Whether nobody has brought a registry yet.
    pub async fn is_empty(&self) -> Result<bool, FileError> {
        let (version, _) = self.read_since(i64::MAX).await?;
        Ok(version == 0)
    }

    /// Makes the files of the home the registry of all, unless another server was first.
    pub async fn bring_in(&self) -> Result<(), FileError> {
        let documents = copies::read_home(&self.home)?;
        let what = format!("brought in from {}", self.home.display());
        let count = documents.len();
        match self.write(what, documents, Base::Files(0)).await? {
            Some(_) => {
                let (store, run, home) = (self.store.clone(), self.lease.run(), self.home.clone());
                let moved = tokio::task::spawn_blocking(move || bring_in_logins(&store, run, &home)).await;
                moved.map_err(|error| FileError::Aborted(error.to_string()))?;
                tracing::info!(documents = count, "this home's registry is that of all servers now");
            }
            None => tracing::info!("another server has brought in the registry"),
        }
        Ok(())
    }

    /// Makes the files of the home those of the newest version, before anything reads them.
    pub async fn fill_home(&self) -> Result<(), FileError> {
        let mut version = self.in_force.lock().await;
        let (newest, documents) = self.read_since(0).await?;
        let (approved, files): (Vec<_>, Vec<_>) =
            documents.into_iter().partition(|document| document.kind == Kind::Approved);
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        copies.write(&files)?;
        *self.approved.lock().unwrap_or_else(PoisonError::into_inner) = approved;
        *version = newest;
        Ok(())
    }

    /// What is kept the same as the registry from now on.
    pub fn attach(
        &self,
        registrar: &Arc<Registrar>,
        federation: &Arc<Federation>,
        profiles: &Arc<ProfileFile>,
    ) {
        let parts = Parts {
            registrar: Arc::downgrade(registrar),
            federation: Arc::downgrade(federation),
            profiles: Arc::downgrade(profiles),
        };
        // There is one of each.
        let _ = self.parts.set(parts);
    }

    /// The approved definitions that the home was filled with.
    pub(crate) fn take_approved(&self) -> Vec<Document> {
        std::mem::take(&mut *self.approved.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes what was approved of a server, if it is as of that version. On a thread that may block. Else what it is.
    pub(crate) fn put_approved(
        &self,
        server: &str,
        base: i64,
        body: Option<Vec<u8>>,
    ) -> Result<Result<i64, Option<(i64, Text)>>, FileError> {
        let text = Text { body, is_executable: false };
        let document = NewDocument { kind: Kind::Approved, name: server.to_owned(), text };
        let what = format!("approved definitions of {server}");
        let base = Base::Document(Kind::Approved, server.to_owned(), base);
        let here = tokio::runtime::Handle::current();
        if let Some(version) = here.block_on(self.write(what, vec![document], base))? {
            return Ok(Ok(version));
        }
        let name = server.to_owned();
        let read = self.store.read(move |unit| registry::read(unit, Kind::Approved, &name));
        Ok(Err(here.block_on(read)?))
    }

    /// A person has logged in at a server, or out. Returns when every server knows.
    pub(crate) async fn login_changed(self: &Arc<Self>, server: &str) -> Result<(), FileError> {
        let document = NewDocument { kind: Kind::Login, name: server.to_owned(), text: Text::default() };
        self.write(format!("login at {server}"), vec![document], Base::Nothing).await?;
        self.settle().await;
        Ok(())
    }

    async fn read_since(&self, version: i64) -> Result<(i64, Vec<Document>), StoreError> {
        self.store.read_much(move |unit| registry::read_since(unit, version)).await
    }

    /// The version of a change; `None` if it is based on what is not the newest.
    async fn write(
        &self,
        what: String,
        documents: Vec<NewDocument>,
        base: Base,
    ) -> Result<Option<i64>, StoreError> {
        let change = Change { run: self.lease.run(), what, documents, base };
        let version = self.store.write(move |unit| registry::change(unit, &change)).await?;
        if let Some(version) = version {
            self.made.fetch_max(version, Ordering::AcqRel);
        }
        Ok(version)
    }
}
