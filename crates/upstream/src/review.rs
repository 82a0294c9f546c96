//! A look at what a server lists before anything is sent to it, unless the last look still holds.
//!
//! A definition that was approved says nothing about a server that has become another since. So the list is read
//! again, and compared, on the very connection that the request then goes over: after every lost stream and failed
//! call, and once the time is over for which the server itself vouches for it (`ttlMs`).

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::error::Failure;
use crate::items::{Listing, RemoteTool};
use crate::session::Era;
use crate::supervisor::ConnectionSupervisor;

/// The longest that a server's own word on its list is taken for.
const LONGEST_TTL: Duration = Duration::from_secs(3600);
/// How long a list holds of a server with which nothing lasts that could break: no process, session or stream of
/// ours, and no word on how long it holds.
const UNWATCHED_TTL: Duration = Duration::from_secs(10);

/// The future of a review; an error says why nothing may be sent.
pub type Reviewing<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// Who compares what a server lists with what was approved.
pub trait Review: Send + Sync {
    /// Takes in what the server lists now.
    fn listed(&self, listing: Listing<RemoteTool>) -> Reviewing<'_>;

    /// Whether the request may be sent, by what was listed last.
    fn permits(&self) -> bool;
}

/// The last look at a server's list, and whose turn it is to look.
#[derive(Default)]
pub(crate) struct Reviews {
    turn: tokio::sync::Mutex<()>,
    last: Mutex<Option<Last>>,
}

struct Last {
    /// Held weakly, so that no later client can be taken for this one.
    client: Weak<Client>,
    /// What was known before the list was asked for.
    changes: u64,
    stream: u64,
    began: Instant,
    /// Until when it holds; for as long as nothing happens if not given.
    until: Option<Instant>,
}

impl Client {
    /// How long a list holds of which the server does not say that.
    fn unsaid_ttl(&self) -> Option<Duration> {
        match (self.era, self.session().is_process(), self.session().is_watched()) {
            // It has to say it in that revision: without a word, the server vouches for nothing.
            (Era::Stateless, false, _) => Some(Duration::ZERO),
            (_, _, false) => Some(UNWATCHED_TTL),
            (_, _, true) => None,
        }
    }
}

/// How often a list is read that changes while it is read. One that goes on changing was compared just now.
const MOST_LOOKS: usize = 3;

impl Last {
    async fn look(client: &Arc<Client>, changes: u64, review: &dyn Review) -> Result<Self, Failure> {
        let (began, stream) = (Instant::now(), client.session().calls.stream().epoch());
        let listing = client.list::<RemoteTool>().await?;
        let ttl = listing.ttl.map(|ttl| ttl.min(LONGEST_TTL));
        let ttl = ttl.or_else(|| client.unsaid_ttl());
        review.listed(listing).await.map_err(Failure::Unlisted)?;
        let until = ttl.map(|ttl| began + ttl);
        Ok(Self { client: Arc::downgrade(client), changes, stream, began, until })
    }
}

impl ConnectionSupervisor {
    /// Has the list of tools compared on this connection, unless the last comparison still holds.
    pub(crate) async fn reviewed(
        &self,
        client: &Arc<Client>,
        review: &dyn Review,
        came: Instant,
    ) -> Result<(), Failure> {
        self.reviews.hold(client, || self.changes.tools(), review, came).await
    }

    /// Whether a request may be sent over this connection.
    pub(crate) async fn permitted(
        &self,
        client: &Arc<Client>,
        review: Option<&dyn Review>,
        came: Instant,
    ) -> Result<(), Failure> {
        let Some(review) = review else { return Ok(()) };
        self.reviewed(client, review, came).await.map_err(Failure::before_sending)?;
        if review.permits() { Ok(()) } else { Err(Failure::NotPermitted) }
    }
}

impl Reviews {
    /// Has the list reviewed on this connection, unless the last review still holds. One look serves all who came
    /// before it began. `changes` tells how often something happened after which the list may be another.
    async fn hold(
        &self,
        client: &Arc<Client>,
        changes: impl Fn() -> u64,
        review: &dyn Review,
        came: Instant,
    ) -> Result<(), Failure> {
        if self.holds(client, changes(), came) {
            return Ok(());
        }
        let _turn = self.turn.lock().await;
        if self.holds(client, changes(), came) {
            return Ok(());
        }
        for _ in 0..MOST_LOOKS {
            let last = Last::look(client, changes(), review).await?;
            let seen = last.changes;
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
            if seen == changes() {
                break;
            }
        }
        Ok(())
    }

    fn holds(&self, client: &Arc<Client>, changes: u64, came: Instant) -> bool {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|last| {
            let in_time = last.began >= came || last.until.is_none_or(|until| Instant::now() < until);
            std::ptr::eq(last.client.as_ptr(), Arc::as_ptr(client))
                && last.changes == changes
                && in_time
                && (last.began >= came || client.session().calls.stream().held_since(last.stream))
        })
    }
}

/// The stream on which a server tells that its list of tools has changed. What happens while it is down is missed.
#[derive(Default)]
pub(crate) struct Stream(AtomicU64);

/// There is no such stream, and none is wanted.
const NONE: u64 = 0;

impl Stream {
    /// Such a stream is wanted. From then on the number is even while it is down, and odd while it is up.
    pub(crate) fn wanted(&self) {
        let _ = self.0.compare_exchange(NONE, 2, Ordering::AcqRel, Ordering::Acquire);
    }

    pub(crate) fn up(&self) {
        self.turn(1);
    }

    /// It has ended; whether it was up.
    pub(crate) fn down(&self) -> bool {
        self.turn(0)
    }

    /// The server has no such stream.
    pub(crate) fn refused(&self) {
        self.0.store(NONE, Ordering::Release);
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.epoch() != NONE
    }

    /// Whether nothing can have been missed since the number was this.
    fn held_since(&self, epoch: u64) -> bool {
        let now = self.epoch();
        now == NONE || now % 2 == 1 && now == epoch
    }

    fn turn(&self, parity: u64) -> bool {
        let next = |now: u64| (now != NONE && now % 2 != parity).then_some(now + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Stream;

    #[test]
    fn whatever_a_stream_may_have_missed_is_known() {
        let stream = Stream::default();
        assert!(stream.held_since(stream.epoch()), "there is none to miss anything");
        stream.wanted();
        let down = stream.epoch();
        assert!(!stream.held_since(down), "it is not there yet");
        stream.up();
        assert!(!stream.held_since(down), "what came before it was missed");
        let up = stream.epoch();
        assert!(stream.held_since(up));
        assert!(stream.down() && !stream.down());
        assert!(!stream.held_since(up));
        stream.up();
        assert!(!stream.held_since(up), "it was away in between");
        stream.refused();
        assert!(stream.held_since(up));
    }
}
