//! The journal's writer: each record is one append by the thread whose call it is.

use std::{
    cell::RefCell,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use jiff::Timestamp;
use toolroom_contract::ids::{ExecutionId, RunId};

use super::{
    JournalError,
    day::{Day, Shard},
    files,
    record::{EndRecord, LineRecord, Scratch, StartRecord},
    retention,
};

thread_local! {
    static SCRATCH: RefCell<Scratch> = const { RefCell::new(Scratch::new()) };
    /// The threads are numbered as they come.
    static THREAD: usize = THREADS.fetch_add(1, Relaxed);
}

static THREADS: AtomicUsize = AtomicUsize::new(0);

/// By how much the clock may run ahead of the one that never steps.
const SLACK: Duration = Duration::from_hours(26);

/// End records that are kept while the disk takes none.
const LATE_ENDS: usize = 4096;

#[derive(Clone, Debug)]
pub struct JournalSettings {
    /// The version of the program, for the record of the run.
    pub version: String,
    /// Files dated today minus this many days, or later, stay.
    pub keep_days: u16,
    /// Files per day. Appends to one file exclude each other in the kernel.
    pub shards: usize,
}

impl Default for JournalSettings {
    fn default() -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), keep_days: 30, shards: 4 }
    }
}

/// Appends records; shared by all threads. Nothing is synced: what was written survives the death of the
/// process, not that of the machine.
pub struct Journal {
    dir: PathBuf,
    run: RunId,
    settings: JournalSettings,
    day: ArcSwap<Day>,
    /// Held while files are opened, so that one thread does it.
    opening: Mutex<()>,
    failing: AtomicBool,
    failure: Mutex<Option<Failure>>,
    late_ends: Mutex<Vec<(ExecutionId, Vec<u8>)>>,
    sweep: Mutex<Option<JoinHandle<()>>>,
    /// When it was opened, by a clock that never steps and by the other.
    opened: (Instant, Timestamp),
}

struct Failure {
    since: Timestamp,
    message: String,
}

impl Journal {
    /// Opens the day's files in `dir`, writes the record of this run, and sweeps old files aside.
    pub fn open(dir: &Path, run: RunId, settings: JournalSettings) -> Result<Self, JournalError> {
        Self::open_at(dir, run, settings, Timestamp::now())
    }

    pub(super) fn open_at(
        dir: &Path,
        run: RunId,
        mut settings: JournalSettings,
        now: Timestamp,
    ) -> Result<Self, JournalError> {
        settings.shards = settings.shards.clamp(1, files::MAX_SHARDS);
        let day = Day::open(dir, now, settings.shards)?;
        let journal = Self {
            dir: dir.to_owned(),
            run,
            settings,
            day: ArcSwap::from_pointee(day),
            opening: Mutex::new(()),
            failing: AtomicBool::new(false),
            failure: Mutex::new(None),
            late_ends: Mutex::new(Vec::new()),
            sweep: Mutex::new(None),
            opened: (Instant::now(), now),
        };
        journal.sweep_aside(now);
        journal.write_run(now)?;
        Ok(journal)
    }

    /// The run whose calls this journal writes; the reader tells running calls by it.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// A new id, for an execution whose records go to this thread's own file: one that others do not append to, and
    /// that was just appended to.
    pub fn new_id(&self) -> ExecutionId {
        let mut bytes = ExecutionId::new().0.into_bytes();
        let (shards, thread) = (self.settings.shards, THREAD.with(|thread| *thread));
        let rounded = usize::from(bytes[15]) / shards * shards;
        let end = u8::try_from(rounded + thread % shards);
        bytes[15] = end.unwrap_or((thread % shards) as u8);
        ExecutionId(uuid::Uuid::from_bytes(bytes))
    }

    /// Writes that a call starts. If this fails, the call must not run.
    pub fn start(&self, start: &StartRecord<'_>) -> Result<(), JournalError> {
        self.append(start.id, start.at, |scratch| scratch.start(self.run, start))
    }

    /// Writes how a call ended. If this fails, the end is kept without its output and written once the disk
    /// takes records again.
    pub fn end(&self, end: &EndRecord<'_>) -> Result<(), JournalError> {
        let written = self.append(end.id, end.at, |scratch| scratch.end(end));
        if written.is_err() {
            self.keep_for_later(end);
        }
        written
    }

    /// Writes a call that started no tool (a refusal, a cached answer) as one record.
    pub fn call(&self, start: &StartRecord<'_>, end: &EndRecord<'_>) -> Result<(), JournalError> {
        self.append(start.id, start.at, |scratch| scratch.call(self.run, start, end))
    }

    /// Writes a line that a running tool put out.
    pub fn line(&self, line: &LineRecord<'_>) -> Result<(), JournalError> {
        self.append(line.id, line.at, |scratch| scratch.line(line))
    }

    /// Whether records can be written; if not, why and since when. After a failure this tries again, so
    /// that the answer turns good without a call.
    pub fn healthy(&self) -> Result<(), String> {
        if !self.failing.load(Relaxed) || self.write_run(Timestamp::now()).is_ok() {
            return Ok(());
        }
        match &*lock(&self.failure) {
            Some(failure) => Err(format!("{} (since {:.0})", failure.message, failure.since)),
            None => Ok(()),
        }
    }

    fn append(
        &self,
        id: ExecutionId,
        at: Timestamp,
        build: impl FnOnce(&mut Scratch) -> io::Result<()>,
    ) -> Result<(), JournalError> {
        SCRATCH.with_borrow_mut(|scratch| {
            build(scratch).map_err(JournalError::Write)?;
            let written = self.put(id, at, &scratch.framed);
            scratch.shrink();
            match &written {
                Ok(()) if self.failing.load(Relaxed) => self.recovered(at),
                Ok(()) => {}
                Err(error) => self.failed(at, error),
            }
            written
        })
    }

    fn put(&self, id: ExecutionId, at: Timestamp, framed: &[u8]) -> Result<(), JournalError> {
        let day = self.day.load();
        let number = files::day_number(at);
        if day.takes(number) && !self.failing.load(Relaxed) && !day.lost_files(at) {
            return shard(&day, id).append(framed);
        }
        let renewed = self.renew(&day, at)?;
        shard(&renewed, id).append(framed)
    }

    /// Opens the files again: for a new day, after a failure, or when they were taken away.
    #[cold]
    fn renew(&self, before: &Arc<Day>, at: Timestamp) -> Result<Arc<Day>, JournalError> {
        let _opening = lock(&self.opening);
        let current = self.day.load_full();
        if !Arc::ptr_eq(before, &current) && current.takes(files::day_number(at)) {
            return Ok(current);
        }
        let day = Arc::new(Day::open(&self.dir, at, self.settings.shards)?);
        if day.number != current.number {
            self.sweep_aside(at);
        }
        self.day.store(Arc::clone(&day));
        Ok(day)
    }

    fn write_run(&self, at: Timestamp) -> Result<(), JournalError> {
        self.append(ExecutionId(uuid::Uuid::nil()), at, |scratch| {
            scratch.run(self.run, at, &self.settings.version)
        })
    }

    #[cold]
    fn failed(&self, at: Timestamp, error: &JournalError) {
        let mut failure = lock(&self.failure);
        let since = failure.as_ref().map_or(at, |failure| failure.since);
        *failure = Some(Failure { since, message: error.to_string() });
        self.failing.store(true, Relaxed);
    }

    #[cold]
    fn recovered(&self, at: Timestamp) {
        *lock(&self.failure) = None;
        self.failing.store(false, Relaxed);
        let mut late = std::mem::take(&mut *lock(&self.late_ends));
        while let Some((id, framed)) = late.pop() {
            if let Err(error) = self.put(id, at, &framed) {
                self.failed(at, &error);
                late.push((id, framed));
                lock(&self.late_ends).append(&mut late);
                return;
            }
        }
    }

    #[cold]
    fn keep_for_later(&self, end: &EndRecord<'_>) {
        let mut late = lock(&self.late_ends);
        if late.len() >= LATE_ENDS {
            return;
        }
        let mut scratch = Scratch::new();
        if scratch.end(&EndRecord { output: None, truncated: true, ..*end }).is_ok() {
            late.push((end.id, scratch.framed));
        }
    }

    /// Old files are removed on a thread of their own, off the path of the call that met the new day.
    fn sweep_aside(&self, now: Timestamp) {
        let (dir, keep_days) = (self.dir.clone(), self.settings.keep_days);
        // However far the clock has stepped since then, no more time has passed than this.
        let (began, at) = self.opened;
        let latest = at.checked_add(began.elapsed() + SLACK).unwrap_or(now);
        let today = files::date_of(now.min(latest));
        let work = move || {
            if let Err(error) = retention::sweep(&dir, today, keep_days) {
                tracing::warn!(%error, "old journal files could not be removed");
            }
        };
        match std::thread::Builder::new().name("journal-sweep".to_owned()).spawn(work) {
            Ok(thread) => *lock(&self.sweep) = Some(thread),
            Err(error) => tracing::warn!(%error, "old journal files could not be removed"),
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.failing.load(Relaxed) {
            // The last chance for late ends; a failure was reported when it occurred.
            let _ = self.write_run(Timestamp::now());
        }
        if let Some(thread) = lock(&self.sweep).take() {
            let _ = thread.join();
        }
    }
}

/// By the end of the id, so that the records of one execution share a file.
fn shard(day: &Day, id: ExecutionId) -> &Shard {
    &day.shards[usize::from(id.0.as_bytes()[15]) % day.shards.len()]
}

/// What these locks guard is whole between statements, so that a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
