//! The threads of PostgreSQL: each has its own connection, and reconnects when it breaks.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use toolroom_contract::commit_gate::CommitGate;

use super::{Connection, Fault, LONGEST_STATEMENT};
use crate::engine::{Engine, Sql};
use crate::job::{Job, Outcome};
use crate::queue::{Access, Entry, Queue};
use crate::url::PostgresServer;
use crate::{StoreError, Unit, migrations, spawn};

/// Waits between the tries to connect, while a unit waits.
const RECONNECT_WAITS_MS: [u64; 2] = [100, 200];
/// After failed attempts, units are refused at once for this long: the queue must not wait for each in turn.
const AWAY_FOR: Duration = Duration::from_millis(250);
/// How often a unit starts over because its connection broke before the commit.
const MOST_RECONNECTS: u32 = 3;
/// How often a unit starts over because of a deadlock.
const MOST_CLASHES: u32 = 20;

/// Migrates the database, then starts the threads that serve it.
pub(crate) fn start(
    server: &PostgresServer,
    connections: usize,
    [queue, urgent]: [&Arc<Queue>; 2],
    commits: &Arc<AtomicU64>,
    opened: &Arc<AtomicU64>,
) -> Result<Vec<JoinHandle<()>>, StoreError> {
    // The driver brings its own runtime, which must not start inside the caller's.
    let first = server.clone();
    spawn("store-migrate", move || migrate(&first))?.join().map_err(|_| StoreError::Panicked)??;
    let away_until = Arc::new(Mutex::new(None));
    let longer_reads = Arc::default();
    let mut threads = Vec::new();
    // Nothing is read over the urgent connection that others rely on.
    let uncounted = Arc::default();
    let pool = std::iter::repeat_n((queue, opened), connections.max(1)).chain([(urgent, &uncounted)]);
    for (queue, opened) in pool {
        let mut worker = Worker {
            server: server.clone(),
            longer_reads: Arc::clone(&longer_reads),
            connection: None,
            away_until: Arc::clone(&away_until),
            commits: Arc::clone(commits),
            opened: Arc::clone(opened),
        };
        let queue = Arc::clone(queue);
        threads.push(spawn("store-pg", move || {
            while let Some(entry) = queue.pop() {
                worker.serve(entry);
            }
        })?);
    }
    Ok(threads)
}

/// The lock lets two processes start at once: the second finds the work of the first.
fn migrate(server: &PostgresServer) -> Result<(), StoreError> {
    let mut connection = Connection::open(server)?;
    connection.script("BEGIN; SELECT pg_advisory_xact_lock(8390318671)")?;
    migrations::apply(&mut connection, Engine::Postgres)?;
    connection.script("COMMIT")
}

struct Worker {
    server: PostgresServer,
    /// The kinds of reads that were seen to make more than one statement.
    longer_reads: Arc<Mutex<HashSet<TypeId>>>,
    connection: Option<Connection>,
    away_until: Arc<Mutex<Option<Instant>>>,
    commits: Arc<AtomicU64>,
    opened: Arc<AtomicU64>,
}

/// How one run of a job ended.
enum End {
    Settled,
    Failed(StoreError),
    /// Nothing was committed, and the connection is gone.
    Lost(StoreError),
    /// Nothing was committed, and the server asks to start over.
    Clash,
}

impl Worker {
    fn serve(&mut self, Entry { mut job, access }: Entry) {
        if access == Access::Read && job.is_abandoned() {
            return;
        }
        let outcome = self.run_to_end(job.as_mut(), access);
        job.settle(match outcome {
            Ok(()) => Outcome::Settled,
            Err(error) => Outcome::Failed(error),
        });
    }

    fn run_to_end(&mut self, job: &mut dyn Job, access: Access) -> Result<(), StoreError> {
        let (mut losses, mut clashes) = (0, 0);
        loop {
            if !job.gate().is_open() {
                return Err(StoreError::Late);
            }
            match self.run(job, access)? {
                End::Settled => return Ok(()),
                End::Failed(error) => return Err(error),
                End::Lost(error) => {
                    losses += 1;
                    if losses == MOST_RECONNECTS {
                        return Err(error);
                    }
                }
                End::Clash => {
                    clashes += 1;
                    if clashes == MOST_CLASHES {
                        return Err(StoreError::Busy);
                    }
                    std::thread::sleep(Duration::from_millis(clashes.into()));
                }
            }
        }
    }

    /// Runs the job once. The error is that no connection was available.
    fn run(&mut self, job: &mut dyn Job, access: Access) -> Result<End, StoreError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let end = match access {
            Access::Read => self.read(&mut connection, job),
            Access::Write => transact(&mut connection, job, access),
            Access::Once => once(&mut connection, job),
        };
        if matches!(end, End::Settled) && access == Access::Write {
            self.commits.fetch_add(1, Ordering::Relaxed);
        }
        if !matches!(end, End::Lost(_) | End::Failed(StoreError::OutcomeUnknown { .. })) {
            self.connection = Some(connection);
        }
        Ok(end)
    }

    /// Most reads are one statement, and are made without a transaction: a third of the round trips.
    fn read(&self, connection: &mut Connection, job: &mut dyn Job) -> End {
        let longer = || self.longer_reads.lock().unwrap_or_else(PoisonError::into_inner);
        if longer().contains(&job.kind()) {
            return transact(connection, job, Access::Read);
        }
        if connection.read_alone(|connection| job.run(&mut Unit::new(connection))).is_none() {
            longer().insert(job.kind());
            return transact(connection, job, Access::Read);
        }
        end_alone(connection)
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let away = *self.away_until.lock().unwrap_or_else(PoisonError::into_inner);
        if away.is_some_and(|until| Instant::now() < until) {
            return Err(StoreError::Unavailable {
                cause: "PostgreSQL did not answer a moment ago".to_owned(),
            });
        }
        let began = Instant::now();
        let mut waits = RECONNECT_WAITS_MS.into_iter();
        loop {
            let error = match Connection::open(&self.server) {
                Ok(connection) => {
                    self.opened.fetch_add(1, Ordering::AcqRel);
                    return Ok(connection);
                }
                Err(error) => error,
            };
            match waits.next() {
                Some(wait) if began.elapsed() < Duration::from_millis(500) => {
                    std::thread::sleep(Duration::from_millis(wait));
                }
                _ => {
                    let until = Instant::now() + AWAY_FOR;
                    *self.away_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
                    return Err(error);
                }
            }
        }
    }
}

/// One statement, which is whole or not at all without our help.
fn once(connection: &mut Connection, job: &mut dyn Job) -> End {
    match connection.once(|connection| job.run(&mut Unit::new(connection))) {
        Some(_) => end_alone(connection),
        None => End::Failed(StoreError::Engine { cause: "more than one statement was made".to_owned() }),
    }
}

/// How a statement without a transaction ended.
fn end_alone(connection: &mut Connection) -> End {
    match connection.take_fault() {
        None => End::Settled,
        Some(Fault::Lost(error)) => End::Lost(error),
        Some(Fault::Clash) => End::Clash,
    }
}

fn transact(connection: &mut Connection, job: &mut dyn Job, access: Access) -> End {
    let begin = match access {
        Access::Read => Cow::Borrowed("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
        Access::Write | Access::Once => begin_writing(job.gate()),
    };
    if let Err((error, fault)) = connection.control(&begin) {
        return end_of(fault, error);
    }
    let mut unit = Unit::new(connection);
    let keep = job.run(&mut unit);
    let last = std::mem::take(&mut unit.last_statement);
    if let Some(fault) = connection.take_fault() {
        return match (fault, connection.control("ROLLBACK")) {
            (Fault::Clash, Ok(())) => End::Clash,
            (Fault::Clash, Err((error, _))) | (Fault::Lost(error), _) => End::Lost(error),
        };
    }
    if !keep || access == Access::Read {
        return match connection.control("ROLLBACK") {
            Ok(()) => End::Settled,
            Err((error, fault)) => end_of(fault, error),
        };
    }
    // The last moment at which the unit can be called back.
    if !job.gate().enter() {
        return match connection.control("ROLLBACK") {
            Ok(()) => End::Failed(StoreError::Late),
            Err((error, _)) => End::Lost(error),
        };
    }
    let commit = if last.is_empty() { Cow::Borrowed("COMMIT") } else { format!("{last}; COMMIT").into() };
    match connection.control(&commit) {
        Ok(()) => {
            job.gate().leave(true);
            End::Settled
        }
        // The server may have committed before the connection broke; running again could do it twice.
        Err((_, Some(Fault::Lost(error)))) => {
            End::Failed(StoreError::OutcomeUnknown { cause: error.to_string() })
        }
        Err((error, fault)) => {
            job.gate().leave(false);
            // What was sent along may have failed, and then nobody has ended the transaction.
            match connection.control("ROLLBACK") {
                Ok(()) => end_of(fault, error),
                Err((error, _)) => End::Lost(error),
            }
        }
    }
}

/// How much later than the deadline PostgreSQL stops a statement.
const SLACK_MS: u128 = 10;

/// A statement that waits for a lock past the deadline would only block the thread: its effect cannot be kept.
fn begin_writing(gate: &CommitGate) -> Cow<'static, str> {
    const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
    let Some(deadline) = gate.deadline() else { return Cow::Borrowed(BEGIN) };
    let left = deadline.saturating_duration_since(Instant::now()).min(LONGEST_STATEMENT).as_millis().max(1);
    // Time must be up by our clock, too, when a statement is stopped for it: else it looks like trouble of the database.
    Cow::Owned(format!("{BEGIN}; SET LOCAL statement_timeout = {}", left + SLACK_MS))
}

fn end_of(fault: Option<Fault>, error: StoreError) -> End {
    match fault {
        Some(Fault::Lost(error)) => End::Lost(error),
        Some(Fault::Clash) => End::Clash,
        None => End::Failed(error),
    }
}
