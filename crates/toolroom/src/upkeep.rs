//! What a running server cleans up from time to time.

use std::time::Duration;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use toolroom_agent::Chat;
use toolroom_packs::tasks::{self, TaskSettings};
use toolroom_store::{Store, idempotency, pending};

/// Between two rounds; the first is at the start.
const PERIOD: Duration = Duration::from_secs(600);
/// How long the answer to an idempotency key is kept.
const KEEP_ANSWERS: SignedDuration = SignedDuration::from_hours(24);

/// How long the state of a chat run is kept; confirmations expire long before.
const KEEP_RUNS: SignedDuration = SignedDuration::from_hours(24);

/// Cleans up until the server stops.
pub async fn run(store: Store, chat: Chat, settings: TaskSettings, stop: CancellationToken) {
    let mut rounds = interval(PERIOD);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = rounds.tick() => {}
        }
        if let Err(error) = round(&store, &chat, &settings).await {
            tracing::warn!(%error, "cleaning up old records failed; it is retried later");
        }
    }
}

async fn round(store: &Store, chat: &Chat, settings: &TaskSettings) -> Result<()> {
    let now = Timestamp::now();
    let expired = store.write(pending::expire_old).await?;
    let answers = store.write(move |unit| idempotency::purge(unit, now - KEEP_ANSWERS)).await?;
    let deleted = tasks::purge(store, settings).await?;
    let runs = chat.sweep(now - KEEP_RUNS).await?;
    tracing::debug!(expired, answers, deleted, runs, "upkeep done");
    Ok(())
}
