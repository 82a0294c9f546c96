//! The titles of many users, within a limit; the users least recently searched for are dropped first.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use toolroom_contract::ids::{TaskId, UserId};

use super::Verdict;
use super::score::Query;
use super::user_titles::{Change, UserTitles};

/// Titles by user, right as of a generation.
///
/// The store keeps a generation per user that every write to the user's tasks moves on, in its own transaction.
/// That number is what keeps the index honest, whatever the order in which threads get here, and even if another
/// process wrote:
///
/// 1. To find, read the user's generation and call [`rank`](Self::rank) with it. A verdict is never older.
/// 2. On `None`, read the generation and all titles in one transaction, call [`load`](Self::load), then rank
///    again. If `load` answers false, the titles do not fit: rank the ones just read with [`super::rank`].
/// 3. After a write commits, call [`apply`](Self::apply) with the generations before and after it. A change that
///    comes early waits for the one before it; one that never comes only costs a load.
#[derive(Debug)]
pub struct TitleIndex {
    max_titles: usize,
    users: Mutex<Users>,
}

#[derive(Debug, Default)]
struct Users {
    slots: HashMap<UserId, Slot>,
    titles: usize,
    clock: u64,
}

#[derive(Debug)]
struct Slot {
    held: Arc<Held>,
    titles: usize,
    used: u64,
}

#[derive(Debug)]
struct Held {
    user_titles: RwLock<UserTitles>,
    /// Written under the titles' lock, so that counting does not wait for a search. At least 1: a user without
    /// titles takes room too.
    titles: AtomicUsize,
}

impl TitleIndex {
    /// An index that holds at most this many titles, over all users.
    pub fn new(max_titles: usize) -> Self {
        Self { max_titles, users: Mutex::default() }
    }

    /// Ranks a user's titles; `None` if they are not in memory, or only as of an earlier generation.
    pub fn rank(&self, user: UserId, generation: i64, query: &Query, threshold: f64) -> Option<Verdict> {
        let held = self.users().touch(user)?;
        let user_titles = held.user_titles.read().unwrap_or_else(PoisonError::into_inner);
        (user_titles.generation() >= generation).then(|| user_titles.rank(query, threshold))
    }

    /// Takes all titles of a user as of a generation. What is in memory stays if it is as new.
    /// False if the user alone has more titles than the index may hold.
    pub fn load<T: AsRef<str>>(
        &self,
        user: UserId,
        generation: i64,
        titles: impl IntoIterator<Item = (TaskId, T)>,
    ) -> bool {
        let bounded = titles.into_iter().take(self.max_titles.saturating_add(1));
        let mut user_titles = UserTitles::new(generation, bounded);
        if user_titles.len() > self.max_titles {
            self.forget(user);
            return false;
        }
        let Some(held) = self.users().touch(user) else {
            let titles = AtomicUsize::new(user_titles.len().max(1));
            let held = Arc::new(Held { user_titles: RwLock::new(user_titles), titles });
            self.users().insert(user, held, self.max_titles);
            return true;
        };
        {
            let mut older = held.user_titles.write().unwrap_or_else(PoisonError::into_inner);
            if older.generation() >= user_titles.generation() {
                return true;
            }
            user_titles.inherit(&mut older);
            held.titles.store(user_titles.len().max(1), Ordering::Release);
            *older = user_titles;
        }
        self.users().recount(user, &held, self.max_titles);
        true
    }

    /// Applies what a committed write did. Of no effect if the user's titles are not in memory.
    pub fn apply(&self, user: UserId, before: i64, after: i64, changes: Vec<Change>) {
        let Some(held) = self.users().find(user) else { return };
        let applied = {
            let mut user_titles = held.user_titles.write().unwrap_or_else(PoisonError::into_inner);
            let applied = user_titles.apply(before, after, changes);
            held.titles.store(user_titles.len().max(1), Ordering::Release);
            applied
        };
        match applied {
            Ok(()) => self.users().recount(user, &held, self.max_titles),
            Err(_) => self.forget(user),
        }
    }

    /// Drops a user's titles; the next search loads them again.
    pub fn forget(&self, user: UserId) {
        self.users().remove(user);
    }

    /// How many titles are in memory, over all users; a user without any counts as one.
    pub fn held_titles(&self) -> usize {
        self.users().titles
    }

    fn users(&self) -> MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Users {
    fn find(&self, user: UserId) -> Option<Arc<Held>> {
        self.slots.get(&user).map(|slot| Arc::clone(&slot.held))
    }

    fn touch(&mut self, user: UserId) -> Option<Arc<Held>> {
        self.clock += 1;
        let slot = self.slots.get_mut(&user)?;
        slot.used = self.clock;
        Some(Arc::clone(&slot.held))
    }

    fn insert(&mut self, user: UserId, held: Arc<Held>, max_titles: usize) {
        self.remove(user);
        self.clock += 1;
        self.slots.insert(user, Slot { held: Arc::clone(&held), titles: 0, used: self.clock });
        self.recount(user, &held, max_titles);
    }

    fn recount(&mut self, user: UserId, held: &Arc<Held>, max_titles: usize) {
        let Some(slot) = self.slots.get_mut(&user).filter(|slot| Arc::ptr_eq(&slot.held, held)) else {
            return;
        };
        let titles = held.titles.load(Ordering::Acquire);
        self.titles = self.titles - slot.titles + titles;
        slot.titles = titles;
        while self.titles > max_titles {
            let others = self.slots.iter().filter(|&(&other, _)| other != user);
            let oldest = others.min_by_key(|(_, slot)| slot.used).map_or(user, |(&other, _)| other);
            self.remove(oldest);
        }
    }

    fn remove(&mut self, user: UserId) {
        if let Some(slot) = self.slots.remove(&user) {
            self.titles -= slot.titles;
        }
    }
}
