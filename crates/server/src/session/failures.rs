//! Logins that failed, by address: after ten within a minute the rest of the minute is refused.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

const WINDOW: SignedDuration = SignedDuration::from_mins(1);
const MOST: u32 = 10;
/// Addresses that are remembered; with more, those of the same network cannot be told apart anyway.
const REMEMBERED: usize = 10_000;

#[derive(Default)]
pub(crate) struct Failures(Mutex<HashMap<IpAddr, Failed>>);

struct Failed {
    first: Timestamp,
    count: u32,
}

impl Failures {
    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, Failed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the address must wait before it may try again, if it must.
    pub(crate) fn wait(&self, address: IpAddr, now: Timestamp) -> Option<SignedDuration> {
        let failures = self.lock();
        let failed = failures.get(&address).filter(|failed| failed.count >= MOST)?;
        let left = (failed.first + WINDOW).duration_since(now);
        left.is_positive().then_some(left)
    }

    /// A login failed.
    pub(crate) fn note(&self, address: IpAddr, now: Timestamp) {
        let mut failures = self.lock();
        let is_over = |failed: &Failed| now.duration_since(failed.first) >= WINDOW;
        if failures.len() >= REMEMBERED {
            failures.retain(|_, failed| !is_over(failed));
        }
        if failures.len() >= REMEMBERED {
            failures.clear();
        }
        let failed = failures.entry(address).or_insert(Failed { first: now, count: 0 });
        if is_over(failed) {
            *failed = Failed { first: now, count: 0 };
        }
        failed.count += 1;
    }
}
