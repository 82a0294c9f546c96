//! The threads of SQLite: one writer that commits many units at once, and a few for long reads.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Connection, PATIENCE, readers};
use crate::engine::Engine;
use crate::job::{Job, Outcome};
use crate::queue::{Entry, Queue};
use crate::{StoreError, Unit, migrations, spawn};

/// Bounds how long the first unit of a batch waits for the last.
const MOST_PER_COMMIT: usize = 256;

/// Opens and migrates the database, then starts its threads.
pub(crate) fn start(
    path: &Path,
    readers: usize,
    writes: &Arc<Queue>,
    reads: &Arc<Queue>,
    commits: &Arc<AtomicU64>,
) -> Result<Vec<JoinHandle<()>>, StoreError> {
    let mut connection = Connection::open(path)?;
    connection.control("BEGIN IMMEDIATE")?;
    migrations::apply(&mut connection, Engine::Sqlite)?;
    connection.control("COMMIT")?;

    let mut threads = Vec::new();
    for _ in 0..readers.max(1) {
        let reader = readers::connect(path)?;
        let reads = Arc::clone(reads);
        threads.push(spawn("store-read", move || read_all(reader, &reads))?);
    }
    let mut writer = Writer { connection, commits: Arc::clone(commits) };
    let writes = Arc::clone(writes);
    threads.push(spawn("store-write", move || {
        while let Some(first) = writes.pop() {
            writer.serve(first, &writes);
        }
    })?);
    Ok(threads)
}

/// What a job leaves in the transaction that must not stay.
#[derive(PartialEq, Eq)]
enum Trace {
    None,
    Left,
}

struct Writer {
    connection: Connection,
    commits: Arc<AtomicU64>,
}

impl Writer {
    /// Runs the first job and those that wait behind it in one transaction, and answers all after its commit.
    fn serve(&mut self, first: Entry, queue: &Queue) {
        let mut batch = vec![first.job];
        let mut more = Some(queue);
        while !batch.is_empty() {
            let filled = self.fill(&mut batch, more.take());
            if filled.is_ok() && !all_enter(&batch) {
                // A unit that came too late has written here: the others start over without it.
                self.abandon();
                refuse_late(&mut batch);
                continue;
            }
            match filled.and_then(|()| self.connection.control("COMMIT")) {
                Ok(()) => {
                    self.commits.fetch_add(1, Ordering::Relaxed);
                    batch.drain(..).for_each(|job| {
                        job.gate().leave(true);
                        job.settle(Outcome::Settled);
                    });
                }
                Err(error) => {
                    self.abandon();
                    tracing::error!(%error, units = batch.len(), "a commit failed");
                    batch.iter().for_each(|job| job.gate().leave(false));
                    refuse_late(&mut batch);
                    batch.drain(..).for_each(|job| job.settle(Outcome::Failed(error.clone())));
                }
            }
        }
    }

    /// Opens the transaction and runs jobs in it. An error here is one that ends it for all.
    ///
    /// A savepoint costs as much as a small unit, and few units need one: those that fail after they have
    /// written. So jobs run without, until one does; then the transaction starts over with savepoints.
    fn fill(&mut self, batch: &mut Vec<Box<dyn Job>>, queue: Option<&Queue>) -> Result<(), StoreError> {
        self.connection.set_patience(patience(batch))?;
        self.connection.control("BEGIN IMMEDIATE")?;
        let (mut done, mut guarded) = (0, false);
        loop {
            while let Some(job) = batch.get_mut(done) {
                if !job.gate().is_open() {
                    batch.remove(done).settle(Outcome::Failed(StoreError::Late));
                    continue;
                }
                if guarded {
                    self.run_guarded(job.as_mut())?;
                } else if self.run(job.as_mut())? == Trace::Left {
                    self.connection.control("ROLLBACK")?;
                    self.connection.control("BEGIN IMMEDIATE")?;
                    (done, guarded) = (0, true);
                    continue;
                }
                done += 1;
            }
            if batch.len() == MOST_PER_COMMIT {
                return Ok(());
            }
            let Some(next) = queue.and_then(Queue::try_pop) else { return Ok(()) };
            batch.push(next.job);
        }
    }

    /// Runs one job, and says whether it failed with something written.
    fn run(&mut self, job: &mut dyn Job) -> Result<Trace, StoreError> {
        let before = self.connection.rows_changed();
        let keep = job.run(&mut Unit::new(&mut self.connection));
        self.still_open()?;
        Ok(if keep || self.connection.rows_changed() == before { Trace::None } else { Trace::Left })
    }

    /// Runs one job in its savepoint.
    fn run_guarded(&mut self, job: &mut dyn Job) -> Result<(), StoreError> {
        self.connection.control("SAVEPOINT unit")?;
        let keep = job.run(&mut Unit::new(&mut self.connection));
        self.still_open()?;
        if !keep {
            self.connection.control("ROLLBACK TO unit")?;
        }
        self.connection.control("RELEASE unit")
    }

    fn still_open(&self) -> Result<(), StoreError> {
        if self.connection.is_idle() {
            return Err(StoreError::Unavailable { cause: "the transaction was rolled back".to_owned() });
        }
        Ok(())
    }

    /// Leaves the connection ready for the next batch.
    fn abandon(&self) {
        if !self.connection.is_idle()
            && let Err(error) = self.connection.control("ROLLBACK")
        {
            tracing::error!(%error, "a rollback failed");
        }
    }
}

/// The last moment at which a unit can be called back. A unit that passed without the others is undone.
fn all_enter(batch: &[Box<dyn Job>]) -> bool {
    let entered = batch.iter().take_while(|job| job.gate().enter()).count();
    if entered < batch.len() {
        batch.iter().take(entered).for_each(|job| job.gate().leave(false));
    }
    entered == batch.len()
}

fn refuse_late(batch: &mut Vec<Box<dyn Job>>) {
    for job in batch.extract_if(.., |job| !job.gate().is_open()) {
        job.settle(Outcome::Failed(StoreError::Late));
    }
}

/// As long as there is anybody in the batch who can still wait.
fn patience(batch: &[Box<dyn Job>]) -> Duration {
    let now = Instant::now();
    let left = |deadline: Instant| deadline.saturating_duration_since(now).min(PATIENCE);
    let each = batch.iter().map(|job| job.gate().deadline().map_or(PATIENCE, left));
    each.max().unwrap_or(PATIENCE)
}

fn read_all(mut connection: Connection, queue: &Queue) {
    while let Some(Entry { job, .. }) = queue.pop() {
        if !job.is_abandoned() {
            readers::read(&mut connection, job);
        }
    }
}
