//! The bounded queue between callers and the store's threads.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::StoreError;
use crate::job::Job;

/// What a unit may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    /// One statement, which is a transaction by itself.
    Once,
}

pub(crate) struct Entry {
    pub job: Box<dyn Job>,
    pub access: Access,
}

/// First in, first out, for any number of consumers; full is an answer, not a wait.
pub(crate) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    capacity: usize,
}

struct State {
    entries: VecDeque<Entry>,
    closed: bool,
}

impl Queue {
    pub fn new(capacity: usize) -> Self {
        let state = State { entries: VecDeque::new(), closed: false };
        Self { state: Mutex::new(state), filled: Condvar::new(), capacity: capacity.max(1) }
    }

    pub fn push(&self, entry: Entry) -> Result<(), StoreError> {
        let mut state = self.lock();
        if state.closed {
            return Err(StoreError::Closed);
        }
        if state.entries.len() >= self.capacity {
            return Err(StoreError::Busy);
        }
        state.entries.push_back(entry);
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Waits for an entry. `None` once the queue is closed and empty.
    pub fn pop(&self) -> Option<Entry> {
        let mut state = self.lock();
        loop {
            if let Some(entry) = state.entries.pop_front() {
                return Some(entry);
            }
            if state.closed {
                return None;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// An entry that waits already.
    pub fn try_pop(&self) -> Option<Entry> {
        self.lock().entries.pop_front()
    }

    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Takes no more entries; those that wait are still served.
    pub fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
    }

    // No job runs under the lock, so a poisoned lock still guards a whole state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
