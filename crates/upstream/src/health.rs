//! When a server is tried again, and when it is given up for a while. One count for all calls to it, so that
//! an outage costs four attempts and not four for each caller.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

/// Waits before the second, third and fourth attempt; each is lengthened or shortened by up to a tenth.
const WAITS: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
/// The least time between two attempts at a server that was given up.
const LEAST_REST: Duration = Duration::from_secs(1);
/// The longest time that a server is left alone.
const LONGEST_REST: Duration = Duration::from_secs(60);
/// How long a server is left alone that was reached, and cannot be used.
const UNUSABLE_REST: Duration = Duration::from_secs(5);
/// A connection that lived this long was a good one.
const GOOD_LIFE: Duration = Duration::from_secs(60);

/// How a server is doing.
#[derive(Debug, Default)]
pub(crate) struct Health {
    /// Failures since something was last answered.
    failures: usize,
    /// Failures ever.
    total: u64,
    last_failure: Option<Instant>,
    /// No attempt before that.
    next: Option<Instant>,
}

/// What a call may do now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Go ahead.
    Open,
    /// Wait first.
    Wait(Instant),
    /// Do not try: it was tried often enough, and not long ago.
    Shut(Duration),
}

impl Health {
    /// To be given to [`Health::gate`]: what had failed when a call came.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn is_down(&self) -> bool {
        self.failures > WAITS.len()
    }

    /// What a call may do that came when so much had failed. While the first waits last, every call waits
    /// with them. After that, a call gets one fresh attempt, unless the last one is too recent.
    pub(crate) fn gate(&self, came_at: u64, now: Instant) -> Gate {
        let wait = self.next.map_or(Duration::ZERO, |next| next.saturating_duration_since(now));
        if self.is_down() && (self.total > came_at || wait > LEAST_REST) {
            return Gate::Shut(wait);
        }
        if wait.is_zero() { Gate::Open } else { Gate::Wait(now + wait) }
    }

    /// An attempt that began then has failed now. Those that ran side by side count as one. True if it counts.
    pub(crate) fn failed(&mut self, began: Instant, now: Instant) -> bool {
        if self.last_failure.is_some_and(|last| began <= last) {
            return false;
        }
        self.failures += 1;
        self.total += 1;
        self.last_failure = Some(now);
        let wait = match WAITS.get(self.failures - 1) {
            Some(wait) => varied(*wait),
            // A server that fails slowly holds callers up, so it is left alone for longer.
            None => ((now - began) * 4).clamp(LEAST_REST, LONGEST_REST),
        };
        self.next = Some(now + wait);
        true
    }

    /// The server was reached and cannot be used as it is. Trying again soon does not change that.
    pub(crate) fn unusable(&mut self, began: Instant, now: Instant) -> bool {
        let counts = self.failed(began, now);
        if counts {
            self.failures = WAITS.len() + 1;
            self.next = Some(now + UNUSABLE_REST);
        }
        counts
    }

    /// A connection was lost that had been made then.
    pub(crate) fn lost(&mut self, made: Instant, now: Instant) -> bool {
        if now - made > GOOD_LIFE {
            self.failures = 0;
        }
        self.failed(made, now)
    }

    /// A connection was made. Only an answer shows that it is worth something.
    pub(crate) fn connected(&mut self) {
        self.next = None;
    }

    /// The server answered.
    pub(crate) fn answered(&mut self) {
        self.failures = 0;
        self.next = None;
    }
}

/// How long a call waits before it is made again, after this many attempts.
pub(crate) fn wait(retries: usize) -> Duration {
    varied(WAITS[retries.min(WAITS.len() - 1)])
}

fn varied(wait: Duration) -> Duration {
    let random = RandomState::new().build_hasher().finish() % 201;
    wait.mul_f64(0.9 + random as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, seconds: f64) -> Instant {
        start + Duration::from_secs_f64(seconds)
    }

    #[test]
    fn four_failures_at_about_1_2_and_4_seconds_and_then_no_more() {
        let (mut health, mut now) = (Health::default(), Instant::now());
        let came_at = health.total();
        assert_eq!(health.gate(came_at, now), Gate::Open);
        for expected in [1.0, 2.0, 4.0] {
            assert!(health.failed(now, now));
            let Gate::Wait(until) = health.gate(came_at, now) else { panic!("{health:?}") };
            let wait = (until - now).as_secs_f64();
            assert!((expected * 0.9..=expected * 1.1).contains(&wait), "{wait} for {expected}");
            now = until;
            assert_eq!(health.gate(came_at, now), Gate::Open);
            now = at(now, 0.001);
        }
        assert!(health.failed(now, now));
        assert!(health.is_down());
        assert!(matches!(health.gate(came_at, now), Gate::Shut(_)), "who was there has had its attempts");
        let later = at(now, 1.5);
        assert_eq!(health.gate(health.total(), later), Gate::Open, "who comes later gets a fresh one");
        assert!(health.failed(later, at(later, 5.0)));
        assert!(
            matches!(health.gate(health.total(), at(later, 6.0)), Gate::Shut(_)),
            "a slow failure rests longer"
        );
        health.answered();
        assert_eq!(health.gate(0, later), Gate::Open);
    }

    #[test]
    fn failures_side_by_side_count_as_one() {
        let (mut health, start) = (Health::default(), Instant::now());
        assert!(health.failed(start, at(start, 1.0)));
        assert!(!health.failed(at(start, 0.5), at(start, 1.1)));
        assert!(!health.failed(at(start, 0.9), at(start, 3.0)));
        assert!(health.failed(at(start, 1.2), at(start, 1.3)));
        assert_eq!(health.total(), 2);
    }

    #[test]
    fn a_connection_that_lived_long_starts_the_count_anew() {
        let (mut health, start) = (Health::default(), Instant::now());
        for n in 0..3 {
            assert!(health.failed(at(start, f64::from(n) + 0.1), at(start, f64::from(n) + 0.2)));
        }
        health.connected();
        assert!(health.lost(at(start, 10.0), at(start, 100.0)));
        assert!(!health.is_down());
    }
}
