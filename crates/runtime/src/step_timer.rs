//! Where the time of a call goes, for the benchmark. When nobody measures, a mark is one read of a flag.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// A step, and the time up to its end.
type Step = (&'static str, Duration);

thread_local! {
    static MEASURING: Cell<bool> = const { Cell::new(false) };
    static STEPS: RefCell<(Option<Instant>, Vec<Step>)> = const { RefCell::new((None, Vec::new())) };
}

/// Begin to measure on this thread.
pub fn start() {
    STEPS.with_borrow_mut(|(last, steps)| {
        steps.clear();
        *last = Some(Instant::now());
    });
    MEASURING.set(true);
}

/// Stop, and give the time up to each mark since the one before.
pub fn stop() -> Vec<Step> {
    MEASURING.set(false);
    STEPS.with_borrow_mut(|(_, steps)| std::mem::take(steps))
}

/// A step has ended.
pub(crate) fn step(step: &'static str) {
    if MEASURING.get() {
        STEPS.with_borrow_mut(|(last, steps)| {
            let now = Instant::now();
            steps.push((step, now - last.replace(now).unwrap_or(now)));
        });
    }
}
