//! Whether the database was found to be damaged. A unit meets damage where it reads a bad page, and others may go on
//! well beside it: so whoever asks whether the store is ready must be told of what others have met.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::StoreError;

/// How often the whole database is checked while it is known to be damaged.
const BETWEEN_CHECKS: Duration = Duration::from_secs(60);

/// How often the file is looked at past what is in memory. Anybody may ask whether the store is ready.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct Damage {
    met: AtomicBool,
    checked: Mutex<Option<Instant>>,
    looked: Mutex<Option<Instant>>,
}

impl Damage {
    /// A unit ended with this.
    pub fn note(&self, error: &StoreError) {
        if error.is_damage() && !self.met.swap(true, Ordering::Relaxed) {
            tracing::error!(%error, "the database is damaged; restore it from a backup");
        }
    }

    pub fn is_met(&self) -> bool {
        self.met.load(Ordering::Relaxed)
    }

    /// A check of the whole database found nothing wrong.
    pub fn clear(&self) {
        self.met.store(false, Ordering::Relaxed);
    }

    /// Whether the whole database is to be checked again; `true` to one caller in a while.
    pub fn is_check_due(&self) -> bool {
        is_due(&self.checked, BETWEEN_CHECKS)
    }

    /// The same for a look at the file itself.
    pub fn is_look_due(&self) -> bool {
        is_due(&self.looked, BETWEEN_LOOKS)
    }
}

fn is_due(last: &Mutex<Option<Instant>>, between: Duration) -> bool {
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    let due = last.is_none_or(|at| at.elapsed() >= between);
    if due {
        *last = Some(Instant::now());
    }
    due
}
