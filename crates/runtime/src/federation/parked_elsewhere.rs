//! Calls that wait for their client at another of several servers: the answers go there by mail, and what the server on the
//! other side says next comes back by mail.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;
use toolroom_contract::error::ErrorBody;
use toolroom_contract::ids::RunId;
use toolroom_contract::{ClientRequest, ToolError};
use toolroom_store::bell::Subscription;
use toolroom_store::{Store, StoreError, mail, replicas};
use toolroom_upstream::{RemoteResult, Reply, UpstreamError};
use uuid::Uuid;

use super::bridge::{Requests, Turn};
use super::server::Server;

/// The kind of these letters, with the version of their form.
const KIND: &str = "parked/1";
/// How often whoever waits looks whether the other server is alive.
const LOOK: Duration = Duration::from_secs(2);

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Letter {
    /// The client of a call that waits at the receiver has answered.
    Resume {
        number: String,
        from: RunId,
        server: String,
        id: String,
        owner: String,
        tool: String,
        responses: Map<String, Value>,
    },
    /// What came next.
    Next { number: String, next: SentNext },
    /// Nobody waits for that any more.
    Dropped { number: String },
}

/// What came next in a call at another server.
pub(super) enum Next {
    Answered(RemoteResult),
    /// What is asked, and where the call waits.
    Asks(Requests, String),
}

/// The same as it travels.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SentNext {
    /// The whole result, as it came.
    Answered(String),
    Failed(Box<ErrorBody>),
    /// What is asked, by key: method and parameters; and where the call waits.
    Asks(BTreeMap<String, (String, Value)>, String),
    /// No call waits under that id.
    Unknown,
}

/// The letters of one process. Nobody looks while none is expected.
#[derive(Default)]
pub(super) struct ParkedMail {
    is_read: AtomicBool,
    expecting: AtomicUsize,
    expected: Notify,
    /// Who waits here for what comes next, by number.
    waiting: Mutex<HashMap<String, oneshot::Sender<SentNext>>>,
    /// What goes on here for others, by number.
    going_on: Mutex<HashMap<String, AbortHandle>>,
    /// The servers with calls that wait.
    servers: Mutex<HashMap<String, Weak<Server>>>,
}

/// As long as this is held, letters are read.
pub(super) struct Expecting(Arc<ParkedMail>);

impl Drop for Expecting {
    fn drop(&mut self) {
        self.0.expecting.fetch_sub(1, Ordering::AcqRel);
    }
}

impl ParkedMail {
    fn expect(self: &Arc<Self>, store: &Store, me: RunId) -> Expecting {
        if !self.is_read.swap(true, Ordering::AcqRel) {
            let bell = store.subscribe(mail::BELL, &me.to_string());
            tokio::spawn(read(Arc::downgrade(self), store.clone(), me, bell));
        }
        if self.expecting.fetch_add(1, Ordering::AcqRel) == 0 {
            self.expected.notify_one();
        }
        Expecting(Arc::clone(self))
    }
}

/// Where a call waits, if it was set aside by one of several servers.
pub(super) fn place_of(id: &str) -> Option<RunId> {
    id.split_once('.')?.0.parse().ok()
}

impl Server {
    /// The id of a call that is set aside here, and what keeps its mail being read.
    pub(super) fn parking_place(self: &Arc<Self>) -> (String, Option<Expecting>) {
        let number = Uuid::new_v4().simple().to_string();
        let Some(runtime) = self.sharing() else { return (number, None) };
        let Some(lease) = runtime.store.lease() else { return (number, None) };
        locked(&self.mail.servers).insert(self.name().to_owned(), Arc::downgrade(self));
        let expecting = self.mail.expect(&runtime.store, lease.run());
        (format!("{}.{number}", lease.run()), Some(expecting))
    }

    /// Whether the call waits at another server that is alive.
    pub(super) async fn is_parked_elsewhere(&self, id: &str) -> bool {
        let (Some(place), Some(runtime)) = (place_of(id), self.sharing()) else { return false };
        let alive = runtime.store.read(replicas::alive).await;
        alive.is_ok_and(|alive: Vec<RunId>| alive.contains(&place))
            && runtime.store.lease().is_some_and(|lease| lease.run() != place)
    }

    /// Goes on with a call that waits at another server; `None` if it does not.
    pub(super) async fn resume_elsewhere(
        &self,
        id: &str,
        owner: &str,
        tool: &str,
        responses: Map<String, Value>,
    ) -> Option<Result<Next, ToolError>> {
        let (place, runtime) = (place_of(id)?, self.sharing()?);
        let (store, me) = (&runtime.store, runtime.store.lease()?.run());
        if place == me {
            return None;
        }
        let number = Uuid::new_v4().simple().to_string();
        let _expecting = self.mail.expect(store, me);
        let (next, mut came) = oneshot::channel();
        locked(&self.mail.waiting).insert(number.clone(), next);
        let waits =
            Waits { mail: Arc::clone(&self.mail), store: store.clone(), place, number: number.clone() };
        let letter = Letter::Resume {
            number,
            from: me,
            server: self.name().to_owned(),
            id: id.to_owned(),
            owner: owner.to_owned(),
            tool: tool.to_owned(),
            responses,
        };
        if !sent(store, place, &letter).await {
            return None;
        }
        // How long this may take is seen to by whoever calls; a server that is gone is not waited for.
        let next = loop {
            match tokio::time::timeout(LOOK, &mut came).await {
                Ok(came) => break came.ok()?,
                Err(_) if self.is_parked_elsewhere(id).await => {}
                Err(_) => return None,
            }
        };
        waits.end();
        match next {
            SentNext::Answered(text) => Some(Ok(Next::Answered(RemoteResult::of(text)))),
            SentNext::Asks(requests, id) => {
                let request = |(key, (method, params))| (key, ClientRequest { method, params });
                Some(Ok(Next::Asks(requests.into_iter().map(request).collect(), id)))
            }
            SentNext::Failed(error) => Some(Err(error.into_error())),
            SentNext::Unknown => None,
        }
    }

    /// What comes next in a call that waits here, for another server.
    async fn next_for_others(
        self: Arc<Self>,
        id: &str,
        owner: &str,
        tool: &str,
        responses: &Map<String, Value>,
    ) -> SentNext {
        let Some(talk) = self.parking.take(id, owner, tool) else { return SentNext::Unknown };
        let mut talk = talk.answered(responses);
        let failed = |error: UpstreamError| {
            SentNext::Failed(Box::new(ErrorBody::of(&error.into_tool_error(self.name()), false)))
        };
        match talk.next().await {
            Turn::Answered(Ok(Reply::Complete(result))) => SentNext::Answered(result.text().to_owned()),
            // A server with sessions asks in the middle, and not at the end.
            Turn::Answered(Ok(Reply::InputRequired(_))) => failed(UpstreamError::Stopped),
            Turn::Answered(Err(error)) => failed(error),
            Turn::Asks(requests) => {
                let (id, expecting) = self.parking_place();
                if !self.parking.park(talk, tool, &self.stop, (id.clone(), expecting)) {
                    return failed(UpstreamError::Stopped);
                }
                let wire = |(key, request): (String, ClientRequest)| (key, (request.method, request.params));
                SentNext::Asks(requests.into_iter().map(wire).collect(), id)
            }
        }
    }
}

/// Somebody waits for a letter. Dropped before it came, whoever works on it is told.
struct Waits {
    mail: Arc<ParkedMail>,
    store: Store,
    place: RunId,
    number: String,
}

impl Waits {
    fn end(mut self) {
        self.number.clear();
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        if self.number.is_empty() {
            return;
        }
        locked(&self.mail.waiting).remove(&self.number);
        let letter = seal(&Letter::Dropped { number: std::mem::take(&mut self.number) });
        let place = self.place;
        self.store.once_unheard(move |unit| mail::send(unit, place, &letter).map(drop));
    }
}

async fn read(mail: Weak<ParkedMail>, store: Store, me: RunId, mut bell: Subscription) {
    loop {
        let Some(open) = mail.upgrade() else { return };
        if open.expecting.load(Ordering::Acquire) == 0 {
            open.expected.notified().await;
        }
        bell.rung().await;
        match store.once(move |unit| mail::take(unit, me, KIND)).await {
            Ok(letters) => letters.iter().for_each(|letter| deliver(&open, &store, me, &letter.body)),
            Err::<_, StoreError>(error) => tracing::debug!(%error, "letters cannot be read now"),
        }
    }
}

fn deliver(mail: &Arc<ParkedMail>, store: &Store, me: RunId, body: &str) {
    match serde_json::from_str(body) {
        Ok(Letter::Resume { number, from, server, id, owner, tool, responses }) => {
            let server = locked(&mail.servers).get(&server).and_then(Weak::upgrade);
            let (at, store, ended) = (Arc::clone(mail), store.clone(), number.clone());
            // Whoever waits for it may leave.
            let expecting = mail.expect(&store, me);
            let mut going_on = locked(&mail.going_on);
            let work = tokio::spawn(async move {
                let _expecting = expecting;
                let next = match server {
                    Some(server) => server.next_for_others(&id, &owner, &tool, &responses).await,
                    None => SentNext::Unknown,
                };
                sent(&store, from, &Letter::Next { number: ended.clone(), next }).await;
                locked(&at.going_on).remove(&ended);
            });
            going_on.insert(number, work.abort_handle());
        }
        Ok(Letter::Next { number, next }) => {
            if let Some(waits) = locked(&mail.waiting).remove(&number) {
                // Whoever waited may have left.
                let _ = waits.send(next);
            }
        }
        Ok(Letter::Dropped { number }) => {
            if let Some(work) = locked(&mail.going_on).remove(&number) {
                work.abort();
            }
        }
        Err(error) => tracing::debug!(%error, "a letter of another release is left alone"),
    }
}

async fn sent(store: &Store, to: RunId, letter: &Letter) -> bool {
    let letter = seal(letter);
    let sent = store.once(move |unit| mail::send(unit, to, &letter)).await;
    sent.unwrap_or_else(|error: StoreError| {
        tracing::warn!(%error, "a call that waits at another server cannot be reached now");
        false
    })
}

fn seal(letter: &Letter) -> mail::Letter {
    // Our own types have string keys: this cannot fail.
    mail::Letter { kind: KIND.to_owned(), body: serde_json::to_string(letter).unwrap_or_default() }
}

fn locked<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
