//! Redis or Valkey, where several processes count calls by one script; nothing else is kept there.
//!
//! The client is our own: one command over one connection is less than any crate for Redis brings.

mod link;
mod resp;
mod url;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};
use toolroom_contract::definition::RateLimit;
use toolroom_contract::ids::UserId;

use crate::counters::{Counted, piece};
use link::{Link, PATIENCE, Step};

pub use url::RedisUrl;

/// Between two attempts to connect.
const SOON: Duration = Duration::from_millis(500);
/// Steps that wait to be sent; more are counted elsewhere.
const MOST_WAITING: usize = 4096;

/// Calls per tool and user, counted over all processes that name the same server and prefix, by its clock.
pub struct RedisCounters {
    steps: mpsc::Sender<Step>,
    is_connected: Arc<AtomicBool>,
    prefix: String,
}

/// Redis does not answer now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Away;

impl RedisCounters {
    /// Connects, and again whenever the connection is lost, until this is dropped. Returns after the first attempt,
    /// however it ended: nothing waits for Redis. Keys begin with the prefix.
    pub async fn connect(url: RedisUrl, prefix: String) -> Self {
        let (steps, received) = mpsc::channel(MOST_WAITING);
        let is_connected = Arc::new(AtomicBool::new(false));
        let (tried, first) = oneshot::channel();
        let keep = Keep { url, prefix: prefix.clone(), is_connected: Arc::clone(&is_connected) };
        tokio::spawn(keep.connected(received, tried));
        let _ = first.await;
        Self { steps, is_connected, prefix }
    }

    /// Whether steps are taken now.
    pub fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::Acquire)
    }

    /// Counts a call if there is room for it, by one round trip.
    pub async fn count(&self, scope: u64, user: UserId, limit: RateLimit) -> Result<Counted, Away> {
        if !self.is_connected() {
            return Err(Away);
        }
        let (answer, counted) = oneshot::channel();
        let step = Step {
            key: format!("{}:{scope:x}:{}", self.prefix, user.0),
            length: limit.window_ms.max(1).to_string(),
            piece: piece(limit).to_string(),
            most: limit.max_calls.to_string(),
            answer,
        };
        self.steps.try_send(step).map_err(|_| Away)?;
        let counted = timeout(PATIENCE, counted).await.map_err(|_| Away)?.map_err(|_| Away)?;
        match *counted {
            [1] => Ok(Counted::Yes),
            [0, wait] => Ok(Counted::No { wait: wait.max(1).unsigned_abs() }),
            _ => Err(Away),
        }
    }
}

struct Keep {
    url: RedisUrl,
    prefix: String,
    is_connected: Arc<AtomicBool>,
}

impl Keep {
    async fn connected(self, mut steps: mpsc::Receiver<Step>, tried: oneshot::Sender<()>) {
        let (mut tried, mut was_away) = (Some(tried), false);
        loop {
            let lost = match Link::open(&self.url, &self.prefix).await {
                Ok(link) => {
                    self.is_connected.store(true, Ordering::Release);
                    if was_away {
                        tracing::info!(redis = %self.url, "rate limits are counted in Redis again");
                    }
                    was_away = false;
                    drop(tried.take());
                    let lost = link.work(&mut steps).await;
                    self.is_connected.store(false, Ordering::Release);
                    lost
                }
                Err(error) => Err(error),
            };
            drop(tried.take());
            let Err(error) = lost else { return };
            if !was_away {
                let redis = &self.url;
                tracing::warn!(%redis, %error, "Redis is away: rate limits count this server's share");
            }
            was_away = true;
            // Whoever came too late for the connection counts elsewhere.
            while steps.try_recv().is_ok() {}
            if steps.is_closed() {
                return;
            }
            sleep(SOON).await;
        }
    }
}
