//! Counts the steps that a parser of untrusted text takes, and stops one that takes too many.
//!
//! A reader calls [`step`] in its inner loops. [`within`] gives a reading a budget: work, not time, so that the same
//! text always has the same outcome. [`counted`] says how many steps a reading took, which tests compare with the
//! length of the text. Counter and budget belong to the thread: a reading stays on the thread that it began on.

#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
pub mod sse;

use std::cell::Cell;

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
    static LIMIT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// A reading took more steps than it may. What it came to is not known and must not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent;

/// Counts steps: one for each thing that is looked at.
#[inline]
pub fn step(count: usize) {
    TAKEN.with(|taken| taken.set(taken.get().saturating_add(count as u64)));
}

/// Whether the budget is used up. A reader that asks may end early; its outcome is thrown away in any case.
#[inline]
pub fn is_spent() -> bool {
    TAKEN.with(Cell::get) > LIMIT.with(Cell::get)
}

/// Reads with a budget of steps. Within another reading the smaller of the two budgets counts.
pub fn within<T>(budget: u64, read: impl FnOnce() -> T) -> Result<T, Spent> {
    let outer = LIMIT.with(Cell::get);
    let _restored = Restored(outer);
    LIMIT.with(|limit| limit.set(outer.min(TAKEN.with(Cell::get).saturating_add(budget))));
    let outcome = read();
    if is_spent() { Err(Spent) } else { Ok(outcome) }
}

/// Reads, and says how many steps it took.
pub fn counted<T>(read: impl FnOnce() -> T) -> (T, u64) {
    let before = TAKEN.with(Cell::get);
    let outcome = read();
    (outcome, TAKEN.with(Cell::get) - before)
}

/// Puts the outer budget back, after a panic too.
struct Restored(u64);

impl Drop for Restored {
    fn drop(&mut self) {
        LIMIT.with(|limit| limit.set(self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::{Spent, counted, is_spent, step, within};

    #[test]
    fn steps_are_counted() {
        let ((), taken) = counted(|| (0..10).for_each(|_| step(3)));
        assert_eq!(taken, 30);
    }

    #[test]
    fn a_reading_over_its_budget_has_no_outcome_and_the_next_one_has() {
        assert_eq!(within(5, || step(6)), Err(Spent));
        assert!(!is_spent());
        assert_eq!(within(5, || step(5)), Ok(()));
    }

    #[test]
    fn a_budget_within_a_budget_cannot_exceed_it() {
        let outcome = within(10, || {
            let inner = within(100, || step(50));
            (inner, is_spent())
        });
        assert_eq!(outcome, Err(Spent));
        assert_eq!(within(10, || within(100, || step(9))), Ok(Ok(())));
    }

    #[test]
    fn a_panic_leaves_no_budget_behind() {
        let caught = std::panic::catch_unwind(|| within(1, || -> () { panic!("in the reader") }));
        assert!(caught.is_err());
        step(10);
        assert!(!is_spent());
    }
}
