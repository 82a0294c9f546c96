//! The messages of a session, on whatever transport: requests become work, the rest is dealt with at once.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::Value;
use toolroom_mcp::meta::RequestMeta;
use toolroom_mcp::method::notification;
use toolroom_mcp::{Client, Code, Frame, Id, LogLevel, Malformed, Message, Method, Params, RpcError, frame};

use super::shared::{Change, To};
use super::{Session, Ticket, agree, remember_shown};
use crate::app::App;
use crate::mcp::caller::Caller;
use crate::mcp::dispatch::dispatch;
use crate::mcp::mail::Letter;
use crate::mcp::peer::{Peer, Questions};
use crate::mcp::read::request::Request;

/// A session, and the way back to its client for the messages that are taken in now.
#[derive(Clone)]
pub(crate) struct Conversation {
    pub(crate) app: Arc<App>,
    pub(crate) session: Arc<Session>,
    pub(crate) caller: Caller,
    pub(crate) peer: Peer,
}

/// What is left to do for a frame.
pub(crate) enum Taken {
    /// Nothing, and nothing is answered.
    Nothing,
    /// This, and its outcome is the answer. Dropping it stops it.
    Work(Work),
}

/// Gives the answer, or nothing if the client cancelled.
pub(crate) type Work = Pin<Box<dyn Future<Output = Option<Bytes>> + Send>>;

/// A request that is ready to be worked on.
pub(crate) struct Job {
    ticket: Ticket,
    id: Id,
    method: Method,
    client: Arc<Client>,
    params: Option<Box<str>>,
}

enum Part {
    Answered(Bytes),
    /// Answered once all servers know what was said of the session.
    Shared(Id, Change),
    Job(Box<Job>),
}

/// Messages in one batch.
const LARGEST_BATCH: usize = 100;

impl Conversation {
    /// Takes in a frame of a revision with a handshake. What is said on the way goes to the peer.
    pub(crate) fn take(&self, frame: Frame<'_>) -> Result<Taken, RpcError> {
        match frame {
            Frame::One(message) => Ok(match self.message(message) {
                None => Taken::Nothing,
                Some(part) => Taken::Work(self.clone().work(part)),
            }),
            Frame::Batch(messages) => {
                let refuse =
                    |why: &'static str| Err(RpcError::new(Code::InvalidRequest, why).of_the_envelope());
                if !self.session.client().is_some_and(|client| client.revision.has_batches()) {
                    return refuse("Send one message at a time: this revision has no batches.");
                }
                if messages.len() > LARGEST_BATCH {
                    return refuse("A batch may have at most 100 messages.");
                }
                let refused = |bad: Malformed| {
                    Some(Part::Answered(frame::response(bad.id.as_ref(), Err(&bad.error)).into()))
                };
                let parts =
                    messages.into_iter().filter_map(|one| one.map_or_else(refused, |one| self.message(one)));
                let parts: Vec<Part> = parts.collect();
                Ok(if parts.is_empty() { Taken::Nothing } else { Taken::Work(self.clone().batch(parts)) })
            }
        }
    }

    /// A request that stands alone, on a transport that has no headers.
    pub(crate) fn take_alone(&self, id: Id, method: &str, params: Params<'_>) -> Work {
        let part = self.prepare_alone(&id, method, params);
        self.clone().work(part.unwrap_or_else(|error| refusal(&id, error)))
    }

    fn prepare_alone(&self, id: &Id, method: &str, params: Params<'_>) -> Result<Part, RpcError> {
        let mut meta = params.meta()?.unwrap_or_default();
        let client = meta.client()?;
        let method = Method::find(method, client.revision).ok_or_else(RpcError::method_not_found)?;
        self.job(id.clone(), method, Arc::new(client), params.text)
    }

    fn work(self, part: Part) -> Work {
        match part {
            Part::Answered(answer) => Box::pin(std::future::ready(Some(answer))),
            Part::Shared(id, change) => Box::pin(async move { Some(self.share(&id, change).await) }),
            Part::Job(job) => Box::pin(async move { self.answer(*job).await }),
        }
    }

    fn batch(self, parts: Vec<Part>) -> Work {
        Box::pin(async move {
            let answers = join_all(parts.into_iter().map(|part| self.clone().work(part))).await;
            let mut out = vec![b'['];
            for answer in answers.into_iter().flatten() {
                if out.len() > 1 {
                    out.push(b',');
                }
                out.extend_from_slice(&answer);
            }
            out.push(b']');
            // All of it was cancelled.
            (out.len() > 2).then(|| out.into())
        })
    }

    fn message(&self, message: Message<'_>) -> Option<Part> {
        match message {
            Message::Request { id, method, params } => {
                Some(self.request(&id, &method, params).unwrap_or_else(|error| refusal(&id, error)))
            }
            Message::Notification { method, params } => {
                self.notification(&method, params);
                None
            }
            Message::Response { id, outcome } => {
                if let Some(id) = id {
                    let read = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
                    self.answered(id, outcome.map(read));
                }
                None
            }
        }
    }

    /// The client has answered a question of ours, or of another server that it has a stream of.
    fn answered(&self, id: Id, outcome: Result<Value, RpcError>) {
        match self.session.asked_elsewhere(Questions::asker_of(&id)) {
            None => _ = self.session.questions.answer(&id, outcome),
            Some(asker) => {
                let letter = Letter::Answer { session: self.session.id.to_string(), id, outcome };
                self.session.post(&self.app.runtime.store, To::One(asker), &letter);
            }
        }
    }

    /// A notification that we do not know is none of our business.
    pub(crate) fn notification(&self, method: &str, params: Option<&str>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled {
            request_id: Id,
        }
        if method == notification::CANCELLED
            && let Some(Ok(Cancelled { request_id })) = params.map(serde_json::from_str)
            && !self.session.cancel(&request_id)
        {
            // Nobody knows who works on it.
            let letter = Letter::Cancelled { session: self.session.id.to_string(), id: request_id };
            self.session.post(&self.app.runtime.store, To::Others, &letter);
        }
    }

    fn request(&self, id: &Id, method: &str, params: Params<'_>) -> Result<Part, RpcError> {
        let done = |result: Vec<u8>| Ok(Part::Answered(frame::response(Some(id), Ok(&result)).into()));
        if method == Method::Initialize.name() {
            let (client, result) = agree(params.text)?;
            if !self.session.meet(client) {
                return Err(RpcError::new(Code::InvalidRequest, "This session is already initialized."));
            }
            remember_shown(&self.app, &self.session, &self.caller);
            return done(result);
        }
        let Some(client) = self.session.client() else {
            return match method == Method::Ping.name() {
                true => done(b"{}".to_vec()),
                false => Err(RpcError::new(Code::InvalidRequest, "Send 'initialize' first.")),
            };
        };
        if let Some(mut meta) = params.meta()?.filter(RequestMeta::is_modern) {
            // The marks of a newer revision do no harm, but half of them are a mistake.
            meta.client()?;
        }
        let change = match Method::find(method, client.revision).ok_or_else(RpcError::method_not_found)? {
            Method::SetLogLevel => self.set_level(params.text)?,
            Method::ResourcesSubscribe => self.set_watched(&client, params.text, true)?,
            Method::ResourcesUnsubscribe => self.set_watched(&client, params.text, false)?,
            method => return self.job(id.clone(), method, client, params.text),
        };
        if self.session.shared.is_some() {
            return Ok(Part::Shared(id.clone(), change));
        }
        done(b"{}".to_vec())
    }

    async fn share(&self, id: &Id, change: Change) -> Bytes {
        let shared = self.session.share(&self.app.runtime.store, change).await;
        let outcome = shared.map(|()| b"{}".to_vec()).map_err(|error| {
            tracing::error!(%error, "what was said of a session cannot be kept");
            RpcError::new(Code::Internal, "The database cannot be reached; try again in a moment.")
        });
        frame::response(Some(id), outcome.as_deref()).into()
    }

    fn job(
        &self,
        id: Id,
        method: Method,
        client: Arc<Client>,
        params: Option<&str>,
    ) -> Result<Part, RpcError> {
        let ticket = self.session.begin(&id)?;
        Ok(Part::Job(Box::new(Job { ticket, id, method, client, params: params.map(Into::into) })))
    }

    fn set_level(&self, params: Option<&str>) -> Result<Change, RpcError> {
        #[derive(Deserialize)]
        struct Wanted {
            level: LogLevel,
        }
        let wanted: Wanted = serde_json::from_str(params.unwrap_or("{}"))
            .map_err(|_| RpcError::invalid_params("'level' must be one of the levels of log lines."))?;
        self.session.set_level(wanted.level);
        Ok(Change::Level(wanted.level))
    }

    fn set_watched(&self, client: &Client, params: Option<&str>, watched: bool) -> Result<Change, RpcError> {
        #[derive(Deserialize)]
        struct Wanted {
            uri: String,
        }
        let wanted: Wanted = serde_json::from_str(params.unwrap_or("{}"))
            .map_err(|_| RpcError::invalid_params("'uri' must be the address of a resource."))?;
        let visitor = self.caller.visitor(&self.app);
        if watched && !self.app.mcp.sources.watches(visitor, &wanted.uri) {
            return Err(RpcError::no_resource(client.revision, &wanted.uri));
        }
        self.session.set_watched(&wanted.uri, watched)?;
        Ok(Change::Watched { uri: wanted.uri, watched })
    }

    async fn answer(&self, job: Job) -> Option<Bytes> {
        let outcome = tokio::select! {
            biased;
            () = job.ticket.cancelled.cancelled() => return None,
            () = self.session.ended.cancelled() => return None,
            outcome = self.outcome(&job) => outcome,
        };
        Some(frame::response(Some(&job.id), outcome.as_deref()).into())
    }

    async fn outcome(&self, job: &Job) -> Result<Vec<u8>, RpcError> {
        let fields = Params::read(job.params.as_deref());
        let request = Request {
            app: &self.app,
            id: &job.id,
            caller: &self.caller,
            client: &job.client,
            meta: &fields.meta()?.unwrap_or_default(),
            fields,
            peer: &self.peer,
        };
        dispatch(job.method, &request).await
    }
}

fn refusal(id: &Id, error: RpcError) -> Part {
    Part::Answered(frame::response(Some(id), Err(&error)).into())
}
