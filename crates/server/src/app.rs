//! What every route can reach: the runtime, the registrar, the keys, the folder of the journal.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Notify;
use toolroom_runtime::Runtime;
use toolroom_runtime::journal::Reader;
use toolroom_runtime::registrar::Registrar;

use crate::auth::Auth;

/// The state behind the router.
pub struct App {
    /// Tools, store, journal, metrics.
    pub runtime: Arc<Runtime>,
    /// What changes `tools.json`.
    pub registrar: Arc<Registrar>,
    /// Who is who.
    pub auth: Auth,
    /// The folder of the journal's files.
    pub logs: PathBuf,
    /// Rings whenever a person has decided something.
    pub decided: Notify,
}

impl App {
    /// The state around a runtime and its registrar.
    pub fn new(runtime: Arc<Runtime>, registrar: Arc<Registrar>, logs: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            auth: Auth::new(Arc::clone(&runtime)),
            runtime,
            registrar,
            logs,
            decided: Notify::new(),
        })
    }

    /// A reader of the journal that this process writes.
    pub fn journal_reader(&self) -> Reader {
        Reader::new(&self.logs, Some(self.runtime.journal.run()))
    }
}
