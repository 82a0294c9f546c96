//! The task tools: make, list, read, change, complete, delete, restore, find and batch the tasks of one user.
//!
//! One file per tool. A change of any kind goes through [`task_store::TaskStore::change`]: one transaction for the effect
//! and the idempotency record, then the index of titles and the caches are told, then the caller.
//!
//! The index of titles lives in this process. Where processes share a database, the generation that it is right as of is
//! in the database, moved on in the transaction of every change; the same number keys the answers that the runtime caches.

mod batch;
mod complete;
mod contract;
mod create;
mod dates;
mod delete;
mod find;
mod get;
mod hints;
mod list;
mod refusal;
mod restore;
mod task;
mod task_store;
mod title_hashes;
mod titles;
mod update;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use toolroom_contract::{Handler, ToolDefinition};
use toolroom_store::{Store, StoreError};

use task_store::TaskStore;

/// What can be set about the task tools.
#[derive(Clone, Debug)]
pub struct TaskSettings {
    /// How many days a deleted task can be restored; 0 removes it at once.
    pub keep_deleted_days: u32,
    /// How many titles are kept in memory for searches, over all users.
    pub max_titles: usize,
}

impl Default for TaskSettings {
    fn default() -> Self {
        Self { keep_deleted_days: 30, max_titles: 500_000 }
    }
}

impl TaskSettings {
    /// What was deleted at this time or later can be restored.
    fn kept_since(&self, now: Timestamp) -> Timestamp {
        let days = SignedDuration::from_hours(24 * i64::from(self.keep_deleted_days));
        now.checked_sub(days).unwrap_or(Timestamp::MIN)
    }
}

/// Every task tool with its contract, in the order in which their examples can be run.
pub fn tools(store: &Store, settings: TaskSettings) -> Vec<(ToolDefinition, Arc<dyn Handler>)> {
    let tasks = Arc::new(TaskStore::new(store.clone(), settings));
    vec![
        create::tool(&tasks),
        list::tool(&tasks),
        get::tool(&tasks),
        update::tool(&tasks),
        complete::tool(&tasks),
        find::tool(&tasks),
        batch::tool(&tasks),
        delete::tool(&tasks),
        restore::tool(&tasks),
    ]
}

/// Removes for good what by then was deleted for longer than the settings keep it, and says how many tasks that were.
/// To be called now and then.
pub async fn purge(store: &Store, settings: &TaskSettings, now: Timestamp) -> Result<u64, StoreError> {
    let deleted_until = settings.kept_since(now);
    store.write(move |unit| toolroom_store::tasks::purge(unit, deleted_until)).await
}
