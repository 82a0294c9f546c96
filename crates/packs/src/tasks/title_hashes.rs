//! Which tasks may have the same title: a guess by hash, in no time whatever the number of tasks.
//!
//! Tasks that were renamed or deleted stay in it, and hashes may collide: callers must check the tasks themselves.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolroom_contract::ids::{TaskId, UserId};
use unicode_normalization::UnicodeNormalization;

/// Candidates that are worth a look.
const MOST_CANDIDATES: usize = 5;

pub(super) struct TitleHashes {
    max_titles: usize,
    hasher: RandomState,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    users: HashMap<UserId, BTreeSet<(u64, TaskId)>>,
    titles: usize,
}

impl TitleHashes {
    /// Holds at most about this many titles, over all users.
    pub(super) fn new(max_titles: usize) -> Self {
        Self { max_titles, hasher: RandomState::new(), held: Mutex::default() }
    }

    /// The newest candidates; `None` if the user's titles are not in memory.
    pub(super) fn candidates(&self, user: UserId, title: &str) -> Option<Vec<TaskId>> {
        let hash = self.hash(title);
        let held = self.held();
        let titles = held.users.get(&user)?;
        let same = titles.range((hash, TaskId(i64::MIN))..=(hash, TaskId(i64::MAX)));
        Some(same.rev().take(MOST_CANDIDATES).map(|(_, id)| *id).collect())
    }

    /// Takes part in what is to come for this user; call it before all titles are read.
    pub(super) fn begin(&self, user: UserId) {
        self.held().users.entry(user).or_default();
    }

    /// Takes a title, if those of the user are in memory.
    pub(super) fn put(&self, user: UserId, id: TaskId, title: &str) {
        let hash = self.hash(title);
        let mut held = self.held();
        let Some(titles) = held.users.get_mut(&user) else { return };
        if titles.insert((hash, id)) {
            held.titles += 1;
        }
        if held.titles > self.max_titles {
            *held = Held::default();
        }
    }

    /// Drops the titles of a user.
    pub(super) fn forget(&self, user: UserId) {
        let mut held = self.held();
        let gone = held.users.remove(&user).map_or(0, |titles| titles.len());
        held.titles -= gone;
    }

    /// Equal for titles whose letters and digits are, marks and ignoring case.
    fn hash(&self, title: &str) -> u64 {
        let key: String = if title.is_ascii() {
            // The same as below, without the tables.
            let letters = title.chars().filter(char::is_ascii_alphanumeric);
            letters.map(|c| c.to_ascii_lowercase()).collect()
        } else {
            let folded = title.nfkd().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase);
            folded.flat_map(char::to_lowercase).collect()
        };
        self.hasher.hash_one(if key.is_empty() { title } else { &key })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
