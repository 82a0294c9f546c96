//! A runtime on a scratch folder, with a clock that tests set and a shorthand for calls.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolroom_contract::context::ContextFields;
use toolroom_contract::error::ErrorBody;
use toolroom_contract::ids::{ExecutionId, PendingId, RunId};
use toolroom_contract::{ErrorCode, Grants, Principal};
use toolroom_profiles::Profile;
use toolroom_runtime::catalogue::{NewTool, RegistryError};
use toolroom_runtime::clock::Clock;
use toolroom_runtime::journal::{Execution, Journal, JournalSettings, Query, Reader};
use toolroom_runtime::{CallRequest, Edge, Parts, Reply, Runtime, Settings};
use toolroom_store::pending::{self, Decision};
use toolroom_store::{DatabaseUrl, Store};

/// A clock that stands still until it is moved.
pub struct SetClock {
    time: AtomicI64,
    /// By how much somebody has set it, which is no time that passed.
    step: AtomicI64,
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.time.load(Ordering::SeqCst) + self.step.load(Ordering::SeqCst))
            .unwrap()
    }

    fn steady_ms(&self) -> u64 {
        self.time.load(Ordering::SeqCst) as u64 / 1000
    }
}

impl SetClock {
    pub fn advance_ms(&self, milliseconds: i64) {
        self.time.fetch_add(milliseconds * 1000, Ordering::SeqCst);
    }

    /// Somebody sets the clock.
    pub fn step_ms(&self, milliseconds: i64) {
        self.step.fetch_add(milliseconds * 1000, Ordering::SeqCst);
    }

    pub fn set(&self, at: Timestamp) {
        self.time.store(at.as_microsecond(), Ordering::SeqCst);
    }
}

pub struct TestRuntime {
    pub runtime: Arc<Runtime>,
    pub clock: Arc<SetClock>,
    pub folder: TempDir,
}

impl TestRuntime {
    pub fn new(tools: Vec<NewTool>) -> Self {
        Self::with_store(|_| tools)
    }

    /// For tools that write to the runtime's own database.
    pub fn with_store(tools: impl FnOnce(&Store) -> Vec<NewTool>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::on(folder, tools, Vec::new()).unwrap()
    }

    pub fn with_profiles(tools: Vec<NewTool>, profiles: Vec<Profile>) -> Self {
        Self::on(tempfile::tempdir().unwrap(), |_| tools, profiles).unwrap()
    }

    /// A runtime on a folder that may have been lived in before, as another run.
    pub fn on(
        folder: TempDir,
        tools: impl FnOnce(&Store) -> Vec<NewTool>,
        more_profiles: Vec<Profile>,
    ) -> Result<Self, RegistryError> {
        let clock = Arc::new(SetClock {
            time: AtomicI64::new(Timestamp::now().as_microsecond()),
            step: AtomicI64::new(0),
        });
        let store = store(folder.path());
        let mut profiles = whole();
        profiles.extend(more_profiles);
        let runtime = Runtime::new(Parts {
            tools: tools(&store),
            store,
            journal: open_journal(folder.path()),
            profiles,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            settings: Settings::default(),
        })?;
        Ok(Self { runtime, clock, folder })
    }

    /// Someone with these grants.
    pub async fn user(&self, name: &str, grants: &[&str]) -> Arc<Principal> {
        Arc::new(Principal {
            user: self.runtime.users.ensure(name).await.unwrap(),
            grants: grants.iter().map(|grant| grant.parse().unwrap()).collect::<Grants>(),
            profiles: None,
            person: false,
            key: None,
            time_zone: None,
            revoked: Default::default(),
        })
    }

    /// Someone who may do everything.
    pub async fn owner(&self) -> Arc<Principal> {
        self.user("owner", &["*"]).await
    }

    pub async fn call(&self, who: &Arc<Principal>, name: &str, params: Value) -> Reply {
        self.ask(who, name).params(params).send().await
    }

    pub fn ask(&self, who: &Arc<Principal>, name: &str) -> Ask {
        Ask {
            runtime: Arc::clone(&self.runtime),
            request: CallRequest {
                profile: "default".into(),
                name: name.into(),
                params: json!({}),
                principal: Arc::clone(who),
                context: ContextFields::default(),
                edge: Edge::Rest,
                reporter: toolroom_contract::Reporter::default(),
            },
        }
    }

    /// A person's decision.
    pub async fn decide(&self, id: PendingId, decision: Decision) {
        let person = self.runtime.users.ensure("person").await.unwrap().id;
        let decided =
            self.runtime.store.write(move |unit| pending::decide(unit, id, &decision, person)).await;
        decided.map_err(|error: pending::DecideError| error.to_string()).unwrap();
    }

    pub fn reader(&self) -> Reader {
        Reader::new(&self.logs(), Some(self.runtime.journal.run()))
    }

    pub fn logs(&self) -> std::path::PathBuf {
        self.folder.path().join("logs")
    }

    /// Every row of the journal, oldest first.
    pub fn rows(&self) -> Vec<Execution> {
        rows(&self.reader())
    }

    pub fn row(&self, id: ExecutionId) -> Execution {
        let mut found: Vec<Execution> =
            self.rows().into_iter().filter(|row| row.execution_id == id).collect();
        assert_eq!(found.len(), 1, "a call has exactly one row");
        found.remove(0)
    }

    /// The journal as text, all files.
    pub fn journal_text(&self) -> String {
        let files = std::fs::read_dir(self.logs()).unwrap();
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    }

    /// The value of a meter whose line begins so.
    pub fn meter(&self, begins: &str) -> f64 {
        let text = self.runtime.metrics.render();
        let line = text.lines().find(|line| line.starts_with(begins));
        line.map_or(0.0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
    }

    /// Takes the journal's disk away, or gives it back: its files become links to a full device.
    pub fn fill_disk(&self) -> FullDisk {
        let mut files = Vec::new();
        for file in std::fs::read_dir(self.logs()).unwrap() {
            let path = file.unwrap().path();
            let aside = path.with_extension("aside");
            std::fs::rename(&path, &aside).unwrap();
            std::os::unix::fs::symlink("/dev/full", &path).unwrap();
            files.push((path, aside));
        }
        // The journal looks after its files once in a second of its records.
        self.clock.advance_ms(1000);
        FullDisk(files)
    }
}

pub struct FullDisk(Vec<(std::path::PathBuf, std::path::PathBuf)>);

impl FullDisk {
    pub fn free(self) {
        for (path, aside) in self.0 {
            std::fs::rename(aside, path).unwrap();
        }
    }
}

/// A call that is being put together.
pub struct Ask {
    runtime: Arc<Runtime>,
    pub request: CallRequest,
}

impl Ask {
    pub fn params(mut self, params: Value) -> Self {
        self.request.params = params;
        self
    }

    pub fn profile(mut self, profile: &'static str) -> Self {
        self.request.profile = profile.into();
        self
    }

    pub fn context(mut self, set: impl FnOnce(&mut ContextFields)) -> Self {
        set(&mut self.request.context);
        self
    }

    pub fn key(self, key: &str) -> Self {
        self.context(|context| context.idempotency_key = Some(key.into()))
    }

    pub fn approval(self, id: PendingId) -> Self {
        self.context(|context| context.approval_id = Some(id))
    }

    pub fn dry_run(self) -> Self {
        self.context(|context| context.dry_run = true)
    }

    pub fn acting_as(self, user: &str) -> Self {
        self.context(|context| context.user_id = Some(user.into()))
    }

    pub async fn send(self) -> Reply {
        self.runtime.call(self.request).await
    }

    pub fn spawn(self) -> tokio::task::JoinHandle<Reply> {
        tokio::spawn(self.send())
    }
}

pub fn rows(reader: &Reader) -> Vec<Execution> {
    let mut query = Query { limit: 1000, newest_first: false, ..Query::default() };
    let mut rows = Vec::new();
    loop {
        let page = reader.page(&query).unwrap();
        rows.extend(page.rows);
        match page.cursor {
            Some(cursor) => query.cursor = Some(cursor),
            None => return rows,
        }
    }
}

/// The profile that shows everything as it is.
pub fn whole() -> Vec<Profile> {
    toolroom_profiles::built_in().into_iter().filter(|profile| profile.name == "default").collect()
}

pub fn store(folder: &Path) -> Store {
    Store::open(&DatabaseUrl::sqlite(folder.join("runtime.db"))).unwrap()
}

pub fn open_journal(folder: &Path) -> Journal {
    Journal::open(&folder.join("logs"), RunId::new(), JournalSettings::default()).unwrap()
}

/// The data of a call that must have succeeded.
pub fn data(reply: &Reply) -> &Value {
    match reply.result.data() {
        Some(data) => data,
        None => panic!("the call failed: {:?}", reply.result.error()),
    }
}

/// The error of a call that must have failed with that code.
pub fn error(reply: &Reply, code: ErrorCode) -> &ErrorBody {
    let error =
        reply.result.error().unwrap_or_else(|| panic!("the call succeeded: {:?}", reply.result.data()));
    assert_eq!(error.code, code, "{error:?}");
    error
}

/// The envelope as it goes over a wire.
pub fn wire(reply: &Reply) -> Value {
    serde_json::to_value(&reply.result).unwrap()
}
