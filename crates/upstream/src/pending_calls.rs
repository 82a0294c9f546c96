//! Who waits for what on one connection: answers, progress and questions find the call that they belong to.
//!
//! Nothing that a server sends is queued here. An answer goes to its waiter, progress to its reporter, a
//! change of a list moves a counter, and the rest is dropped; so a flood costs time, but no memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use toolroom_contract::report::{Level, Progress};
use toolroom_mcp::method::{Method, notification};
use toolroom_mcp::{Code, Id, LogLevel, Message, RpcError, frame};

use crate::answers::{Asked, Caller};
use crate::error::{Failure, excerpt};
use crate::notices::{Changes, Notices};
use crate::outbox::{Job, Sent};
use crate::review::Stream;

/// Questions of a server that one call may have open at a time.
const MOST_QUESTIONS: usize = 16;

/// The longest address that is passed on.
const LONGEST_URI: usize = 8 << 10;

/// What comes back for a request.
pub(crate) type Reply = Result<Box<str>, Failure>;

/// One connection's waiters.
pub(crate) struct PendingCalls {
    server: Arc<str>,
    began: Instant,
    /// Milliseconds since `began` at which something last came in.
    heard: AtomicU64,
    next: AtomicU64,
    running: Mutex<HashMap<u64, Running>>,
    outbox: mpsc::Sender<Job>,
    changes: Arc<Notices>,
    closed: CancellationToken,
    reason: OnceLock<Failure>,
    /// Whether changes of the list of tools are told.
    stream: Stream,
    /// Whether a call that is given up is withdrawn by a notification.
    says_cancelled: AtomicBool,
}

struct Running {
    reply: oneshot::Sender<Reply>,
    caller: Caller,
    questions: Arc<()>,
    ended: CancellationToken,
}

impl PendingCalls {
    pub(crate) fn new(server: Arc<str>, outbox: mpsc::Sender<Job>, changes: Arc<Notices>) -> Arc<Self> {
        Arc::new(Self {
            server,
            began: Instant::now(),
            heard: AtomicU64::new(0),
            next: AtomicU64::new(1),
            running: Mutex::default(),
            outbox,
            changes,
            closed: CancellationToken::new(),
            reason: OnceLock::new(),
            stream: Stream::default(),
            says_cancelled: AtomicBool::new(false),
        })
    }

    /// Takes a number for a request, and a place for its answer.
    pub(crate) fn register(
        self: &Arc<Self>,
        caller: Caller,
    ) -> Result<(Ticket, oneshot::Receiver<Reply>), Failure> {
        if self.closed.is_cancelled() {
            return Err(Failure::NotSent(self.close_reason()));
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        let ended = CancellationToken::new();
        let running = Running { reply, caller, questions: Arc::new(()), ended: ended.clone() };
        self.running().insert(id, running);
        let ticket = Ticket { calls: Arc::clone(self), id, sent: Arc::default(), at: Instant::now(), ended };
        Ok((ticket, answer))
    }

    /// Takes a message that came in, on the stream of that request if it has one of its own.
    pub(crate) fn receive(self: &Arc<Self>, text: &[u8], of: Option<u64>) {
        self.heard.store(self.began.elapsed().as_millis() as u64, Ordering::Relaxed);
        let taken = frame::read_leniently(text, |message| match message {
            Message::Response { id, outcome } => {
                let id = id.as_ref().and_then(Id::number);
                // On a stream that belongs to one request, an error without an id is about that one, and an
                // answer to another is none.
                let id = match of {
                    Some(own) if id == Some(own) || (id.is_none() && outcome.is_err()) => of,
                    Some(_) => None,
                    None => id,
                };
                self.answer(id, outcome.map(Into::into).map_err(Failure::Rpc));
            }
            Message::Notification { method, params } => self.noted(&method, params, of),
            Message::Request { id, method, params } => self.asked(id, &method, params.text, of),
        });
        if taken.is_none() {
            tracing::debug!(server = %self.server, bytes = text.len(), "a server sent something that is not a message");
        }
    }

    /// Gives an answer to its waiter. One that nobody waits for, or no longer, is dropped.
    pub(crate) fn answer(&self, id: Option<u64>, reply: Reply) {
        match id.and_then(|id| self.running().remove(&id)) {
            Some(running) => {
                running.ended.cancel();
                let _ = running.reply.send(reply);
            }
            None => {
                tracing::debug!(server = %self.server, ?id, "a server answered a request that is not pending")
            }
        }
    }

    /// Whether nobody has answered that request yet.
    pub(crate) fn is_running(&self, id: u64) -> bool {
        self.running().contains_key(&id)
    }

    /// Ends the connection. The first reason stays.
    pub(crate) fn close(&self, reason: Failure) {
        let _ = self.reason.set(reason);
        self.closed.cancel();
    }

    /// The stream on which changes of the list of tools are told.
    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// That stream has ended: what was listed before may no longer be so.
    pub(crate) fn stream_ended(&self) {
        if self.stream.down() {
            self.changes.all_may_differ();
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    pub(crate) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    /// Why it was closed.
    pub(crate) fn close_failure(&self) -> Failure {
        self.reason.get().cloned().unwrap_or_else(|| Failure::Lost("the connection is closed".to_owned()))
    }

    pub(crate) fn close_reason(&self) -> String {
        self.close_failure().reason()
    }

    /// From now on, a request that is given up is called off by a notification.
    pub(crate) fn say_cancelled(&self) {
        self.says_cancelled.store(true, Ordering::Relaxed);
    }

    /// Sends what needs no answer. If the server takes nothing any more, it is dropped.
    pub(crate) fn post(&self, text: Vec<u8>) {
        if self.outbox.try_send(Job { text, sent: None }).is_err() {
            tracing::debug!(server = %self.server, "a message was dropped: the server does not read");
        }
    }

    /// Whether the server has said anything at all since then.
    pub(crate) fn heard_since(&self, then: Instant) -> bool {
        self.began + Duration::from_millis(self.heard.load(Ordering::Relaxed)) >= then
    }

    fn noted(&self, method: &str, params: Option<&str>, of: Option<u64>) {
        let changed = |count: fn(&mut Changes) -> &mut u64| {
            self.changes.send_modify(|changes| *count(changes) += 1);
        };
        match method {
            notification::PROGRESS => self.progressed(params),
            notification::MESSAGE => self.logged(params, of),
            notification::TOOLS_CHANGED => changed(|changes| &mut changes.tools),
            notification::RESOURCES_CHANGED => changed(|changes| &mut changes.resources),
            notification::PROMPTS_CHANGED => changed(|changes| &mut changes.prompts),
            notification::RESOURCE_UPDATED => self.updated(params),
            notification::SUBSCRIBED => self.acknowledged(params, of),
            _ => {}
        }
    }

    /// A subscription is in use. On a shared pipe the notification says which.
    fn acknowledged(&self, params: Option<&str>, of: Option<u64>) {
        #[derive(Default, Deserialize)]
        struct Acknowledged {
            #[serde(default)]
            notifications: Accepted,
            #[serde(rename = "_meta", default)]
            meta: Meta,
        }
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Accepted {
            tools_list_changed: bool,
        }
        #[derive(Default, Deserialize)]
        struct Meta {
            #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
            id: Option<u64>,
        }
        let said = params.and_then(|params| serde_json::from_str::<Acknowledged>(params).ok());
        let said = said.unwrap_or_default();
        let watches = |id| self.running().get(&id).is_some_and(|running| running.caller.watches_tools);
        if of.or(said.meta.id).is_some_and(watches) {
            if said.notifications.tools_list_changed { self.stream.up() } else { self.stream.refused() }
        }
    }

    fn updated(&self, params: Option<&str>) {
        #[derive(Deserialize)]
        struct Updated {
            uri: Arc<str>,
        }
        let updated = params.and_then(|params| serde_json::from_str::<Updated>(params).ok());
        if let Some(Updated { uri }) = updated.filter(|updated| updated.uri.len() <= LONGEST_URI) {
            // Nobody may be listening.
            let _ = self.changes.updates.send(uri);
        }
    }

    fn progressed(&self, params: Option<&str>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Noted {
            progress_token: u64,
            progress: f64,
            total: Option<f64>,
            message: Option<String>,
        }
        let Some(noted) = params.and_then(|params| serde_json::from_str::<Noted>(params).ok()) else {
            return;
        };
        let Noted { progress_token, progress, total, message } = noted;
        let message = message.map(|text| excerpt(&text).to_owned());
        let Some(caller) = self.running().get(&progress_token).map(|running| running.caller.clone()) else {
            return;
        };
        caller.reporter.progress(&Progress { progress, total, message });
    }

    fn logged(&self, params: Option<&str>, of: Option<u64>) {
        #[derive(Deserialize)]
        struct Logged {
            #[serde(default)]
            level: Value,
            data: Value,
        }
        let Some(Logged { level, data }) = params.and_then(|params| serde_json::from_str(params).ok()) else {
            return;
        };
        let level = serde_json::from_value::<LogLevel>(level).map_or(Level::Info, Level::from);
        let text = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
        if let Some((caller, ..)) = self.caller_of(of) {
            caller.reporter.log(level, excerpt(&text));
        }
    }

    /// The call that a message without an address belongs to. On a shared pipe that can be told only if all
    /// calls that run are of one and the same owner: nobody is asked another's questions.
    fn caller_of(&self, of: Option<u64>) -> Option<(Caller, Arc<()>, CancellationToken)> {
        let running = self.running();
        let found = match of {
            Some(id) => running.get(&id)?,
            None => {
                let mut calls = running.iter().filter(|(_, call)| call.caller.is_call).collect::<Vec<_>>();
                calls.sort_unstable_by_key(|(id, _)| **id);
                let (_, last) = calls.last()?;
                let same = |call: &Running| call.caller.owner == last.caller.owner;
                calls.iter().all(|(_, call)| same(call)).then_some(*last)?
            }
        };
        Some((found.caller.clone(), Arc::clone(&found.questions), found.ended.clone()))
    }

    fn asked(self: &Arc<Self>, id: Id, method: &str, params: Option<&str>, of: Option<u64>) {
        if method == Method::Ping.name() {
            return self.respond(&id, Ok(json!({})));
        }
        let Some(asked) = Asked::new(method, params) else {
            return self
                .respond(&id, Err(RpcError::new(Code::MethodNotFound, "not a method of this client")));
        };
        let Some((caller, questions, ended)) = self.caller_of(of) else {
            return self.respond(&id, asked.unanswered());
        };
        let Some(answers) = caller.answers else {
            return self.respond(&id, asked.unanswered());
        };
        // One count is the call's own, one is ours.
        if Arc::strong_count(&questions) > MOST_QUESTIONS + 2 {
            return self.respond(&id, Err(RpcError::new(Code::Internal, "too many questions at once")));
        }
        let calls = Arc::clone(self);
        tokio::spawn(async move {
            let _held = questions;
            let outcome = ended.run_until_cancelled(answers.answer(asked)).await;
            let gone = || Err(RpcError::new(Code::Internal, "the call that this belongs to has ended"));
            calls.respond(&id, outcome.unwrap_or_else(gone));
        });
    }

    fn respond(&self, id: &Id, outcome: Result<Value, RpcError>) {
        let outcome = outcome.map(|result| result.to_string().into_bytes());
        self.post(frame::response(Some(id), outcome.as_deref()));
    }

    fn running(&self) -> MutexGuard<'_, HashMap<u64, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request's place among the waiters. Dropping it gives the request up.
pub(crate) struct Ticket {
    calls: Arc<PendingCalls>,
    pub(crate) id: u64,
    pub(crate) sent: Arc<Sent>,
    at: Instant,
    ended: CancellationToken,
}

impl Ticket {
    /// Whether the server has said nothing since the request was made, though there was time.
    pub(crate) fn met_silence(&self) -> bool {
        self.at.elapsed() >= Duration::from_secs(1) && !self.calls.heard_since(self.at)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.ended.cancel();
        let unanswered = self.calls.running().remove(&self.id).is_some();
        // What waits to be written is taken back; what was written is called off.
        if self.sent.withdraw() || !unanswered || self.calls.is_closed() {
            return;
        }
        if self.calls.says_cancelled.load(Ordering::Relaxed) {
            let params = json!({ "requestId": self.id, "reason": "the caller has left" });
            self.calls.post(frame::notification(notification::CANCELLED, Some(&params)));
        }
    }
}
