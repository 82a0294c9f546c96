//! A look at what a server lists before anything is sent to it, unless the last look still holds.
//!
//! A definition that was approved says nothing about a server that has become another since. So the list is read
//! again, and compared, before the request is sent: after every lost stream and failed call, when the request needs a
//! new connection to the server, and once the time is over for which the server itself vouches for it (`ttlMs`).

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use toolroom_outgoing::{ConnectionCheck, with_connection_check};

use crate::client::Client;
use crate::error::Failure;
use crate::items::{Listing, RemoteTool};
use crate::session::Era;
use crate::supervisor::ConnectionSupervisor;

/// The longest that a server's own word on its list is taken for.
const LONGEST_TTL: Duration = Duration::from_secs(3600);
/// How long a list holds at most of a server with which nothing lasts that could break: no process or stream of ours.
/// Whatever it says itself, it could become another unseen.
const UNWATCHED_TTL: Duration = Duration::from_secs(10);
/// A server that answered so shortly ago, over a connection that was compared, was not restarted since: calls that need
/// a new connection then are many at once, or follow so closely that the one before has not given its connection back.
const JUST_NOW: Duration = Duration::from_millis(20);

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
    /// When the server last answered over a connection that was compared, or had its list compared.
    answered: Mutex<Option<Instant>>,
}

struct Last {
    /// Held weakly, so that no later client can be taken for this one.
    client: Weak<Client>,
    /// What was known before the list was asked for.
    changes: u64,
    stream: u64,
    began: Instant,
    /// For how long the server vouches for it.
    ttl: Option<Duration>,
}

impl Client {
    /// How long a list holds; for as long as nothing happens if not given.
    fn list_holds_for(&self, said: Option<Duration>) -> Option<Duration> {
        let said = said.map(|ttl| ttl.min(LONGEST_TTL));
        match (self.era, self.session().is_process(), self.session().is_watched()) {
            // It has to say it in that revision: without a word, the server vouches for nothing.
            (Era::Stateless, false, _) if said.is_none() => Some(Duration::ZERO),
            (_, _, false) => Some(said.unwrap_or(UNWATCHED_TTL).min(UNWATCHED_TTL)),
            (_, _, true) => said,
        }
    }
}

/// How often a list is read that changes while it is read. One that goes on changing was compared just now.
const MOST_LOOKS: usize = 3;

impl Last {
    async fn look(client: &Arc<Client>, changes: u64, review: &dyn Review) -> Result<Self, Failure> {
        let (began, stream) = (Instant::now(), client.session().calls.stream().epoch());
        let listing = client.list::<RemoteTool>().await?;
        let ttl = listing.ttl;
        review.listed(listing).await.map_err(Failure::Unlisted)?;
        Ok(Self { client: Arc::downgrade(client), changes, stream, began, ttl })
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
        review: Option<&Arc<dyn Review>>,
        came: Instant,
    ) -> Result<(), Failure> {
        let Some(review) = review else { return Ok(()) };
        self.reviewed(client, &**review, came).await.map_err(Failure::before_sending)?;
        if review.permits() { Ok(()) } else { Err(Failure::NotPermitted) }
    }

    /// Makes a request that is permitted so far. If it needs a new connection, the server may have been restarted: then
    /// the list is read and compared once more before anything goes over that connection.
    pub(crate) async fn over_reviewed_connections<T>(
        self: &Arc<Self>,
        client: &Arc<Client>,
        review: Option<&Arc<dyn Review>>,
        request: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let Some(review) = review.filter(|_| !client.session().is_process()) else { return request.await };
        let refused = Arc::<OnceLock<Failure>>::default();
        let (own, client, review) = (Arc::clone(self), Arc::clone(client), Arc::clone(review));
        let told = Arc::clone(&refused);
        let check: ConnectionCheck = Arc::new(move || {
            let (own, client, review) = (Arc::clone(&own), Arc::clone(&client), Arc::clone(&review));
            let told = Arc::clone(&told);
            Box::pin(async move {
                if own.reviews.answered_just_now() {
                    return true;
                }
                own.changes.send_modify(|changes| changes.tools += 1);
                let permitted = own.permitted(&client, Some(&review), Instant::now()).await;
                permitted.map_err(|failure| told.set(failure)).is_ok()
            })
        });
        let outcome = with_connection_check(check, request).await;
        if outcome.is_ok() {
            self.reviews.note_answer();
        }
        // What may have run went over another connection, whatever became of this one.
        outcome.map_err(|failure| refused.get().filter(|_| failure.never_ran()).cloned().unwrap_or(failure))
    }
}

impl Reviews {
    fn note_answer(&self) {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn answered_just_now(&self) -> bool {
        let answered = *self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.is_some_and(|at| at.elapsed() < JUST_NOW)
    }

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
            self.note_answer();
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
            // By what is there now: a stream that has gone since vouches for nothing.
            let holds_for = client.list_holds_for(last.ttl);
            let in_time = last.began >= came || holds_for.is_none_or(|ttl| last.began.elapsed() < ttl);
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
        now == epoch && (now == NONE || now % 2 == 1)
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
        assert!(!stream.held_since(up), "what it told until then was its last word");
        assert!(stream.held_since(stream.epoch()));
    }
}
