//! The time, so that tests can set it.

use std::sync::LazyLock;
use std::time::Instant;

use jiff::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Milliseconds since some moment, for what must not notice that somebody sets the clock.
    fn steady_ms(&self) -> u64 {
        self.now().as_millisecond().max(0).unsigned_abs()
    }
}

/// The machine's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn steady_ms(&self) -> u64 {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed().as_millis() as u64
    }
}
