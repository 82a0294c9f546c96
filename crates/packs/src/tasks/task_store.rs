//! The tasks: the store with the index of titles, and the one way in which tasks are changed.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toolroom_contract::error::Outcome;
use toolroom_contract::handler::Reply;
use toolroom_contract::ids::{TaskId, UserId};
use toolroom_contract::{HintsDraft, ToolContext, ToolError};
use toolroom_store::{Store, StoreError, Unit, tasks};

use super::titles::{TitleChange, Titles};
use super::{TaskSettings, refusal};
use crate::change;
pub(super) use crate::change::Author;

/// What all task tools work on.
pub(super) struct TaskStore {
    pub(super) store: Store,
    pub(super) titles: Arc<Titles>,
    pub(super) settings: TaskSettings,
}

/// What a change came to.
pub(super) struct Done<T> {
    pub data: T,
    pub hints: HintsDraft,
    pub titles: Vec<TitleChange>,
}

impl TaskStore {
    pub(super) fn new(store: Store, settings: TaskSettings) -> Self {
        let titles = Arc::new(Titles::of(&store, settings.max_titles));
        Self { store, titles, settings }
    }

    /// Refuses what a change of that task would be refused for.
    pub(super) async fn rehearse(
        &self,
        author: &Author,
        id: i64,
        expected_version: Option<i64>,
    ) -> Result<(), ToolError> {
        let user = author.user;
        let read = self.store.read(move |unit| tasks::get(unit, user, TaskId(id)));
        let found = read.await.map_err(|error: StoreError| ToolError::from(error))?;
        let task = found.ok_or_else(refusal::not_found)?;
        match expected_version {
            Some(expected) if expected != task.version => Err(refusal::version_conflict(&task, expected)),
            _ => Ok(()),
        }
    }

    /// Makes a change: the effect and the record of its idempotency key in one transaction, which may run more
    /// than once; then the index of titles, then the caches are told, even if the caller is gone by then.
    pub(super) async fn change<T, F>(
        &self,
        context: &ToolContext,
        mut effect: F,
    ) -> Result<Reply<T>, ToolError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: FnMut(&mut Unit<'_>, &Author) -> Result<Done<T>, ToolError> + Send + 'static,
    {
        let user = context.user.as_ref().map_or(UserId(0), |user| user.id);
        let pending = self.titles.begin(user);
        let outbox = pending.outbox();
        let work = move |unit: &mut Unit<'_>, author: &Author| {
            outbox.put(None);
            let done = effect(unit, author)?;
            outbox.put(Some(done.titles));
            Ok(Reply::new(done.data, done.hints))
        };
        // The index before the caches: a search that finds the cache empty must not see old titles.
        let made = change::change(&self.store, context, work, move || pending.committed()).await;
        if made.as_ref().is_err_and(|error| error.outcome == Some(Outcome::Unknown)) {
            self.titles.lose_track(user);
        }
        made
    }
}
