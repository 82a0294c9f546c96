//! What a running server cleans up from time to time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use toolroom_agent::Chat;
use toolroom_packs::tasks::{self, TaskSettings};
use toolroom_runtime::journal::SharedLog;
use toolroom_store::{
    Store, counters, deferred, generations, idempotency, mail, parcels, pending, plausible_time, replicas,
    sessions,
};

/// Between two rounds; the first is at the start.
const PERIOD: Duration = Duration::from_secs(600);
/// A clock that is set right by less than this is believed.
const SLACK: Duration = Duration::from_secs(3600);
/// How long the answer to an idempotency key is kept.
const KEEP_ANSWERS: SignedDuration = SignedDuration::from_hours(24);

/// How long the state of a chat run is kept; confirmations expire long before.
const KEEP_RUNS: SignedDuration = SignedDuration::from_hours(24);

/// How long a client may go on from an answer by its id (`previous_response_id`).
const KEEP_RESPONSES: SignedDuration = SignedDuration::from_hours(30 * 24);

/// How long a session of the console is kept once it is over.
const KEEP_SESSIONS: SignedDuration = SignedDuration::from_hours(30 * 24);

/// What is cleaned up, and how long it is kept.
pub struct Upkeep {
    pub store: Store,
    pub chat: Chat,
    pub tasks: TaskSettings,
    /// The log of all processes that share the database.
    pub log: Option<Arc<SharedLog>>,
    pub log_days: u16,
}

impl Upkeep {
    /// Cleans up until the server stops.
    pub async fn run(self, stop: CancellationToken) {
        let mut rounds = interval(PERIOD);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (began, at) = (Instant::now(), Timestamp::now());
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = rounds.tick() => {}
            }
            // However far the clock has stepped since then, no more time has passed than this.
            let latest = at.checked_add(began.elapsed() + SLACK).unwrap_or(at);
            if let Err(error) = self.round(Timestamp::now().min(latest)).await {
                tracing::warn!(%error, "cleaning up old records failed; it is retried later");
            }
        }
    }

    async fn round(&self, now: Timestamp) -> Result<()> {
        let Self { store, chat, tasks: settings, log, log_days } = self;
        let expired = store.write(pending::expire_old).await?;
        let now = store.write(move |unit| plausible_time::note_round(unit, now)).await?;
        let answers = store.write(move |unit| idempotency::purge(unit, now - KEEP_ANSWERS)).await?;
        let deleted = tasks::purge(store, settings, now).await?;
        let runs = chat.sweep(now - KEEP_RUNS, now - KEEP_RESPONSES).await?;
        let gone = store.write(replicas::purge).await?;
        if store.lease().is_some() {
            store.write(generations::purge).await?;
            store.write(counters::purge).await?;
            store.write(parcels::purge).await?;
            store.write(deferred::purge).await?;
            store.write(mail::purge).await?;
        }
        if let Some(log) = log {
            log.sweep(TimeZone::UTC.to_datetime(now).date(), *log_days).await?;
        }
        let over = store.write(move |unit| sessions::purge(unit, now - KEEP_SESSIONS)).await?;
        tracing::debug!(expired, answers, deleted, runs, sessions = over, replicas = gone, "upkeep done");
        Ok(())
    }
}
