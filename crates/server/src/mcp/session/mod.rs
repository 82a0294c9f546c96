//! Sessions of the revisions with a handshake: what is remembered between the messages of one client.
//!
//! | file | what is there |
//! | --- | --- |
//! | `store` | all sessions of a server: found, bounded, forgotten |
//! | `conversation` | the messages of a session, on whatever transport: requests become work, the rest is dealt with |
//! | `events` | streams of events that a client can come back to |
//! | `handshake` | `initialize`: the revision that both sides speak |
//! | `watch` | what a client is told unasked |
//! | `sealed_id`, `shared` | ids that hold their session, for several servers; what is said of one after it began |

mod conversation;
pub(crate) mod events;
mod handshake;
mod sealed_id;
mod shared;
mod store;
mod watch;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolroom_contract::Principal;
use toolroom_mcp::{Client, Code, Id, LogLevel, RpcError};
use uuid::Uuid;

use super::caller::Owner;
use super::mail::Expecting;
use super::peer::{Peer, Questions};
use events::Parked;
use shared::Shared;

pub(crate) use conversation::{Conversation, Taken, Work};
pub(crate) use handshake::agree;
pub(crate) use store::{NoSession, Sessions};
use watch::remember_shown;
pub(crate) use watch::watch;

/// One client's session.
pub(crate) struct Session {
    /// What the client holds.
    pub(crate) id: Arc<str>,
    /// What rows and logs call it.
    pub(crate) name: Arc<str>,
    /// Where other servers may be asked about it too.
    shared: Option<Shared>,
    pub(crate) profile: Cow<'static, str>,
    transport: Transport,
    owner: Owner,
    client: Mutex<Option<Arc<Client>>>,
    /// What we asked the client.
    pub(crate) questions: Arc<Questions>,
    /// The client's own requests that are worked on.
    running: Mutex<HashMap<Id, CancellationToken>>,
    /// Cancelled when the session ends, and all its work with it.
    pub(crate) ended: CancellationToken,
    /// The one line to the client, where the transport has a single one.
    line: Mutex<Option<Line>>,
    /// The stream on which the client listens, so that a newer one can take its place.
    listening: Mutex<CancellationToken>,
    /// The lists as the client knows them.
    told: Mutex<Option<blake3::Hash>>,
    /// The resources that the client watches.
    watched: Mutex<BTreeSet<String>>,
    /// Streams that were cut off a moment ago.
    parked: Mutex<HashMap<u64, Parked>>,
    used: Mutex<Instant>,
    busy: AtomicUsize,
    streams: AtomicUsize,
}

/// A client that has introduced itself, and the list of tools that there was.
pub(crate) struct Introduced {
    pub(crate) client: Client,
    pub(crate) shown: Option<blake3::Hash>,
}

/// The stream that carries all answers, and who opened it.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) peer: Peer,
    pub(crate) principal: Arc<Principal>,
}

/// How a session's messages travel. Its id is good for that alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Transport {
    /// Streamable HTTP.
    Http,
    /// HTTP with a stream of events beside it, as of 2024-11-05.
    Sse,
    /// Lines on a pipe or socket.
    Lines,
}

/// The most requests of one session at once.
const MOST_RUNNING: usize = 256;
/// The most resources that one session watches.
const MOST_WATCHED: usize = 1_000;

impl Session {
    /// A session of this server alone.
    pub(crate) fn new(principal: &Principal, profile: Cow<'static, str>, transport: Transport) -> Arc<Self> {
        let id: Arc<str> = Uuid::new_v4().simple().to_string().into();
        Arc::new(Self::with(Arc::clone(&id), id, principal, profile, transport, None))
    }

    fn with(
        id: Arc<str>,
        name: Arc<str>,
        principal: &Principal,
        profile: Cow<'static, str>,
        transport: Transport,
        shared: Option<Shared>,
    ) -> Self {
        Self {
            id,
            name,
            profile,
            transport,
            owner: Owner::of(principal),
            client: Mutex::default(),
            questions: Arc::new(
                shared.as_ref().map_or_else(Questions::default, |shared| Questions::of(shared.me)),
            ),
            shared,
            running: Mutex::default(),
            ended: principal.revoked.child_token(),
            line: Mutex::default(),
            listening: Mutex::default(),
            told: Mutex::default(),
            watched: Mutex::default(),
            parked: Mutex::default(),
            used: Mutex::new(Instant::now()),
            busy: AtomicUsize::new(0),
            streams: AtomicUsize::new(0),
        }
    }

    /// The client, once it has introduced itself.
    pub(crate) fn client(&self) -> Option<Arc<Client>> {
        held(&self.client).clone()
    }

    /// The client introduces itself; false if it has before.
    pub(crate) fn meet(&self, client: Client) -> bool {
        let mut known = held(&self.client);
        let first = known.is_none();
        if first {
            *known = Some(Arc::new(client));
        }
        first
    }

    /// The same for one who is a stranger, with the list of tools that it was shown.
    fn introduce(&self, Introduced { client, shown }: Introduced) {
        self.meet(client);
        *held(&self.told) = shown;
    }

    fn set_level(&self, level: LogLevel) {
        if let Some(client) = held(&self.client).as_mut() {
            Arc::make_mut(client).log_level = Some(level);
        }
    }

    /// The client watches a resource, or does so no longer.
    fn set_watched(&self, uri: &str, watched: bool) -> Result<(), RpcError> {
        let mut all = held(&self.watched);
        if !watched {
            all.remove(uri);
        } else if all.len() < MOST_WATCHED || all.contains(uri) {
            all.insert(uri.to_owned());
        } else {
            return Err(RpcError::invalid_params("Too many subscriptions; end some first."));
        }
        Ok(())
    }

    fn watched(&self) -> Vec<String> {
        held(&self.watched).iter().cloned().collect()
    }

    /// Puts a request on record, so that it can be cancelled.
    pub(crate) fn begin(self: &Arc<Self>, id: &Id) -> Result<Ticket, RpcError> {
        let mut running = held(&self.running);
        if running.len() >= MOST_RUNNING {
            return Err(RpcError::new(Code::Internal, "Too many requests at once; wait for some answers."));
        }
        if running.contains_key(id) {
            return Err(RpcError::new(Code::InvalidRequest, "A request with this id is still running."));
        }
        let cancelled = CancellationToken::new();
        running.insert(id.clone(), cancelled.clone());
        Ok(Ticket { id: id.clone(), cancelled, _busy: self.busy(), session: Arc::clone(self) })
    }

    /// The client does not want the answer any more. False if the request is not worked on here.
    pub(crate) fn cancel(&self, id: &Id) -> bool {
        held(&self.running).get(id).inspect(|cancelled| cancelled.cancel()).is_some()
    }

    /// As long as this is held, the session is not idle.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        let mail = self.shared.as_ref().map(|shared| shared.mailbox.expect());
        Busy { session: Arc::clone(self), _mail: mail }
    }

    /// The number of the next stream of events; 0 is nobody's.
    pub(crate) fn next_stream(&self) -> u64 {
        self.streams.fetch_add(1, Ordering::Relaxed) as u64 + 1
    }

    /// The client listens from now on here, and nowhere else.
    pub(crate) fn listen(&self) -> CancellationToken {
        let newest = self.ended.child_token();
        std::mem::replace(&mut *held(&self.listening), newest.clone()).cancel();
        newest
    }

    /// The one line to the client.
    pub(crate) fn line(&self) -> Option<Line> {
        held(&self.line).clone()
    }

    pub(crate) fn connect(&self, line: Line) {
        *held(&self.line) = Some(line);
    }

    /// Keeps a stream for a client that comes back soon.
    pub(crate) fn park(&self, number: u64, parked: Parked) {
        held(&self.parked).insert(number, parked);
    }

    pub(crate) fn unpark(&self, number: u64) -> Option<Parked> {
        held(&self.parked).remove(&number)
    }

    /// Gives up the streams whose clients did not come back.
    pub(crate) fn clear_parked(&self) {
        let over: Vec<Parked> =
            held(&self.parked).extract_if(|_, parked| parked.is_over()).map(|(_, it)| it).collect();
        // Outside of the lock: their work may hold the last of much.
        drop(over);
    }

    fn idle_since(&self) -> Option<Instant> {
        (self.busy.load(Ordering::Relaxed) == 0).then(|| *held(&self.used))
    }

    fn end(&self) {
        self.ended.cancel();
        // Their work holds the session.
        let parked = std::mem::take(&mut *held(&self.parked));
        drop(parked);
        *held(&self.line) = None;
    }
}

/// A request on record; off it when this is dropped.
pub(crate) struct Ticket {
    session: Arc<Session>,
    id: Id,
    cancelled: CancellationToken,
    _busy: Busy,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        held(&self.session.running).remove(&self.id);
    }
}

/// Something goes on in a session, which other servers may have news of.
pub(crate) struct Busy {
    session: Arc<Session>,
    _mail: Option<Expecting>,
}

impl Drop for Busy {
    fn drop(&mut self) {
        *held(&self.session.used) = Instant::now();
        self.session.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
