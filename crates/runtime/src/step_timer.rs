//! Where the time of a call goes, for the benchmark. When nobody measures, a mark is one read of a flag.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// A step, and the time up to its end.
type Lap = (&'static str, Duration);

thread_local! {
    static MEASURING: Cell<bool> = const { Cell::new(false) };
    static LAPS: RefCell<(Option<Instant>, Vec<Lap>)> = const { RefCell::new((None, Vec::new())) };
}

/// Begin to measure on this thread.
pub fn start() {
    LAPS.with_borrow_mut(|(last, step_timer)| {
        step_timer.clear();
        *last = Some(Instant::now());
    });
    MEASURING.set(true);
}

/// Stop, and give the time up to each mark since the one before.
pub fn stop() -> Vec<Lap> {
    MEASURING.set(false);
    LAPS.with_borrow_mut(|(_, step_timer)| std::mem::take(step_timer))
}

/// A step has ended.
pub(crate) fn step(step: &'static str) {
    if MEASURING.get() {
        LAPS.with_borrow_mut(|(last, step_timer)| {
            let now = Instant::now();
            step_timer.push((step, now - last.replace(now).unwrap_or(now)));
        });
    }
}
