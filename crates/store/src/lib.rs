//! The store: users, keys, pending requests, idempotency records, tasks and conversations, on SQLite or PostgreSQL,
//! behind one door. Work is a closure on a [`Unit`]; it runs on the store's own threads, whole or not at all.

pub mod backup;
pub mod bell;
pub mod cards;
pub mod conversations;
pub mod counters;
mod damage;
pub mod deferred;
mod engine;
mod error;
pub mod generations;
pub mod idempotency;
mod job;
pub mod keys;
mod lease;
mod like;
pub mod log;
pub mod logins;
pub mod mail;
mod migrations;
mod named;
pub mod parcels;
pub mod pending;
pub mod plausible_time;
mod queue;
pub mod redis;
pub mod registry;
pub mod replicas;
pub mod secret;
pub mod sessions;
pub mod settings;
pub mod slots;
pub mod standing;
pub mod tasks;
mod tls;
mod unit;
mod url;
pub mod users;
pub mod workers;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Instant;

use tokio::sync::oneshot;
use toolroom_contract::commit_gate::{CommitGate, Effect};

pub use engine::Engine;
pub use error::StoreError;
pub use lease::Lease;
pub use secret::Secret;
pub use unit::Unit;
pub use url::DatabaseUrl;

use bell::{Bell, Subscription};
use damage::Damage;
use engine::sqlite::Readers;
use job::Work;
use queue::{Access, Entry, Queue};
use url::{PostgresServer, Target};

/// The door to the database. Clones share it; the last one to go lets waiting work finish and closes it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    writes: Arc<Queue>,
    reads: Arc<Queue>,
    /// For what must not wait for others: on PostgreSQL it has a connection of its own.
    urgent: Arc<Queue>,
    /// For short reads on SQLite.
    readers: Option<Readers>,
    commits: Arc<AtomicU64>,
    /// How many connections to PostgreSQL were opened.
    connections: Arc<AtomicU64>,
    lease: OnceLock<Arc<Lease>>,
    bell: Bell,
    /// Where the bell is heard.
    server: Option<PostgresServer>,
    damage: Arc<Damage>,
    threads: Vec<JoinHandle<()>>,
}

/// How much the store takes on at once.
#[derive(Clone, Debug)]
pub struct Options {
    /// Units that may wait before others are refused as [`StoreError::Busy`]; reads and writes each on SQLite.
    pub queue: usize,
    /// Threads for long reads on SQLite.
    pub sqlite_readers: usize,
    /// Connections to PostgreSQL.
    pub postgres_connections: usize,
}

impl Default for Options {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self { queue: 4096, sqlite_readers: cores.clamp(2, 4), postgres_connections: 8 }
    }
}

impl Store {
    /// Opens the database and brings its schema up to date.
    pub fn open(url: &DatabaseUrl) -> Result<Self, StoreError> {
        Self::open_with(url, &Options::default())
    }

    /// Opens the database with other limits than the usual.
    pub fn open_with(url: &DatabaseUrl, options: &Options) -> Result<Self, StoreError> {
        let writes = Arc::new(Queue::new(options.queue));
        let commits = Arc::new(AtomicU64::new(0));
        let (engine, reads) = match &url.0 {
            Target::Sqlite(_) => (Engine::Sqlite, Arc::new(Queue::new(options.queue))),
            Target::Postgres(_) => (Engine::Postgres, Arc::clone(&writes)),
        };
        let mut inner = Inner {
            engine,
            urgent: match engine {
                Engine::Sqlite => Arc::clone(&writes),
                Engine::Postgres => Arc::new(Queue::new(options.queue)),
            },
            writes,
            reads,
            readers: None,
            commits,
            connections: Arc::default(),
            lease: OnceLock::new(),
            bell: Bell::default(),
            server: match &url.0 {
                Target::Sqlite(_) => None,
                Target::Postgres(server) => Some((**server).clone()),
            },
            damage: Arc::default(),
            threads: Vec::new(),
        };
        inner.threads = match &url.0 {
            Target::Sqlite(path) => engine::sqlite::start(
                path,
                options.sqlite_readers,
                &inner.writes,
                &inner.reads,
                &inner.commits,
            ),
            Target::Postgres(server) => engine::postgres::start(
                server,
                options.postgres_connections,
                [&inner.writes, &inner.urgent],
                &inner.commits,
                &inner.connections,
            ),
        }?;
        if let Target::Sqlite(path) = &url.0 {
            inner.readers = Some(Readers::open(path)?);
        }
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Runs a unit that may write. It is durable when this answers `Ok`; an `Err` of the closure undoes it alone.
    ///
    /// The closure may run more than once (a deadlock, a connection that broke before the commit): it must have
    /// no effect but through the unit. It runs to its end even if the caller stops waiting.
    pub async fn write<T, E, F>(&self, closure: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<T, E> + Send + 'static,
    {
        self.submit(CommitGate::default(), closure, || ()).await
    }

    /// Like [`Store::write`], for what must not happen after this time: what is not committed by then, or by when
    /// the caller stops waiting, never is.
    pub async fn write_by<T, E, F>(&self, deadline: Instant, closure: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<T, E> + Send + 'static,
    {
        let gate = CommitGate::until(deadline);
        let mut answer = std::pin::pin!(self.write_then(&gate, closure, || ()));
        if let Ok(answer) = tokio::time::timeout_at(deadline.into(), answer.as_mut()).await {
            return answer;
        }
        // Units before it may wait for longer than this one can. While it is being committed, nobody knows yet.
        match gate.close() {
            Effect::None => Err(StoreError::Late.into()),
            Effect::InFlight | Effect::Committed => answer.await,
        }
    }

    /// Like [`Store::write`], for the effect of a call. Its commit passes the gate, which closes when the caller
    /// stops waiting. `after_commit` runs once the effect is durable and visible, before the answer, even if the
    /// caller has gone by then. It runs on the store's thread and must be short.
    pub async fn write_then<T, E, F, A>(&self, gate: &CommitGate, closure: F, after_commit: A) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<T, E> + Send + 'static,
        A: FnOnce() + Send + 'static,
    {
        let waits = Waits(Some(gate));
        let answer = self.submit(gate.clone(), closure, after_commit).await;
        waits.end();
        answer
    }

    /// Makes one statement that writes, as a transaction by itself: on PostgreSQL one round trip. It must do no harm if
    /// it is made twice, because a connection that breaks may have made it.
    pub async fn once<T, E, F>(&self, closure: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<T, E> + Send + 'static,
    {
        wait(self.push_once(&self.inner.writes, closure)?).await
    }

    /// The same, ahead of all that waits.
    pub async fn once_ahead<T, E, F>(&self, closure: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<T, E> + Send + 'static,
    {
        wait(self.push_once(&self.inner.urgent, closure)?).await
    }

    /// Like [`Store::once`], and nobody waits for it. It is tried before the store closes.
    pub fn once_unheard<F>(&self, closure: F)
    where
        F: FnMut(&mut Unit<'_>) -> Result<(), StoreError> + Send + 'static,
    {
        if let Err(error) = self.push_once(&self.inner.writes, closure) {
            tracing::debug!(%error, "a statement that nobody waits for was not made");
        }
    }

    fn push_once<T, E, F>(
        &self,
        queue: &Queue,
        closure: F,
    ) -> Result<oneshot::Receiver<Result<T, E>>, StoreError>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<T, E> + Send + 'static,
    {
        let (work, answer) = Work::new(CommitGate::default(), &self.inner.damage, closure, || ());
        let access = if self.engine() == Engine::Postgres { Access::Once } else { Access::Write };
        queue.push(Entry { job: Box::new(work), access })?;
        Ok(answer)
    }

    async fn submit<T, E, F, A>(&self, gate: CommitGate, closure: F, after_commit: A) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<T, E> + Send + 'static,
        A: FnOnce() + Send + 'static,
    {
        let (work, answer) = Work::new(gate, &self.inner.damage, closure, after_commit);
        self.inner.writes.push(Entry { job: Box::new(work), access: Access::Write })?;
        wait(answer).await
    }

    /// Runs a unit that only reads, on a snapshot that holds every write answered before. For short reads: on
    /// SQLite they run in place, on the caller's thread.
    pub async fn read<T, E, F>(&self, closure: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<T, E> + Send + 'static,
    {
        let Some(readers) = &self.inner.readers else { return self.read_much(closure).await };
        let (work, answer) = Work::new(CommitGate::default(), &self.inner.damage, closure, || ());
        readers.run(Box::new(work));
        wait(answer).await
    }

    /// Like [`Store::read`], for reads of many rows: on threads of the store's own, so that nobody else waits.
    pub async fn read_much<T, E, F>(&self, closure: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<T, E> + Send + 'static,
    {
        let (work, answer) = Work::new(CommitGate::default(), &self.inner.damage, closure, || ());
        self.inner.reads.push(Entry { job: Box::new(work), access: Access::Read })?;
        wait(answer).await
    }

    /// Works as one of several processes on the database from now on, under this lease.
    pub fn share(&self, lease: Arc<Lease>) {
        // Whoever is second has the same lease.
        if self.inner.lease.set(lease).is_ok()
            && let Some(server) = &self.inner.server
            && let Err(error) = self.inner.bell.attend(server.clone())
        {
            tracing::warn!(%error, "changes by other servers are noticed by looking, twice a second");
        }
    }

    /// The lease under which this process shares the database with others; `None` if it does not.
    pub fn lease(&self) -> Option<&Arc<Lease>> {
        self.inner.lease.get()
    }

    /// Hears of one kind of change of one thing from now on, whichever process makes it.
    pub fn subscribe(&self, kind: &str, key: &str) -> Subscription {
        self.inner.bell.subscribe(kind, key)
    }

    /// Rings for everybody who waits for this, in every process that shares the database. Nobody waits for it; what must
    /// be committed first is rung by [`bell::ring`] in its unit.
    pub fn ring(&self, kind: &str, key: &str) {
        if self.lease().is_none() {
            return self.inner.bell.ring_here(kind, key);
        }
        let (kind, key) = (kind.to_owned(), key.to_owned());
        self.once_unheard(move |unit| bell::ring(unit, &kind, &key));
    }

    /// How many connections were opened so far. Another one may have reached another state of the database.
    pub(crate) fn connections_opened(&self) -> u64 {
        self.inner.connections.load(Ordering::Acquire)
    }

    /// Which database is beneath.
    pub fn engine(&self) -> Engine {
        self.inner.engine
    }

    /// How many transactions were committed since the store was opened: on SQLite, far fewer than units.
    pub fn commits(&self) -> u64 {
        self.inner.commits.load(Ordering::Relaxed)
    }

    /// How many units wait to write; on PostgreSQL, to run at all.
    pub fn waiting(&self) -> usize {
        self.inner.writes.len()
    }

    /// Whether the database answers now, and nobody has found it damaged since it was last checked whole.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let damage = &self.inner.damage;
        let looked = match &self.inner.readers {
            // A connection that has the pages in memory would see nothing of a damaged file.
            Some(readers) if damage.is_look_due() => {
                let (work, answer) = Work::new(CommitGate::default(), damage, look, || ());
                readers.run_afresh(Box::new(work));
                wait(answer).await
            }
            _ => self.read(look).await,
        };
        if !damage.is_met() {
            return looked;
        }
        if looked.is_ok() && damage.is_check_due() && self.integrity_check().await?.is_empty() {
            damage.clear();
            return Ok(());
        }
        Err(StoreError::Corrupt { cause: "an earlier unit found it damaged".to_owned() })
    }

    /// Reads the whole database file and returns what is wrong with it. PostgreSQL has checks of its own.
    pub async fn integrity_check(&self) -> Result<Vec<String>, StoreError> {
        if self.engine() == Engine::Postgres {
            return self.read(look).await.map(|()| Vec::new());
        }
        let rows = self.read_much(|unit| unit.query("PRAGMA quick_check", &[])).await?;
        let lines: Vec<String> = rows.into_iter().map(|mut row| row.take(0)).collect::<Result<_, _>>()?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }
}

/// Reads a page of each table that most calls need.
fn look(unit: &mut Unit<'_>) -> Result<(), StoreError> {
    let sql =
        "SELECT EXISTS (SELECT 1 FROM users), EXISTS (SELECT 1 FROM keys), EXISTS (SELECT 1 FROM pending),
               EXISTS (SELECT 1 FROM tasks), EXISTS (SELECT 1 FROM settings)";
    unit.query(sql, &[]).map(drop)
}

/// Closes the gate if the caller stops waiting.
struct Waits<'a>(Option<&'a CommitGate>);

impl Waits<'_> {
    fn end(mut self) {
        self.0 = None;
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if let Some(gate) = self.0 {
            gate.close();
        }
    }
}

/// A reply that never comes means that the thread ended with the store.
async fn wait<T, E: From<StoreError>>(answer: oneshot::Receiver<Result<T, E>>) -> Result<T, E> {
    answer.await.unwrap_or_else(|_| Err(StoreError::Closed.into()))
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.writes.close();
        self.reads.close();
        self.urgent.close();
        let this_thread = std::thread::current().id();
        for thread in self.threads.drain(..) {
            // A closure may have held the last clone; a thread cannot wait for itself.
            if thread.thread().id() != this_thread && thread.join().is_err() {
                tracing::error!("a thread of the store panicked");
            }
        }
    }
}

fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, StoreError> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(body).map_err(|error| StoreError::Unavailable { cause: error.to_string() })
}
