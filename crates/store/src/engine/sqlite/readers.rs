//! Short reads on SQLite: in place on the caller's thread. To hand such a read over to another thread would take
//! longer than the read.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::Connection;
use crate::job::{Job, Outcome};
use crate::{StoreError, Unit};

/// Connections for reading; as many as reads run at once, which is as many as the program has threads.
pub(crate) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

/// Connections that rest beyond this many are closed.
const MOST_IDLE: usize = 16;

impl Readers {
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let first = connect(path)?;
        Ok(Self { path: path.to_owned(), idle: Mutex::new(vec![first]) })
    }

    /// Runs a read on a connection that has nothing in memory, so that it sees the file as it is.
    pub fn run_afresh(&self, job: Box<dyn Job>) {
        match Connection::open_for_a_look(&self.path) {
            Ok(mut connection) => read(&mut connection, job),
            Err(error) => job.settle(Outcome::Failed(error)),
        }
    }

    /// Runs a read to its end and answers it.
    pub fn run(&self, job: Box<dyn Job>) {
        let resting = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = match resting.map_or_else(|| connect(&self.path), Ok) {
            Ok(connection) => connection,
            Err(error) => return job.settle(Outcome::Failed(error)),
        };
        read(&mut connection, job);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_IDLE {
            idle.push(connection);
        }
    }
}

/// A connection that cannot write.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path)?;
    connection.make_read_only()?;
    Ok(connection)
}

/// Runs a job on a snapshot and answers it.
pub(super) fn read(connection: &mut Connection, mut job: Box<dyn Job>) {
    if let Err(error) = connection.control("BEGIN") {
        return job.settle(Outcome::Failed(error));
    }
    job.run(&mut Unit::new(connection));
    // Nothing was written, so how the snapshot ends cannot change the answer.
    if let Err(error) = connection.control("ROLLBACK") {
        tracing::error!(%error, "a read snapshot did not end");
    }
    job.settle(Outcome::Settled);
}
