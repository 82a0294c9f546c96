//! The warm workers of one tool.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ScriptError;
use crate::spec::{Isolation, ScriptSpec, Settings};
use crate::warm::{Stamp, Warm};

/// One tool's workers, and how many of its calls may run.
pub(crate) struct Tool {
    /// Calls at the same time.
    pub(crate) parallel: usize,
    permits: Arc<Semaphore>,
    /// `None` once the tool was removed.
    idle: Mutex<Option<Vec<Warm>>>,
    busy: Arc<AtomicUsize>,
}

impl Tool {
    pub(crate) fn new(parallel: usize) -> Self {
        let parallel = parallel.max(1);
        Self {
            parallel,
            permits: Arc::new(Semaphore::new(parallel)),
            idle: Mutex::new(Some(Vec::new())),
            busy: Arc::default(),
        }
    }

    /// Waits until one more call may run.
    pub(crate) async fn enter(&self) -> Result<Busy, ScriptError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| ScriptError::Stopped)?;
        self.busy.fetch_add(1, Ordering::Relaxed);
        Ok(Busy { count: Arc::clone(&self.busy), _permit: permit })
    }

    /// An idle worker that fits. Those that no longer do are ended.
    pub(crate) fn take(&self, spec: &ScriptSpec, stamp: Stamp, user: Option<&str>) -> Option<Warm> {
        let mut idle = self.idle();
        let idle = idle.as_mut()?;
        while let Some(place) = idle.iter().rposition(|worker| worker.is_for(user)) {
            let mut worker = idle.remove(place);
            if worker.fits(spec, stamp) {
                return Some(worker);
            }
        }
        None
    }

    /// Keeps a worker for the next call, if it is worth keeping.
    pub(crate) fn put(&self, worker: Warm, spec: &ScriptSpec, settings: &Settings) {
        let room = match spec.isolation {
            Isolation::Shared => self.parallel,
            Isolation::User => self.parallel.max(settings.idle_user_workers),
            Isolation::Call => return,
        };
        if !worker.is_reusable(settings.calls_per_worker) {
            return;
        }
        let mut idle = self.idle();
        let Some(idle) = idle.as_mut() else { return };
        idle.push(worker);
        if idle.len() > room {
            // The one that was idle longest.
            idle.remove(0);
        }
    }

    /// Ends workers that were idle for that long.
    pub(crate) fn prune(&self, idle_timeout: Duration) {
        if let Some(idle) = self.idle().as_mut() {
            idle.retain(|worker| worker.idle_since.elapsed() < idle_timeout);
        }
    }

    /// Ends all idle workers, and keeps none from now on.
    pub(crate) fn close(&self) {
        self.idle().take();
    }

    /// Running calls and idle workers.
    pub(crate) fn count(&self) -> (usize, usize) {
        (self.busy.load(Ordering::Relaxed), self.idle().as_ref().map_or(0, Vec::len))
    }

    fn idle(&self) -> MutexGuard<'_, Option<Vec<Warm>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to run one call, while it lasts.
pub(crate) struct Busy {
    count: Arc<AtomicUsize>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}
