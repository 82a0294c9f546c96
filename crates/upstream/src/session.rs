//! One conversation with a server, of whichever era.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::HeaderMap;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;
use toolroom_mcp::frame::{self, Field, ParamsWithMeta};
use toolroom_mcp::meta::PROGRESS_TOKEN;
use toolroom_mcp::method::{Method, notification};
use toolroom_mcp::{Revision, headers};

use crate::answers::Caller;
use crate::error::Failure;
use crate::identity::{Identity, stateless_meta};
use crate::pending_calls::{PendingCalls, Ticket};
use crate::transport::{Parcel, Transport};

/// How a server is spoken to. Found out once, then remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Era {
    /// 2026-07-28: every request stands alone.
    Stateless,
    /// `initialize` first.
    Session,
    /// `initialize` first, over HTTP+SSE.
    HttpSse,
}

/// What a server says of itself.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The revision that is spoken.
    pub revision: Revision,
    /// Its name and version, as it gave them.
    pub server: Value,
    /// What it can do.
    pub capabilities: Value,
    /// How it wants to be used.
    pub instructions: Option<String>,
}

/// A request, before it has a number.
pub(crate) struct OutgoingRequest<'a> {
    pub(crate) method: Method,
    pub(crate) fields: &'a [(&'static str, Field<'a>)],
    /// The tool, prompt or resource that it is about.
    pub(crate) name: Option<&'a str>,
    /// Further headers.
    pub(crate) headers: HeaderMap,
    /// `_meta`, without what every request carries.
    pub(crate) meta: &'a Map<String, Value>,
    /// What the caller can do.
    pub(crate) capabilities: Option<&'a Value>,
    pub(crate) log_level: Option<&'a str>,
    pub(crate) caller: Caller,
}

impl<'a> OutgoingRequest<'a> {
    /// One that no call stands behind.
    pub(crate) fn plain(method: Method, fields: &'a [(&'static str, Field<'a>)]) -> Self {
        static NOTHING: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
        Self {
            method,
            fields,
            name: None,
            headers: HeaderMap::new(),
            meta: &NOTHING,
            capabilities: None,
            log_level: None,
            caller: Caller::default(),
        }
    }
}

/// A way to a server with the waiters on it; what is said depends on the era.
pub(crate) struct Session {
    pub(crate) calls: Arc<PendingCalls>,
    pub(crate) transport: Transport,
    pub(crate) identity: Arc<Identity>,
    /// Whether requests carry what they need. A program that turns out to be older changes it.
    pub(crate) stateless: AtomicBool,
    /// Set once all is over.
    pub(crate) ended: OnceCell<()>,
}

impl Session {
    /// Asks, and waits for the answer. Dropping the future calls the request off.
    pub(crate) async fn ask(self: &Arc<Self>, question: OutgoingRequest<'_>) -> Result<Box<str>, Failure> {
        let (ticket, mut reply) = self.calls.register(question.caller.clone())?;
        // Lists and handshakes have limits of their own.
        let mut watch = SilenceWatch { session: self, ticket: &ticket, answered: !question.caller.is_call };
        let answer = self.exchange(&ticket, question, &mut reply).await;
        watch.answered = true;
        answer
    }

    async fn exchange(
        &self,
        ticket: &Ticket,
        question: OutgoingRequest<'_>,
        reply: &mut tokio::sync::oneshot::Receiver<crate::pending_calls::Reply>,
    ) -> Result<Box<str>, Failure> {
        let parcel = self.parcel(ticket.id, question);
        let carrying = self.transport.carry(&self.calls, ticket, parcel);
        tokio::pin!(carrying);
        let mut carried = false;
        loop {
            tokio::select! {
                biased;
                answer = &mut *reply => {
                    return answer.unwrap_or_else(|_| Err(Failure::Lost(self.calls.close_reason())));
                }
                outcome = &mut carrying, if !carried => {
                    carried = true;
                    // An answer that came before the way broke is an answer.
                    if let Err(failure) = outcome {
                        return reply.try_recv().unwrap_or(Err(failure));
                    }
                }
                () = self.calls.closed().cancelled() => {
                    return reply.try_recv().unwrap_or_else(|_| Err(self.lost(ticket)));
                }
            }
        }
    }

    /// What the end of the connection means for a request.
    fn lost(&self, ticket: &Ticket) -> Failure {
        let reason = self.calls.close_reason();
        if ticket.sent.withdraw() { Failure::NotSent(reason) } else { Failure::Lost(reason) }
    }

    fn parcel(&self, id: u64, question: OutgoingRequest<'_>) -> Parcel {
        let OutgoingRequest {
            method,
            fields,
            name,
            headers: mut extra,
            meta,
            capabilities,
            log_level,
            caller,
        } = question;
        let stateless = self.stateless.load(Ordering::Relaxed);
        let mut meta = match stateless {
            true => {
                let capabilities = capabilities.unwrap_or(&self.identity.session_capabilities).clone();
                stateless_meta(&self.identity, capabilities, log_level, meta)
            }
            false => meta.clone(),
        };
        if caller.is_call {
            meta.insert(PROGRESS_TOKEN.into(), id.into());
        }
        if stateless {
            extra.extend(headers::of_request(method.name(), name));
        } else {
            extra.clear();
        }
        Parcel {
            text: frame::request(&id.into(), method.name(), &ParamsWithMeta { fields, meta: &meta }),
            headers: extra,
        }
    }

    /// Whether the server still answers at all; if it does not, the connection is given up.
    async fn check(&self, limit: Duration) {
        let ping = if self.stateless.load(Ordering::Relaxed) { Method::Discover } else { Method::Ping };
        let Ok((ticket, mut reply)) = self.calls.register(Caller::default()) else { return };
        let answer = self.exchange(&ticket, OutgoingRequest::plain(ping, &[]), &mut reply);
        if tokio::time::timeout(limit, answer).await.is_err() && ticket.met_silence() {
            self.calls.close(Failure::Lost("it stopped answering".to_owned()));
        }
    }

    /// Whether the server is a program of ours, of which we see the end.
    pub(crate) fn is_process(&self) -> bool {
        matches!(self.transport, Transport::Stdio(_))
    }

    /// Whether something lasts with the server that would break if it became another: its process or a stream. A session
    /// alone does not count: a server that takes any session id could become another unseen.
    pub(crate) fn is_watched(&self) -> bool {
        match &self.transport {
            Transport::Stdio(_) | Transport::HttpSse(_) => true,
            Transport::Streamable(_) => self.calls.stream().is_wanted(),
        }
    }

    /// Sends `notifications/initialized`.
    pub(crate) async fn initialized(&self) -> Result<(), Failure> {
        self.transport.notify(frame::notification(notification::INITIALIZED, None::<&Value>)).await
    }

    /// Ends the conversation and all that belongs to it.
    pub(crate) async fn end(&self) {
        self.calls.close(Failure::Lost("it is being shut down".to_owned()));
        self.ended.get_or_init(|| self.transport.end()).await;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.calls.close(Failure::Lost("the connection was closed".to_owned()));
    }
}

/// How long a silent server has to show that it lives.
const CHECK_LIMIT: Duration = Duration::from_secs(5);

/// Looks after a server when a request to it is given up without a sign of life.
struct SilenceWatch<'a> {
    session: &'a Arc<Session>,
    ticket: &'a Ticket,
    answered: bool,
}

impl Drop for SilenceWatch<'_> {
    fn drop(&mut self) {
        if !self.answered && self.ticket.met_silence() && !self.session.calls.is_closed() {
            let session = Arc::clone(self.session);
            tokio::spawn(async move { session.check(CHECK_LIMIT).await });
        }
    }
}

/// The parameters of `initialize`.
pub(crate) fn initialize_params(identity: &Identity) -> [(&'static str, Value); 3] {
    [
        ("protocolVersion", json!(Revision::LATEST_WITH_INITIALIZE.as_str())),
        ("capabilities", identity.session_capabilities.clone()),
        ("clientInfo", identity.info()),
    ]
}
