//! Runs whose process ended in the middle: what they began is found out, never begun again.

use std::sync::Arc;

use toolroom_contract::Principal;
use toolroom_contract::ids::ConversationId;
use toolroom_store::conversations::runs::{self, Status};

use super::driver::{Driver, Place, Stored};
use super::saying::Prepared;
use super::{Inner, RunHandle};
use crate::error::ChatError;
use crate::guard::Evidence;
use crate::log::Log;
use crate::run::{Ending, Phase, Planned, VERSION};

impl Inner {
    /// Ends the run that another life of the process left in this conversation, if there is one.
    pub(super) async fn recover(
        self: &Arc<Self>,
        who: &Arc<Principal>,
        id: ConversationId,
    ) -> Result<(), ChatError> {
        let found = self.runtime.store.read(move |unit| runs::unfinished(unit, id)).await?;
        let Some(record) = found.filter(|record| record.status == Status::Running) else { return Ok(()) };
        let stored =
            serde_json::from_str::<Stored>(&record.state).ok().filter(|one| one.run.version == VERSION);
        let prepared = match &stored {
            Some(stored) => self.prepare(who, stored.profile.clone(), None, None, None, Vec::new()).ok(),
            None => None,
        };
        let (Some(stored), Some(prepared)) = (stored, prepared) else {
            let over = runs::Run { status: Status::Done, ..record };
            self.runtime.store.write(move |unit| runs::save(unit, &over)).await?;
            return Ok(());
        };
        self.end_interrupted(who, record, stored, prepared).await;
        Ok(())
    }

    async fn end_interrupted(
        self: &Arc<Self>,
        who: &Arc<Principal>,
        record: runs::Run,
        stored: Stored,
        prepared: Prepared,
    ) {
        let log = Log::new(record.id);
        let place = Place {
            run: record.id,
            by: self.process(),
            conversation: record.conversation,
            history: None,
            kept: None,
            request_key: record.request_key.clone(),
            scope: record.conversation.map(|id| id.to_string()).unwrap_or_default(),
            limits_length: false,
        };
        let mut driver = Driver::new(self, who, place, stored.run, prepared, &log);
        driver.remark("I was interrupted while I answered your last message.");
        for planned in begun(&driver.run.phase) {
            let execution = driver.starts(&planned);
            // The idempotency key is that of the first attempt: what took effect answers again, and what did not
            // and was agreed to takes effect now. Nothing does so twice.
            let reply = driver.caller().call(&planned, None, execution).await;
            let event = driver.ended(planned, reply);
            driver.run.step(event);
        }
        if driver.seen.receipts.is_empty() {
            driver.remark(&driver.run.evidence.so_far());
        }
        driver.run.evidence = Evidence::default();
        driver.run.phase = Phase::Done(Ending::Answered);
        let (inner, run) = (Arc::clone(&driver.inner), driver.place.run);
        driver.finish().await;
        inner.leave(run);
    }
}

/// The changes that may have been begun, or to which the person agreed.
fn begun(phase: &Phase) -> Vec<Planned> {
    let Phase::Tools(work) = phase else { return Vec::new() };
    let agreed = work.todo.iter().filter(|planned| planned.approval.is_some());
    work.out.iter().filter(|planned| planned.changes).chain(agreed).cloned().collect()
}

/// A run of another life of the process, as far as its answer is there.
pub(super) fn ended(record: &runs::Run) -> Option<RunHandle> {
    let stored: Stored = serde_json::from_str(&record.state).ok()?;
    let log = Log::ended(record.id, stored.answer?);
    let (conversation, profile) = (record.conversation, stored.profile);
    Some(RunHandle { run: record.id, conversation, profile, log, after: 0 })
}
