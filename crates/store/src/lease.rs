//! The lease of this process, as it knows it: whether it may still act as one of several on the database.

use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use toolroom_contract::ids::RunId;

use crate::replicas::Renewed;

/// After so long without a renewal, or without serving the newest version of the registry, by its own clock, a process
/// does nothing more. Others believe that it is gone when its lease has lapsed, which is later.
const FENCED_AFTER: Duration = Duration::from_secs(8);

/// Renewed by whoever gives the signs of life, asked by everybody else.
#[derive(Debug)]
pub struct Lease {
    run: RunId,
    since: Instant,
    /// When the last renewal began, in milliseconds after that.
    renewed: AtomicU64,
    /// When the newest version of the registry was asked for that is served here, in milliseconds after that.
    up_to_date: AtomicU64,
    /// The version of the registry that is served here.
    registry_version: AtomicI64,
    replicas: AtomicUsize,
}

impl Lease {
    /// A lease that was asked for at this moment and given, as one of so many.
    pub fn new(run: RunId, asked: Instant, replicas: usize) -> Self {
        Self {
            run,
            since: asked,
            renewed: AtomicU64::new(0),
            up_to_date: AtomicU64::new(0),
            registry_version: AtomicI64::new(0),
            replicas: AtomicUsize::new(replicas),
        }
    }

    /// It was renewed, when asked at this moment.
    pub fn renew(&self, asked: Instant, known: Renewed) {
        let at = self.moment(asked);
        self.renewed.fetch_max(at, Ordering::AcqRel);
        self.replicas.store(known.replicas, Ordering::Relaxed);
        // What was newer then is not served yet; how long that may last counts from the last time that nothing was.
        if self.registry_version() >= known.registry_version {
            self.up_to_date.fetch_max(at, Ordering::AcqRel);
        }
    }

    /// This version of the registry is served from now on.
    pub fn serve(&self, registry_version: i64) {
        self.registry_version.fetch_max(registry_version, Ordering::AcqRel);
    }

    /// The version of the registry that is served here.
    pub fn registry_version(&self) -> i64 {
        self.registry_version.load(Ordering::Acquire)
    }

    /// Whose it is.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// How many processes share the database, as last seen; at least this one.
    pub fn replicas(&self) -> usize {
        self.replicas.load(Ordering::Relaxed).max(1)
    }

    /// Whether this process may act.
    pub fn is_held(&self) -> bool {
        Instant::now() < self.end()
    }

    /// Returns when it is held no longer.
    pub async fn lapsed(&self) {
        while self.is_held() {
            tokio::time::sleep_until(self.end().into()).await;
        }
    }

    /// Whether it would be held if the newest version of the registry were served here.
    pub fn is_behind(&self) -> bool {
        !self.is_held() && Instant::now() < self.end_of(&self.renewed)
    }

    fn end(&self) -> Instant {
        self.end_of(&self.renewed).min(self.end_of(&self.up_to_date))
    }

    fn end_of(&self, last: &AtomicU64) -> Instant {
        self.since + Duration::from_millis(last.load(Ordering::Acquire)) + FENCED_AFTER
    }

    fn moment(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.since).as_millis()).unwrap_or(u64::MAX)
    }
}
