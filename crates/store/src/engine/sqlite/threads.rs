//! The threads of SQLite: one writer that commits many units at once, and a few readers with snapshots.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use super::Connection;
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
        let reader = Connection::open(path)?;
        reader.make_read_only()?;
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

struct Writer {
    connection: Connection,
    commits: Arc<AtomicU64>,
}

impl Writer {
    /// Runs the first job and those that wait behind it in one transaction, and answers all after its commit.
    fn serve(&mut self, first: Entry, queue: &Queue) {
        if let Err(error) = self.connection.control("BEGIN IMMEDIATE") {
            return first.job.settle(Outcome::Failed(error));
        }
        let mut batch = Vec::new();
        let mut next = Some(first);
        let mut outcome = Ok(());
        while let Some(Entry { mut job, .. }) = next {
            outcome = self.run(job.as_mut());
            batch.push(job);
            next = match outcome {
                Ok(()) if batch.len() < MOST_PER_COMMIT => queue.try_pop(),
                _ => None,
            };
        }
        match outcome.and_then(|()| self.connection.control("COMMIT")) {
            Ok(()) => {
                self.commits.fetch_add(1, Ordering::Relaxed);
                batch.into_iter().for_each(|job| job.settle(Outcome::Settled));
            }
            Err(error) => {
                self.abandon();
                tracing::error!(%error, units = batch.len(), "a commit failed");
                batch.into_iter().for_each(|job| job.settle(Outcome::Failed(error.clone())));
            }
        }
    }

    /// Runs one job in its savepoint. An error here is one that ends the whole transaction.
    fn run(&mut self, job: &mut dyn Job) -> Result<(), StoreError> {
        self.connection.control("SAVEPOINT unit")?;
        let keep = job.run(&mut Unit::new(&mut self.connection));
        if self.connection.is_idle() {
            return Err(StoreError::Unavailable { cause: "the transaction was rolled back".to_owned() });
        }
        if !keep {
            self.connection.control("ROLLBACK TO unit")?;
        }
        self.connection.control("RELEASE unit")
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

fn read_all(mut connection: Connection, queue: &Queue) {
    while let Some(Entry { mut job, .. }) = queue.pop() {
        if job.is_abandoned() {
            continue;
        }
        if let Err(error) = connection.control("BEGIN") {
            job.settle(Outcome::Failed(error));
            continue;
        }
        job.run(&mut Unit::new(&mut connection));
        // Nothing was written, so how the snapshot ends cannot change the answer.
        if let Err(error) = connection.control("ROLLBACK") {
            tracing::error!(%error, "a read snapshot did not end");
        }
        job.settle(Outcome::Settled);
    }
}
