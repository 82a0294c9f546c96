//! Caches results; of many equal misses, one runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use moka::Expiry;
use moka::sync::Cache;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use toolroom_contract::canonical::Digest;
use toolroom_contract::{Answer, Content, HintsDraft, ToolError};

/// The cache of answers.
pub struct ResultCache {
    kept: Cache<Digest, Arc<Kept>>,
    flights: Mutex<HashMap<Digest, Weak<Flight>>>,
}

/// An answer that may be given again.
pub struct Kept {
    /// The data, checked.
    pub data: Arc<Value>,
    /// What the handler knew about it.
    pub hints: HintsDraft,
    /// Blocks next to the data.
    pub content: Option<Arc<Content>>,
    at: Instant,
    ttl: Duration,
}

impl Kept {
    /// An answer that holds for so long.
    pub fn new(answer: Answer, ttl: Duration) -> Self {
        let Answer { data, hints, content } = answer;
        Self { data: Arc::new(data), hints, content, at: Instant::now(), ttl }
    }

    /// Its age as a share of its time to live.
    pub fn staleness(&self) -> f64 {
        self.at.elapsed().as_secs_f64() / self.ttl.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// What a flight brings back. Failures are shared by those who wait, and never kept.
pub type Shared = Result<Arc<Kept>, ToolError>;

/// One execution that many callers wait for. It stops when the last of them leaves.
struct Flight {
    landed: watch::Receiver<Option<Shared>>,
    task: AbortHandle,
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct ByTtl;

impl Expiry<Digest, Arc<Kept>> for ByTtl {
    fn expire_after_create(&self, _: &Digest, kept: &Arc<Kept>, _: Instant) -> Option<Duration> {
        Some(kept.ttl)
    }
}

/// What all kept answers may weigh together, in bytes of JSON, about.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

impl ResultCache {
    /// Nothing kept yet.
    pub fn new() -> Self {
        let kept = Cache::builder()
            .max_capacity(MOST_BYTES)
            .weigher(|_, kept: &Arc<Kept>| {
                let beside = kept.content.as_ref().map_or(0, |content| content.size());
                let beside = u32::try_from(beside).unwrap_or(u32::MAX);
                weight(&kept.data).saturating_add(512).saturating_add(beside)
            })
            .expire_after(ByTtl)
            .build();
        Self { kept, flights: Mutex::default() }
    }

    /// The answer that is kept under a key.
    pub fn get(&self, key: &Digest) -> Option<Arc<Kept>> {
        self.kept.get(key)
    }

    /// Joins the flight for a key, or starts it. `work` runs detached from any one caller.
    pub async fn get_or_run<W>(self: &Arc<Self>, key: Digest, work: impl FnOnce() -> W) -> Shared
    where
        W: Future<Output = Shared> + Send + 'static,
    {
        let flight = self.join(key, work);
        let mut landed = flight.landed.clone();
        match landed.wait_for(Option::is_some).await {
            Ok(landed) => landed.clone().unwrap_or_else(lost),
            Err(_) => lost(),
        }
    }

    fn join<W>(self: &Arc<Self>, key: Digest, work: impl FnOnce() -> W) -> Arc<Flight>
    where
        W: Future<Output = Shared> + Send + 'static,
    {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flight) = flights.get(&key).and_then(Weak::upgrade) {
            return flight;
        }
        let (tell, landed) = watch::channel(None);
        let cache = Arc::clone(self);
        let work = work();
        let task = tokio::spawn(async move {
            let outcome = std::panic::AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| lost());
            if let Ok(kept) = &outcome {
                cache.kept.insert(key, Arc::clone(kept));
            }
            cache.flights.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            // Nobody waits any more if this fails.
            let _ = tell.send(Some(outcome));
        });
        let flight = Arc::new(Flight { landed, task: task.abort_handle() });
        flights.insert(key, Arc::downgrade(&flight));
        // Flights that were left by everybody leave a dead entry behind.
        if flights.len() > 1024 {
            flights.retain(|_, flight| flight.strong_count() > 0);
        }
        flight
    }
}

impl Default for ResultCache {
    fn default() -> Self {
        Self::new()
    }
}

fn lost() -> Shared {
    Err(ToolError::internal("the execution that this call waited for ended without an answer"))
}

/// About how many bytes a value takes as JSON.
fn weight(value: &Value) -> u32 {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 12,
        Value::String(text) => text.len() as u32 + 2,
        Value::Array(items) => items.iter().map(weight).fold(2, u32::saturating_add),
        Value::Object(map) => map.iter().fold(2, |sum, (key, value)| {
            sum.saturating_add(key.len() as u32 + 4).saturating_add(weight(value))
        }),
    }
}
