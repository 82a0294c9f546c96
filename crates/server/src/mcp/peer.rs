//! The way back to the client while a request is worked on: notifications, and questions in older revisions.
//!
//! Every transport drains the one queue behind a [`Peer`] into its own kind of stream.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use toolroom_contract::ids::RunId;
use toolroom_contract::report::{Level, Progress, Report};
use toolroom_mcp::method::notification;
use toolroom_mcp::{Id, LogLevel, RpcError, frame};

/// A client, as a method can reach it. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Peer(Option<Arc<Line>>);

struct Line {
    out: mpsc::Sender<Bytes>,
    /// Where answers to our own requests arrive; none where the revision has no such requests.
    questions: Option<Arc<Questions>>,
}

/// Messages that wait for a client that reads slowly; reports beyond that are dropped.
const QUEUE: usize = 256;

/// Why a client did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    /// The transport has no way to ask.
    #[error("this client cannot be asked")]
    NoWay,
    /// The connection or session ended first.
    #[error("the client went away")]
    Gone,
    /// It did not answer in time.
    #[error("the client took too long")]
    Late,
    /// It answered with an error.
    #[error("the client refused: {}", .0.message)]
    Refused(RpcError),
}

/// What we have asked a client and not been told yet. One per session; ids are ours.
pub(crate) struct Questions {
    next: AtomicU64,
    /// Where answers may reach another server: who asks.
    asker: Option<RunId>,
    open: Mutex<HashMap<Id, oneshot::Sender<Result<Value, RpcError>>>>,
}

impl Default for Questions {
    /// Ids begin anywhere: a client may go on with another process, and a late answer to this one must fit nothing there.
    fn default() -> Self {
        let (start, ..) = uuid::Uuid::new_v4().as_fields();
        Self { next: AtomicU64::new(u64::from(start) << 16), asker: None, open: Mutex::default() }
    }
}

impl Questions {
    /// Those of one of several servers. Ids begin with the server, so that whoever gets the answer knows whose it is.
    pub(crate) fn of(asker: RunId) -> Self {
        Self { asker: Some(asker), ..Self::default() }
    }

    /// The server that gave out this id, if it was one of several.
    pub(crate) fn asker_of(id: &Id) -> Option<RunId> {
        match id {
            Id::Text(text) => text.split_once('.')?.0.parse().ok(),
            Id::Number(_) => None,
        }
    }

    /// An answer came in. False if nobody asked.
    pub(crate) fn answer(&self, id: &Id, outcome: Result<Value, RpcError>) -> bool {
        let asked = self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        // The asker may have left.
        asked.is_some_and(|asked| asked.send(outcome).is_ok())
    }

    fn register(&self) -> (Id, oneshot::Receiver<Result<Value, RpcError>>) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let id = match self.asker {
            Some(asker) => Id::Text(format!("{asker}.{number}").into()),
            None => Id::Number(number.into()),
        };
        let (tell, told) = oneshot::channel();
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), tell);
        (id, told)
    }
}

/// A question that is open. If it still is when the asker leaves, the client is told not to bother.
struct Asked<'a> {
    peer: &'a Peer,
    questions: &'a Questions,
    id: &'a Id,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled<'a> {
            request_id: &'a Id,
            reason: &'static str,
        }
        let open = self.questions.open.lock().unwrap_or_else(PoisonError::into_inner).remove(self.id);
        if open.is_some() {
            let cancelled = Cancelled { request_id: self.id, reason: "no longer needed" };
            self.peer.report(notification::CANCELLED, &cancelled);
        }
    }
}

impl Peer {
    /// Nothing can be sent before the answer.
    pub(crate) fn silent() -> Self {
        Self(None)
    }

    /// A peer, and the queue that its transport drains.
    pub(crate) fn streaming(questions: Option<Arc<Questions>>) -> (Self, mpsc::Receiver<Bytes>) {
        let (out, drained) = mpsc::channel(QUEUE);
        (Self(Some(Arc::new(Line { out, questions }))), drained)
    }

    /// A message that is ready. False if the client is gone, or cannot be told anything.
    pub(crate) async fn send(&self, message: Bytes) -> bool {
        match &self.0 {
            Some(line) => line.out.send(message).await.is_ok(),
            None => false,
        }
    }

    /// A notification that may be lost if the client does not keep up; never waits.
    pub(crate) fn report(&self, method: &str, params: &impl Serialize) {
        if let Some(line) = &self.0
            && let Ok(place) = line.out.try_reserve()
        {
            place.send(frame::notification(method, Some(params)).into());
        }
    }

    /// A notification that must arrive. False if the client is gone, or cannot be told anything.
    pub(crate) async fn notify(&self, method: &str, params: &impl Serialize) -> bool {
        match &self.0 {
            Some(line) => line.out.send(frame::notification(method, Some(params)).into()).await.is_ok(),
            None => false,
        }
    }

    /// Asks the client for something, and waits for its answer.
    pub(crate) async fn ask(&self, method: &str, params: &impl Serialize) -> Result<Value, AskError> {
        let (line, questions) = match &self.0 {
            Some(line) => (line, line.questions.as_ref().ok_or(AskError::NoWay)?),
            None => return Err(AskError::NoWay),
        };
        let (id, told) = questions.register();
        let _asked = Asked { peer: self, questions, id: &id };
        line.out.send(frame::request(&id, method, params).into()).await.map_err(|_| AskError::Gone)?;
        told.await.map_err(|_| AskError::Gone)?.map_err(AskError::Refused)
    }
}

/// A running tool's reports, as notifications.
pub(crate) struct Reports {
    peer: Peer,
    token: Option<Id>,
    level: Option<LogLevel>,
    tool: String,
    /// Progress only grows; a tool that says otherwise is not passed on.
    last: Mutex<f64>,
}

impl Reports {
    pub(crate) fn new(peer: Peer, token: Option<Id>, level: Option<LogLevel>, tool: &str) -> Self {
        Self { peer, token, level, tool: tool.to_owned(), last: Mutex::new(f64::NEG_INFINITY) }
    }
}

impl Report for Reports {
    fn progress(&self, progress: &Progress) {
        #[derive(Serialize)]
        struct Params<'a> {
            #[serde(rename = "progressToken")]
            token: &'a Id,
            #[serde(flatten)]
            progress: &'a Progress,
        }
        let Some(token) = &self.token else { return };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.progress > *last {
            *last = progress.progress;
            self.peer.report(notification::PROGRESS, &Params { token, progress });
        }
    }

    fn log(&self, level: Level, text: &str) {
        #[derive(Serialize)]
        struct Params<'a> {
            level: LogLevel,
            logger: &'a str,
            data: &'a str,
        }
        let level = LogLevel::from(level);
        if self.level.is_some_and(|wanted| level >= wanted) {
            self.peer.report(notification::MESSAGE, &Params { level, logger: &self.tool, data: text });
        }
    }
}
