//! The task book: the store with the index of titles, and the one way in which tasks are changed.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toolroom_contract::context::Claim;
use toolroom_contract::error::{ErrorClass, Outcome};
use toolroom_contract::handler::Reply;
use toolroom_contract::ids::{TaskId, UserId};
use toolroom_contract::{Answer, ErrorCode, HintsDraft, ToolContext, ToolError};
use toolroom_store::idempotency::{self, Finished, Record};
use toolroom_store::{Store, StoreError, Unit, tasks};

use super::titles::{TitleChange, Titles};
use super::{TaskSettings, refusal};

/// What all task tools work on.
pub(super) struct TaskBook {
    pub(super) store: Store,
    pub(super) titles: Arc<Titles>,
    pub(super) settings: TaskSettings,
}

/// On whose tasks a tool works, who makes the change, and when and where that is.
#[derive(Clone)]
pub(super) struct Author {
    pub user: UserId,
    /// As the history of a task names it.
    pub actor: Arc<str>,
    /// "Now" for dates in words.
    pub now: Timestamp,
    pub zone: TimeZone,
}

impl Author {
    /// Nobody's tasks are none: a context without a user reads as empty.
    pub(super) fn of(context: &ToolContext) -> Self {
        Self {
            user: context.user.as_ref().map_or(UserId(0), |user| user.id),
            actor: Arc::clone(&context.caller.user.key),
            now: context.timestamp,
            zone: context.time_zone.clone(),
        }
    }

    /// Whether there is someone who can have tasks.
    pub(super) fn is_somebody(&self) -> bool {
        self.user != UserId(0)
    }
}

/// What a change came to.
pub(super) struct Done<T> {
    pub data: T,
    pub hints: HintsDraft,
    pub titles: Vec<TitleChange>,
}

impl TaskBook {
    pub(super) fn new(store: Store, settings: TaskSettings) -> Self {
        let titles = Arc::new(Titles::new(settings.max_titles));
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
        let author = Author::of(context);
        if !author.is_somebody() {
            return Err(ToolError::new(ErrorCode::Unauthenticated, "Only a user can change tasks."));
        }
        let user = author.user;
        let claim = context.claim.clone();
        let committed = context.committed.clone();
        let pending = self.titles.begin(user);
        let outbox = pending.outbox();
        let work = move |unit: &mut Unit<'_>| {
            outbox.put(None);
            let done = effect(unit, &author).map_err(|error| earlier_or(unit, claim.as_deref(), error))?;
            if let Some(claim) = &claim {
                record(unit, claim, &done)?;
            }
            outbox.put(Some(done.titles));
            Ok(Reply::new(done.data, done.hints))
        };
        // The index first: a search that finds the cache empty must not see old titles.
        let told = move || {
            pending.committed();
            committed.run();
        };
        match self.store.write_then(&context.gate, work, told).await {
            Ok(reply) => Ok(reply),
            Err(Stop::Failed(error)) => {
                if error.outcome == Some(Outcome::Unknown) {
                    self.titles.lose_track(user);
                }
                Err(error)
            }
            Err(Stop::Earlier(earlier, claim)) => replay(&earlier, &claim),
        }
    }
}

/// Why a transaction was rolled back.
enum Stop {
    Failed(ToolError),
    /// Another call with the same idempotency key came first.
    Earlier(Box<Record>, Claim),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

fn record<T: Serialize>(unit: &mut Unit<'_>, claim: &Claim, done: &Done<T>) -> Result<(), Stop> {
    let text = Answer::new(&done.data).map(|answer| answer.with_hints(done.hints.clone()));
    let text =
        text.and_then(|answer| answer.to_record().map_err(ToolError::internal)).map_err(Stop::Failed)?;
    match idempotency::finish(unit, claim, &text)? {
        Finished::Recorded => Ok(()),
        Finished::Exists(record) => Err(Stop::Earlier(Box::new(record), claim.clone())),
    }
}

/// What reads as a conflict may be the effect of the same call, made before under this key.
fn earlier_or(unit: &mut Unit<'_>, claim: Option<&Claim>, error: ToolError) -> Stop {
    if error.code.class() == ErrorClass::Business
        && let Some(claim) = claim
        && let Ok(Some(record)) = idempotency::lookup(unit, claim.user, &claim.key)
    {
        return Stop::Earlier(Box::new(record), claim.clone());
    }
    Stop::Failed(error)
}

/// The answer of the call that came first.
fn replay<T: DeserializeOwned>(record: &Record, claim: &Claim) -> Result<Reply<T>, ToolError> {
    let answer = idempotency::earlier_answer(claim, record)?;
    let data = serde_json::from_value(answer.data).map_err(ToolError::internal)?;
    Ok(Reply::new(data, answer.hints))
}
