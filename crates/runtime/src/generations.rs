//! Generations: every mutation moves its resource on, so that what was cached before is never found again.
//!
//! A fixed table of counters, picked by hash. Two resources that share a counter cost each other a cache
//! miss now and then, never a stale answer; memory is bounded and no lock is taken.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use toolroom_contract::ids::UserId;

/// The counters.
pub struct Generations {
    counters: Box<[AtomicU64]>,
    hasher: RandomState,
}

/// Whose state a resource is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// One user's.
    User(UserId),
    /// Everybody's: what scripts and other servers change is not known to be one user's.
    Everybody,
}

const COUNTERS: usize = 1 << 14;

impl Generations {
    /// All at zero.
    pub fn new() -> Self {
        Self { counters: (0..COUNTERS).map(|_| AtomicU64::new(0)).collect(), hasher: RandomState::new() }
    }

    fn counter(&self, owner: Owner, resource: &str) -> &AtomicU64 {
        let hash = self.hasher.hash_one((owner, resource)) as usize;
        &self.counters[hash % COUNTERS]
    }

    /// The generation of an owner's resource.
    pub fn read(&self, owner: Owner, resource: &str) -> u64 {
        self.counter(owner, resource).load(Ordering::Acquire)
    }

    /// A mutation has become visible.
    pub fn advance(&self, owner: Owner, resource: &str) {
        self.counter(owner, resource).fetch_add(1, Ordering::AcqRel);
    }
}

impl Default for Generations {
    fn default() -> Self {
        Self::new()
    }
}
