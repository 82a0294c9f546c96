//! Deadlines by a clock that never steps: a request that has expired once stays so, whatever the clock says later.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use toolroom_contract::ids::PendingId;

/// Of the requests that this process opened, or saw expired.
static DEADLINES: LazyLock<Mutex<HashMap<PendingId, Instant>>> = LazyLock::new(Mutex::default);

/// How long a deadline that has passed is remembered: the store is told about it long before.
const REMEMBERED: Duration = Duration::from_hours(48);

/// A request cannot come from later than this: the clock has stepped back behind the time at which it was opened.
const AHEAD: SignedDuration = SignedDuration::from_mins(5);

/// A request was opened that expires then.
pub(super) fn note(id: PendingId, now: Timestamp, expires_at: Timestamp) {
    let stands = Duration::try_from(expires_at.duration_since(now)).unwrap_or_default();
    let now = Instant::now();
    let mut deadlines = deadlines();
    if deadlines.len() % 1024 == 1023 {
        deadlines.retain(|_, deadline| now.saturating_duration_since(*deadline) < REMEMBERED);
    }
    if let Some(deadline) = now.checked_add(stands) {
        deadlines.insert(id, deadline);
    }
}

/// Whether a request that is not settled has expired, by any of the clocks.
pub(super) fn passed(id: PendingId, created_at: Timestamp, expires_at: Timestamp, now: Timestamp) -> bool {
    let passed = expires_at <= now
        || created_at.duration_since(now) > AHEAD
        || deadlines().get(&id).is_some_and(|deadline| *deadline <= Instant::now());
    if passed {
        deadlines()
            .entry(id)
            .and_modify(|deadline| *deadline = Instant::now().min(*deadline))
            .or_insert_with(Instant::now);
    }
    passed
}

/// The requests whose deadline has passed.
pub(super) fn all_passed() -> Vec<PendingId> {
    let now = Instant::now();
    deadlines().iter().filter(|(_, deadline)| **deadline <= now).map(|(id, _)| *id).collect()
}

fn deadlines() -> MutexGuard<'static, HashMap<PendingId, Instant>> {
    DEADLINES.lock().unwrap_or_else(PoisonError::into_inner)
}
