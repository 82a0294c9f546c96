//! Keeps the index of titles right after every write: which generation a user is at, and what is under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use toolroom_contract::ToolError;
use toolroom_contract::ids::{TaskId, UserId};
use toolroom_store::generations::{self, Generation};
use toolroom_store::{Store, StoreError, tasks};

use super::title_hashes::TitleHashes;
use crate::fuzzy::{self, Change, Prepared, Query, TitleIndex, Verdict};

/// The titles of all users, as searches see them.
pub(super) struct Titles {
    index: TitleIndex,
    alike: TitleHashes,
    max_titles: usize,
    /// Whether other processes change titles too.
    is_shared: bool,
    users: Mutex<HashMap<UserId, Writes>>,
}

/// What the permissions of the task tools name.
const RESOURCE: &str = "tasks";

/// By how much the clocks of processes that share a database may differ, and a change take, before a guess misses it.
const SKEW: SignedDuration = SignedDuration::from_mins(2);

/// What a write did to the title of one task.
#[derive(Clone, Debug)]
pub(super) struct TitleChange {
    pub id: TaskId,
    /// The version that the write made: of two changes that arrive in the wrong order, the newer stays.
    pub version: i64,
    /// `None`: the task is gone.
    pub title: Option<String>,
}

/// The writes of one user.
#[derive(Default)]
struct Writes {
    generation: i64,
    under_way: usize,
    /// The newest change of each task, kept while an older one may still arrive.
    newest: HashMap<TaskId, i64>,
    /// Whether this user has more titles than fit into memory.
    too_many: bool,
    /// What the generation stands for, where processes share the database.
    seen: Generation,
    /// Until when titles that others changed were looked for.
    looked: Timestamp,
}

impl Titles {
    pub(super) fn new(max_titles: usize) -> Self {
        Self {
            index: TitleIndex::new(max_titles),
            alike: TitleHashes::new(max_titles),
            max_titles,
            is_shared: false,
            users: Mutex::default(),
        }
    }

    /// The titles in a store, which other processes may share.
    pub(super) fn of(store: &Store, max_titles: usize) -> Self {
        Self { is_shared: store.lease().is_some(), ..Self::new(max_titles) }
    }

    /// Ranks the titles of a user; never older than the last write that was answered.
    pub(super) async fn rank(
        self: &Arc<Self>,
        store: &Store,
        user: UserId,
        query: Query,
        threshold: f64,
    ) -> Result<Verdict, ToolError> {
        if self.is_shared {
            Box::pin(self.look(store, user)).await?;
        }
        let generation = self.users().entry(user).or_default().generation;
        let held = if query.is_long() {
            // A long query against many titles would block the requests of others.
            let (this, asked) = (Arc::clone(self), query.clone());
            let ranked =
                tokio::task::spawn_blocking(move || this.index.rank(user, generation, &asked, threshold));
            ranked.await.map_err(ToolError::internal)?
        } else {
            self.index.rank(user, generation, &query, threshold)
        };
        match held {
            Some(verdict) => Ok(verdict),
            None => self.load_and_rank(store, user, query, threshold).await,
        }
    }

    /// Moves a user's generation on if another process has changed something since the last look.
    async fn look(&self, store: &Store, user: UserId) -> Result<(), ToolError> {
        let found = generations::read(store, user, vec![RESOURCE.to_owned()]).await?.generation;
        let mut users = self.users();
        let writes = users.entry(user).or_default();
        if found > writes.seen {
            writes.seen = found;
            writes.generation += 1;
        }
        Ok(())
    }

    /// Some tasks of a user that may have the same title, done or not; none if the user has too many.
    pub(super) async fn alike(
        self: &Arc<Self>,
        store: &Store,
        user: UserId,
        title: &str,
    ) -> Result<Vec<TaskId>, ToolError> {
        if let Some(candidates) = self.alike.candidates(user, title) {
            if !self.is_shared {
                return Ok(candidates);
            }
            Box::pin(self.catch_up(store, user)).await?;
            return Ok(self.alike.candidates(user, title).unwrap_or_default());
        }
        if self.users().entry(user).or_default().too_many {
            return Ok(Vec::new());
        }
        let this = Arc::clone(self);
        let read = store.read_much(move |unit| {
            this.alike.begin(user);
            this.users().entry(user).or_default().looked = unit.now - SKEW;
            let titles = tasks::titles(unit, user).inspect_err(|_| this.alike.forget(user))?;
            titles.iter().for_each(|title| this.alike.put(user, title.id, &title.title));
            Ok::<_, StoreError>(titles.len())
        });
        let many = read.await?;
        self.users().entry(user).or_default().too_many = many > self.max_titles;
        Ok(self.alike.candidates(user, title).unwrap_or_default())
    }

    /// Takes the titles that other processes have changed since the last look.
    async fn catch_up(self: &Arc<Self>, store: &Store, user: UserId) -> Result<(), ToolError> {
        let this = Arc::clone(self);
        let read = store.read(move |unit| {
            let (now, since) = (unit.now, this.users().entry(user).or_default().looked);
            for title in tasks::titles_since(unit, user, since)? {
                this.alike.put(user, title.id, &title.title);
            }
            this.users().entry(user).or_default().looked = now - SKEW;
            Ok::<_, StoreError>(())
        });
        Ok(read.await?)
    }

    async fn load_and_rank(
        self: &Arc<Self>,
        store: &Store,
        user: UserId,
        query: Query,
        threshold: f64,
    ) -> Result<Verdict, ToolError> {
        // Read before the titles: they may be newer than it says, never older.
        let generation = self.users().entry(user).or_default().generation;
        let this = Arc::clone(self);
        let ranked = store.read_much(move |unit| {
            let titles = tasks::titles(unit, user)?;
            this.index.load(user, generation, titles.iter().map(|title| (title.id, &title.title)));
            Ok::<_, StoreError>(this.index.rank(user, generation, &query, threshold).unwrap_or_else(|| {
                let prepared: Vec<_> =
                    titles.iter().map(|title| (title.id, Prepared::new(&title.title))).collect();
                fuzzy::rank(&query, threshold, prepared.iter().map(|(id, title)| (*id, title)))
            }))
        });
        Ok(ranked.await?)
    }

    /// A write to the tasks of a user is under way, until what this gives is dropped.
    pub(super) fn begin(self: &Arc<Self>, user: UserId) -> PendingWrite {
        self.users().entry(user).or_default().under_way += 1;
        PendingWrite { titles: Arc::clone(self), user, outbox: Outbox::default() }
    }

    /// Whether a write took effect is not known: what is in memory cannot be trusted.
    pub(super) fn lose_track(&self, user: UserId) {
        self.users().entry(user).or_default().generation += 1;
    }

    fn apply(&self, user: UserId, changes: Vec<TitleChange>) {
        if changes.is_empty() {
            return;
        }
        let mut users = self.users();
        let writes = users.entry(user).or_default();
        let mut fresh = Vec::with_capacity(changes.len());
        for change in changes {
            let newest = writes.newest.entry(change.id).or_default();
            if change.version <= *newest {
                continue;
            }
            *newest = change.version;
            fresh.push(match change.title {
                Some(title) => {
                    self.alike.put(user, change.id, &title);
                    Change::Put(change.id, title)
                }
                None => Change::Remove(change.id),
            });
        }
        // Others may have changed the same titles since: the next search finds the generation moved, and loads them.
        if self.is_shared {
            return;
        }
        let before = writes.generation;
        writes.generation += 1;
        // The index puts changes in the order of their generations; searches of others need not be waited for.
        drop(users);
        self.index.apply(user, before, before + 1, fresh);
    }

    fn users(&self) -> MutexGuard<'_, HashMap<UserId, Writes>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a write is about to do to titles, filled by the transaction.
#[derive(Clone, Default)]
pub(super) struct Outbox(Arc<Mutex<Option<Vec<TitleChange>>>>);

impl Outbox {
    /// Replaces what an earlier run of the same transaction had put here.
    pub(super) fn put(&self, changes: Option<Vec<TitleChange>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = changes;
    }

    fn take(&self) -> Option<Vec<TitleChange>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A write under way.
pub(super) struct PendingWrite {
    titles: Arc<Titles>,
    user: UserId,
    outbox: Outbox,
}

impl PendingWrite {
    pub(super) fn outbox(&self) -> Outbox {
        self.outbox.clone()
    }

    /// The write is durable and visible.
    pub(super) fn committed(self) {
        self.titles.apply(self.user, self.outbox.take().unwrap_or_default());
    }
}

impl Drop for PendingWrite {
    fn drop(&mut self) {
        // It wanted to commit, and nobody said that it did: it may have.
        if self.outbox.take().is_some_and(|changes| !changes.is_empty()) {
            self.titles.lose_track(self.user);
        }
        let mut users = self.titles.users();
        let writes = users.entry(self.user).or_default();
        writes.under_way -= 1;
        if writes.under_way == 0 {
            writes.newest = HashMap::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: UserId = UserId(1);

    fn titles() -> Arc<Titles> {
        let titles = Arc::new(Titles::new(100));
        titles.index.load(USER, 0, [(TaskId(1), "start")]);
        titles
    }

    /// A write that has run, and whose fate is not yet known.
    fn write(titles: &Arc<Titles>, version: i64, title: Option<&str>) -> PendingWrite {
        let pending = titles.begin(USER);
        let change = TitleChange { id: TaskId(1), version, title: title.map(str::to_owned) };
        pending.outbox().put(Some(vec![change]));
        pending
    }

    fn held(titles: &Titles, title: &str) -> Option<Verdict> {
        let generation = titles.users().entry(USER).or_default().generation;
        titles.index.rank(USER, generation, &Query::new(title), 1.0)
    }

    #[test]
    fn of_two_writes_told_in_the_wrong_order_the_newer_stays() {
        let titles = titles();
        let (older, newer) = (write(&titles, 2, Some("old")), write(&titles, 3, Some("new")));
        newer.committed();
        older.committed();
        assert_eq!(held(&titles, "old"), Some(Verdict::None));
        assert_eq!(held(&titles, "new"), Some(Verdict::Single(TaskId(1), 1.0)));
        let (older, gone) = (write(&titles, 4, Some("late")), write(&titles, 5, None));
        gone.committed();
        older.committed();
        assert_eq!(held(&titles, "late"), Some(Verdict::None));
    }

    #[test]
    fn a_write_whose_fate_is_unknown_makes_the_titles_untrusted() {
        let titles = titles();
        drop(write(&titles, 2, Some("perhaps")));
        assert_eq!(held(&titles, "start"), None);
    }

    #[test]
    fn a_write_that_was_rolled_back_leaves_the_titles_and_nothing_behind() {
        let titles = titles();
        let pending = write(&titles, 2, Some("never"));
        pending.outbox().put(None);
        drop(pending);
        assert_eq!(held(&titles, "start"), Some(Verdict::Single(TaskId(1), 1.0)));
        write(&titles, 2, Some("then")).committed();
        let users = titles.users();
        let writes = users.get(&USER);
        assert!(writes.is_some_and(|writes| writes.under_way == 0 && writes.newest.is_empty()));
    }
}
