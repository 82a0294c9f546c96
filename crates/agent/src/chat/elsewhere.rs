//! Runs at other processes that share the database: one follows them by their row, and ends them by a note that they find.

use std::sync::{Arc, Weak};
use std::time::Duration;

use toolroom_contract::Principal;
use toolroom_contract::ids::{ChatRunId, ConversationId, RunId, UserId};
use toolroom_store::conversations::runs::{self, Status};
use toolroom_store::parcels::{self, Kind};
use toolroom_store::{StoreError, Unit, bell, replicas};

use super::driver::Stored;
use super::{Answer, Inner, RunHandle};
use crate::log::Log;

/// Rung for the process that has the run.
const CANCELLED: &str = "chat-cancelled";

/// A note that nobody finds is about a run that is over.
const NOTE_LIFE: Duration = Duration::from_secs(3600);

/// A run that another process is at work on.
struct Elsewhere {
    run: ChatRunId,
    user: UserId,
    conversation: Option<ConversationId>,
    profile: String,
    /// The process.
    by: RunId,
}

impl Inner {
    /// A run at another process. Nothing is heard of it but its answer.
    pub(super) async fn follow_elsewhere(
        self: &Arc<Self>,
        record: runs::Run,
    ) -> Result<Option<RunHandle>, StoreError> {
        let Some(there) = self.elsewhere(record).await? else { return Ok(None) };
        let log = Log::new(there.run);
        let handle = RunHandle {
            run: there.run,
            conversation: there.conversation,
            profile: there.profile.clone(),
            log: Arc::clone(&log),
            after: 0,
        };
        tokio::spawn(await_answer(Arc::clone(self), there, Arc::downgrade(&log)));
        Ok(Some(handle))
    }

    /// Leaves a note that a run at another process shall end; `false` if there is none that the caller may end.
    pub(super) async fn cancel_elsewhere(
        &self,
        who: &Principal,
        record: Option<runs::Run>,
    ) -> Result<bool, StoreError> {
        let Some(record) = record.filter(|record| record.user == who.user.id) else { return Ok(false) };
        let Some(there) = self.elsewhere(record).await? else { return Ok(false) };
        if !who.may_use_profile(&there.profile) {
            return Ok(false);
        }
        let run = there.run.to_string();
        let write = move |unit: &mut Unit<'_>| {
            parcels::use_up(unit, Kind::Cancelled, &run, "", NOTE_LIFE)?;
            bell::ring(unit, CANCELLED, &run)
        };
        self.runtime.store.write(write).await.map(|()| true)
    }

    /// Returns when somebody at another process wants this run to end.
    pub(super) async fn cancelled_elsewhere(&self, run: ChatRunId) {
        let store = &self.runtime.store;
        if store.lease().is_none() {
            return std::future::pending().await;
        }
        let mut rope = store.subscribe(CANCELLED, &run.to_string());
        loop {
            rope.rung().await;
            let id = run.to_string();
            let note = store.read(move |unit| parcels::get(unit, Kind::Cancelled, &id)).await;
            if let Ok::<_, StoreError>(Some(_)) = note {
                return;
            }
        }
    }

    /// This process, where others share the database with it.
    pub(super) fn process(&self) -> Option<RunId> {
        self.runtime.store.lease().map(|lease| lease.run())
    }

    async fn elsewhere(&self, record: runs::Run) -> Result<Option<Elsewhere>, StoreError> {
        let store = &self.runtime.store;
        let Some(here) = self.process().filter(|_| record.status == Status::Running) else { return Ok(None) };
        let Ok(Stored { profile, by: Some(by), .. }) = serde_json::from_str(&record.state) else {
            return Ok(None);
        };
        if by == here || !store.read(move |unit| replicas::is_alive(unit, by)).await? {
            return Ok(None);
        }
        let runs::Run { id, user, conversation, .. } = record;
        Ok(Some(Elsewhere { run: id, user, conversation, profile, by }))
    }
}

/// Looks for the answer of a run for as long as somebody waits for it. The end of a run does not ring: few are followed
/// from elsewhere, and a ring costs all of them.
async fn await_answer(inner: Arc<Inner>, there: Elsewhere, log: Weak<Log>) {
    let Elsewhere { run, user, by, .. } = there;
    loop {
        // In this order: what a process has not written before it is gone, it never will.
        let look =
            move |unit: &mut Unit<'_>| Ok((replicas::is_alive(unit, by)?, runs::get(unit, user, run)?));
        let found: Result<_, StoreError> = inner.runtime.store.read(look).await;
        let Some(log) = log.upgrade() else { return };
        match found {
            Ok((is_alive, record)) => {
                let state = record.and_then(|record| serde_json::from_str::<Stored>(&record.state).ok());
                if let Some(answer) = state.and_then(|state| state.answer) {
                    return log.end(answer);
                }
                if !is_alive {
                    let response = GONE.to_owned();
                    let now = inner.runtime.clock.now();
                    return log.end(Answer { response, ..Answer::new(run, there.conversation, now) });
                }
            }
            Err(error) => tracing::debug!(%error, %run, "whether a run has its answer cannot be read now"),
        }
        drop(log);
        tokio::time::sleep(bell::TICK).await;
    }
}

/// What is said where the process that answered is gone.
const GONE: &str = "The server that answered this message has stopped, and how far it got is not known yet. \
                    Send another message to find out.";
