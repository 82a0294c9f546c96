//! Whether the effect of a call may still become durable. A call and the store agree on it here, so that what
//! the caller is told and what happens are the same: what was not committed by the deadline never is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

/// Passed by every commit of a call. Without a deadline it is always open.
#[derive(Clone, Default)]
pub struct CommitGate(Option<Arc<Gate>>);

struct Gate {
    deadline: Instant,
    state: AtomicU8,
}

const IN_FLIGHT: u8 = 1;
const COMMITTED: u8 = 2;
const CLOSED: u8 = 4;

/// What has become of the effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing was committed.
    None,
    /// A commit was under way, and its end is not known.
    InFlight,
    /// It is durable.
    Committed,
}

impl CommitGate {
    /// A gate that lets no commit begin after this time.
    pub fn until(deadline: Instant) -> Self {
        Self(Some(Arc::new(Gate { deadline, state: AtomicU8::new(0) })))
    }

    /// When it closes by itself.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.as_ref().map(|gate| gate.deadline)
    }

    /// Whether a commit may still begin.
    pub fn is_open(&self) -> bool {
        self.0.as_ref().is_none_or(|gate| {
            gate.state.load(Ordering::Acquire) & CLOSED == 0 && Instant::now() < gate.deadline
        })
    }

    /// The store begins to commit. `false`: it is too late, and the effect must be rolled back.
    #[must_use]
    pub fn enter(&self) -> bool {
        let Some(gate) = &self.0 else { return true };
        if Instant::now() >= gate.deadline {
            gate.state.fetch_or(CLOSED, Ordering::AcqRel);
            return false;
        }
        let enter = |state: u8| (state & CLOSED == 0).then_some(state | IN_FLIGHT);
        gate.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, enter).is_ok()
    }

    /// The store knows how the commit ended. A commit with an unknown end stays.
    pub fn leave(&self, committed: bool) {
        let Some(gate) = &self.0 else { return };
        if committed {
            gate.state.fetch_or(COMMITTED, Ordering::AcqRel);
        }
        gate.state.fetch_and(!IN_FLIGHT, Ordering::AcqRel);
    }

    /// The caller waits no longer: no commit begins from now on. Says what has become of the effect.
    pub fn close(&self) -> Effect {
        self.0.as_ref().map_or(Effect::InFlight, |gate| effect(gate.state.fetch_or(CLOSED, Ordering::AcqRel)))
    }

    /// What has become of the effect so far.
    pub fn effect(&self) -> Effect {
        self.0.as_ref().map_or(Effect::InFlight, |gate| effect(gate.state.load(Ordering::Acquire)))
    }
}

fn effect(state: u8) -> Effect {
    if state & IN_FLIGHT != 0 {
        Effect::InFlight
    } else if state & COMMITTED != 0 {
        Effect::Committed
    } else {
        Effect::None
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_closed_gate_lets_no_commit_begin() {
        let gate = CommitGate::until(Instant::now() + Duration::from_secs(60));
        assert_eq!(gate.close(), Effect::None);
        assert!(!gate.enter() && !gate.is_open());
        assert_eq!(gate.effect(), Effect::None);
    }

    #[test]
    fn the_deadline_closes_it() {
        let gate = CommitGate::until(Instant::now());
        assert!(!gate.is_open() && !gate.enter());
        assert_eq!(gate.close(), Effect::None);
    }

    #[test]
    fn a_commit_that_has_begun_is_told_as_such() {
        let gate = CommitGate::until(Instant::now() + Duration::from_secs(60));
        assert!(gate.enter());
        assert_eq!(gate.close(), Effect::InFlight);
        gate.leave(true);
        assert_eq!(gate.effect(), Effect::Committed);
    }

    #[test]
    fn a_commit_that_was_called_back_cannot_begin_again_once_closed() {
        let gate = CommitGate::until(Instant::now() + Duration::from_secs(60));
        assert!(gate.enter());
        assert_eq!(gate.close(), Effect::InFlight);
        gate.leave(false);
        assert!(!gate.enter());
        assert_eq!(gate.effect(), Effect::None);
    }
}
