//! Generations: every mutation moves its resource on, so that what was cached before is never found again.
//!
//! One process has a fixed table of counters, picked by hash. Two resources that share a counter cost each other a cache
//! miss now and then, never a stale answer; memory is bounded and no lock is taken. Processes that share a database have
//! them there ([`toolroom_store::generations`]): native changes move them in their transaction, all others are marked
//! before they run and move them afterwards.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolroom_contract::ToolError;
use toolroom_contract::confidence::Source;
use toolroom_contract::context::{CommitHook, Moved};
use toolroom_contract::ids::UserId;
use toolroom_store::{Store, generations};

use crate::catalogue::Tool;

/// Where generations are kept.
pub enum Generations {
    /// In this process, which is the only one.
    Here(Arc<Counters>),
    /// In the database that processes share.
    Shared(Store),
}

impl Generations {
    /// In the database, if others share it.
    pub fn new(store: &Store) -> Self {
        match store.lease() {
            Some(_) => Self::Shared(store.clone()),
            None => Self::Here(Arc::default()),
        }
    }

    /// Moves the resources of a mutation on, so that nothing cached before it is found again.
    pub(crate) fn commit_hook(&self, tool: &Arc<Tool>, user: UserId) -> CommitHook {
        match self {
            Self::Here(counters) => {
                let (counters, tool) = (Arc::clone(counters), Arc::clone(tool));
                CommitHook::new(move || counters.advance_all(&tool, user))
            }
            Self::Shared(_) if tool.commits_by_gate() => {
                CommitHook::within(Moved { owner: user, resources: tool.resources.clone() })
            }
            Self::Shared(_) => CommitHook::default(),
        }
    }

    /// A mutation is about to run that moves nothing in a transaction of its own: while what this gives is there, and
    /// for the time that the tool may take, no process keeps an answer that it might change.
    pub(crate) async fn begin_change(
        &self,
        tool: &Tool,
        id: String,
    ) -> Result<Option<OpenChange>, ToolError> {
        let Self::Shared(store) = self else { return Ok(None) };
        if tool.policy.read_only || tool.commits_by_gate() || tool.resources.is_empty() {
            return Ok(None);
        }
        let change = OpenChange { store: store.clone(), id, resources: tool.resources.clone().into() };
        let (id, resources, most) =
            (change.id.clone(), Arc::clone(&change.resources), tool.policy.timeout + SLACK);
        store.once(move |unit| generations::begin_change(unit, &id, &resources, most)).await?;
        Ok(Some(change))
    }
}

/// Appends the generations of what a tool reads for a user to a key. `false`: its answer must not be kept now.
pub(crate) async fn append_shared(store: &Store, tool: &Tool, user: UserId, key: &mut Vec<u8>) -> bool {
    // If the database is away, nothing is kept, and the tool itself finds out whether it needs it.
    let Ok(look) = generations::read(store, user, tool.resources.clone()).await else { return false };
    key.extend_from_slice(&look.generation.to_bytes());
    !look.is_busy
}

/// How much longer than its timeout a call may seem to run by other clocks.
const SLACK: Duration = Duration::from_secs(10);

/// A change that other processes know of.
pub(crate) struct OpenChange {
    store: Store,
    id: String,
    resources: Arc<[String]>,
}

impl Drop for OpenChange {
    /// Nobody has to wait for it: until it is done, no answer is kept.
    fn drop(&mut self) {
        let (id, resources) = (std::mem::take(&mut self.id), Arc::clone(&self.resources));
        self.store.once_unheard(move |unit| generations::end_change(unit, &id, &resources));
    }
}

/// The counters of one process.
pub struct Counters {
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

impl Counters {
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

    /// Appends the generations of what a tool reads for a user to a key.
    pub(crate) fn append(&self, tool: &Tool, user: UserId, key: &mut Vec<u8>) {
        for resource in &tool.resources {
            key.extend_from_slice(&self.read(Owner::User(user), resource).to_le_bytes());
            key.extend_from_slice(&self.read(Owner::Everybody, resource).to_le_bytes());
        }
    }

    fn advance_all(&self, tool: &Tool, user: UserId) {
        let owner = match tool.executor.source() {
            Source::Native => Owner::User(user),
            _ => Owner::Everybody,
        };
        tool.resources.iter().for_each(|resource| self.advance(owner, resource));
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self::new()
    }
}
