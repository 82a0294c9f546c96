//! The bridge between eras: what a server asks in the middle of a call ends the call here with a question to the
//! client, whichever revision each of them speaks.
//!
//! A server without sessions ends its side as well, and gets the answers with the same call made again. One with
//! sessions waits in the middle of its call: that call is set aside until our client comes back with the answers.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolroom_contract::report::{Level, Progress, Report};
use toolroom_contract::{ClientInput, ClientRequest, Ending, Reporter, ToolContext};
use toolroom_store::StoreError;
use toolroom_store::parcels::{self, Kind};
use toolroom_upstream::answers::{Answering, Asked};
use toolroom_upstream::{Answers, CallOptions, HeaderParam, Reply, Target, Upstream, UpstreamError};
use uuid::Uuid;

use super::parked_elsewhere::Expecting;
use super::server::Server;
use crate::Runtime;

/// How long a call waits for its client to come back.
const PATIENCE: Duration = Duration::from_secs(600);
/// Calls of one server that wait so at a time, and those of one person.
const MOST_PARKED: usize = 1_000;
const MOST_OF_ONE: usize = 32;

/// What a question's state says when the client brings it back. The edge sees to it that it comes back unchanged,
/// with the same call, and once.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The call waits here.
    Parked(String),
    /// The call is to be made again, with what the server gave along. The number is used once.
    Theirs { nonce: String, state: Option<String> },
}

impl State {
    pub(super) fn read(text: &str) -> Option<Self> {
        match text.split_at_checked(2)? {
            ("p:", id) => Some(Self::Parked(id.to_owned())),
            ("s:", rest) => {
                let (nonce, state) = rest.split_once(':')?;
                Some(Self::Theirs { nonce: nonce.to_owned(), state: Some(state.to_owned()) })
            }
            ("n:", nonce) => Some(Self::Theirs { nonce: nonce.to_owned(), state: None }),
            _ => None,
        }
    }

    /// Of a call that comes back, if it does.
    pub(super) fn of(context: &ToolContext) -> Option<Self> {
        context.client.as_ref()?.state.as_deref().and_then(Self::read)
    }

    fn write(&self) -> String {
        match self {
            Self::Parked(id) => format!("p:{id}"),
            Self::Theirs { nonce, state: Some(state) } => format!("s:{nonce}:{state}"),
            Self::Theirs { nonce, state: None } => format!("n:{nonce}"),
        }
    }
}

/// What is asked, by key.
pub(super) type Requests = BTreeMap<String, ClientRequest>;

/// The ending of a call that has to ask.
pub(super) fn asks(requests: Requests, state: &State) -> Ending {
    Ending::NeedsClient(ClientInput { requests, state: Some(state.write()) })
}

/// A call of a server that may ask in its middle.
pub(super) struct Call {
    pub(super) upstream: Upstream,
    pub(super) remote: String,
    pub(super) params: Arc<Value>,
    pub(super) headers: Arc<[HeaderParam]>,
}

/// Such a call, as it runs. Dropping it calls it off.
pub(super) struct ServerDialogue {
    running: Running,
    asked: mpsc::Receiver<Put>,
    /// Questions that were put and not answered yet.
    open: BTreeMap<String, Put>,
    owner: Arc<str>,
    /// Reports go to the last caller.
    relay: Arc<Relay>,
    next: u64,
}

struct Running(JoinHandle<Result<Reply, UpstreamError>>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct Put {
    request: ClientRequest,
    answer: oneshot::Sender<Value>,
}

/// What comes next in a call.
pub(super) enum Turn {
    Answered(Result<Reply, UpstreamError>),
    Asks(Requests),
}

impl ServerDialogue {
    pub(super) fn begin(call: Call, mut options: CallOptions, context: &ToolContext) -> Self {
        let (put, asked) = mpsc::channel(16);
        let relay = Arc::new(Relay(Mutex::new(context.reporter.clone())));
        let capabilities =
            context.client.as_ref().map(|client| Arc::clone(&client.capabilities)).unwrap_or_default();
        let owner = Arc::clone(&options.owner);
        options.answers = Some(Arc::new(Bridge { put, capabilities }));
        options.reporter = Reporter::new(Arc::clone(&relay) as Arc<dyn Report>);
        // A person may take long; each of our client's own calls keeps to the tool's limit.
        options.timeout = options.timeout.map(|limit| limit + PATIENCE);
        let running = tokio::spawn(async move {
            let target = Target::Tool { name: &call.remote, arguments: &call.params, headers: &call.headers };
            call.upstream.reach(target, &options).await
        });
        Self { running: Running(running), asked, open: BTreeMap::new(), owner, relay, next: 1 }
    }

    /// Takes up the client's answers.
    pub(super) fn resumed(self, context: &ToolContext) -> Self {
        *self.relay.0.lock().unwrap_or_else(PoisonError::into_inner) = context.reporter.clone();
        match &context.client {
            Some(client) => self.answered(&client.responses),
            None => self,
        }
    }

    /// The same for a client that came to another server. Nobody hears reports there.
    pub(super) fn answered(mut self, responses: &Map<String, Value>) -> Self {
        for (key, response) in responses {
            if let Some(put) = self.open.remove(key) {
                // The server may have given the question up.
                let _ = put.answer.send(response.clone());
            }
        }
        self
    }

    /// Waits for the answer or a question. What is still open is asked again.
    pub(super) async fn next(&mut self) -> Turn {
        self.open.retain(|_, put| !put.answer.is_closed());
        if self.open.is_empty() {
            tokio::select! {
                biased;
                ended = &mut self.running.0 => {
                    return Turn::Answered(ended.unwrap_or(Err(UpstreamError::Stopped)));
                }
                Some(put) = self.asked.recv() => self.keep(put),
            }
        }
        while let Ok(put) = self.asked.try_recv() {
            self.keep(put);
        }
        Turn::Asks(self.open.iter().map(|(key, put)| (key.clone(), put.request.clone())).collect())
    }

    fn keep(&mut self, put: Put) {
        self.open.insert(format!("question-{}", self.next), put);
        self.next += 1;
    }
}

struct Relay(Mutex<Reporter>);

impl Relay {
    fn now(&self) -> Reporter {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Report for Relay {
    fn progress(&self, progress: &Progress) {
        self.now().progress(progress);
    }

    fn log(&self, level: Level, text: &str) {
        self.now().log(level, text);
    }
}

/// Puts a server's questions to the caller.
struct Bridge {
    put: mpsc::Sender<Put>,
    capabilities: Arc<Map<String, Value>>,
}

impl Answers for Bridge {
    fn answer(&self, asked: Asked) -> Answering<'_> {
        Box::pin(async move {
            if !asked.fits(&self.capabilities) {
                return asked.unanswered();
            }
            let (answer, told) = oneshot::channel();
            let request = asked.request();
            if self.put.send(Put { request, answer }).await.is_err() {
                return asked.unanswered();
            }
            match told.await {
                Ok(response) => Ok(response),
                Err(_) => asked.unanswered(),
            }
        })
    }
}

/// Calls that wait for their client to come back.
#[derive(Default)]
pub(super) struct Parking {
    calls: Mutex<HashMap<String, Parked>>,
    /// Numbers of questions that a server without sessions asked: until when they hold, and whether they were used.
    asked: Mutex<HashMap<String, (Instant, bool)>>,
}

struct Parked {
    dialogue: ServerDialogue,
    tool: String,
    until: Instant,
    /// Its client may come to another of several servers.
    _mail: Option<Expecting>,
}

impl Server {
    /// Whether another of several servers gave out this state, and nobody has used it. The edge took it from the client
    /// with our seal for this very call, and none is sealed but for a call that was allowed.
    pub(super) async fn was_asked_elsewhere(&self, state: &State) -> bool {
        let nonce = match state {
            State::Theirs { nonce, .. } => nonce,
            State::Parked(id) => return self.is_parked_elsewhere(id).await,
        };
        let Some(runtime) = self.sharing() else { return false };
        let id = nonce.clone();
        let used = runtime.store.read(move |unit| parcels::get(unit, Kind::Question, &id)).await;
        match used {
            Ok(used) => used.is_none() && !self.parking.gave_out(nonce),
            Err::<_, StoreError>(error) => {
                tracing::error!(%error, "whether an answer was used before cannot be read");
                false
            }
        }
    }

    /// The runtime, where several servers share a database.
    pub(super) fn sharing(&self) -> Option<Arc<Runtime>> {
        self.runtime.upgrade().filter(|runtime| runtime.store.lease().is_some())
    }

    /// Uses the number of a question; false if it was used before, at whichever of several servers.
    pub(super) async fn use_up(&self, nonce: &str) -> bool {
        if !self.parking.use_up(nonce) {
            return false;
        }
        let Some(runtime) = self.sharing() else { return true };
        let nonce = nonce.to_owned();
        let used = runtime
            .store
            .write(move |unit| parcels::use_up(unit, Kind::Question, &nonce, "", PATIENCE))
            .await;
        used.unwrap_or_else(|error: StoreError| {
            tracing::error!(%error, "whether an answer was used before cannot be read");
            false
        })
    }
}

impl Parking {
    /// Sets a call aside under an id; false if too many are.
    pub(super) fn park(
        self: &Arc<Self>,
        dialogue: ServerDialogue,
        tool: &str,
        stop: &CancellationToken,
        (id, mail): (String, Option<Expecting>),
    ) -> bool {
        {
            let mut calls = self.calls();
            let now = Instant::now();
            calls.retain(|_, parked| parked.until > now);
            let of_one = calls.values().filter(|parked| parked.dialogue.owner == dialogue.owner).count();
            if calls.len() >= MOST_PARKED || of_one >= MOST_OF_ONE {
                return false;
            }
            let (tool, until) = (tool.to_owned(), now + PATIENCE);
            calls.insert(id.clone(), Parked { dialogue, tool, until, _mail: mail });
        }
        // A caller that does not come back leaves nothing behind.
        let (parking, stop, gone) = (Arc::downgrade(self), stop.clone(), id);
        tokio::spawn(async move {
            stop.run_until_cancelled(tokio::time::sleep(PATIENCE)).await;
            if let Some(parking) = parking.upgrade() {
                drop(parking.calls().remove(&gone));
            }
        });
        true
    }

    /// The call of that owner and tool that waits under that id.
    pub(super) fn take(&self, id: &str, owner: &str, tool: &str) -> Option<ServerDialogue> {
        let mut calls = self.calls();
        let fits =
            calls.get(id).is_some_and(|parked| &*parked.dialogue.owner == owner && parked.tool == tool);
        if fits { calls.remove(id).map(|parked| parked.dialogue) } else { None }
    }

    /// Whether the call of that state was allowed here before it asked.
    pub(super) fn knows(&self, state: &State) -> bool {
        match state {
            State::Parked(id) => self.calls().contains_key(id),
            State::Theirs { nonce, .. } => self.asked().get(nonce).is_some_and(|(_, used)| !used),
        }
    }

    fn gave_out(&self, nonce: &str) -> bool {
        self.asked().contains_key(nonce)
    }

    /// A state for a question of a server without sessions.
    pub(super) fn state(&self, state: Option<String>) -> State {
        let (nonce, now) = (Uuid::new_v4().simple().to_string(), Instant::now());
        let mut asked = self.asked();
        asked.retain(|_, (until, _)| *until > now);
        asked.insert(nonce.clone(), (now + PATIENCE, false));
        State::Theirs { nonce, state }
    }

    /// Uses a number; false if it was used before. One that another process gave out is not known here.
    pub(super) fn use_up(&self, nonce: &str) -> bool {
        match self.asked().get_mut(nonce) {
            Some((_, used)) => !std::mem::replace(used, true),
            None => true,
        }
    }

    pub(super) fn clear(&self) {
        let gone = std::mem::take(&mut *self.calls());
        drop(gone);
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, HashMap<String, Parked>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Instant, bool)>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
