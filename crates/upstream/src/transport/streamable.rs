//! Streamable HTTP: a POST for each request, answered with JSON or with a stream of events.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use reqwest::Response;
use tokio::sync::{mpsc, oneshot};
use toolroom_mcp::Revision;
use toolroom_mcp::headers::{LAST_EVENT, PROTOCOL_VERSION, SESSION};
use toolroom_work::sse::{Event, EventReader};

use super::{Parcel, post_all};
use crate::error::Failure;
use crate::http::{Ask, Http, MOST_BYTES, body, is_json, is_stream, lost, refusal};
use crate::outbox::Job;
use crate::pending_calls::{PendingCalls, Ticket};

/// How often a stream that broke before its answer is resumed.
const MOST_RESUMPTIONS: u32 = 5;
/// How long to wait before that, unless the server says.
const RESUME_AFTER: Duration = Duration::from_secs(1);
/// The longest wait that a server may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How long a connection waits for its stream of notifications before it is used without.
const STREAM_FIRST: Duration = Duration::from_millis(250);

/// The way to a URL.
pub(crate) struct Streamable {
    http: Arc<Http>,
    head: Arc<Head>,
}

/// What every request says about itself.
struct Head {
    stateless: bool,
    revision: OnceLock<Revision>,
    session: OnceLock<HeaderValue>,
}

/// From where a stream can be resumed.
#[derive(Default)]
struct Place {
    event: Option<String>,
    wait: Option<Duration>,
}

impl Streamable {
    /// Requests are sent at once; whatever else there is to send is taken from `jobs`.
    pub(crate) fn new(
        http: Arc<Http>,
        stateless: bool,
        calls: &Arc<PendingCalls>,
        jobs: mpsc::Receiver<Job>,
    ) -> Self {
        let revision = if stateless { OnceLock::from(Revision::LATEST) } else { OnceLock::new() };
        let head = Arc::new(Head { stateless, revision, session: OnceLock::new() });
        let shared = Arc::clone(&head);
        let to = move || (None, shared.headers(HeaderMap::new()));
        tokio::spawn(post_all(Arc::clone(&http), Arc::clone(calls), jobs, to));
        Self { http, head }
    }

    /// The revision was agreed upon.
    pub(crate) fn agreed(&self, revision: Revision) {
        let _ = self.head.revision.set(revision);
    }

    pub(crate) async fn carry(
        &self,
        calls: &Arc<PendingCalls>,
        ticket: &Ticket,
        parcel: Parcel,
    ) -> Result<(), Failure> {
        if !ticket.sent.start() {
            return Ok(());
        }
        let headers = self.head.headers(parcel.headers);
        let response = match self.http.post(None, headers, parcel.text.into()).await {
            Ok(response) => response,
            Err(failure) => {
                if failure.never_ran() {
                    ticket.sent.failed();
                }
                return Err(failure);
            }
        };
        self.take(calls, ticket.id, response).await
    }

    pub(crate) async fn notify(&self, text: Bytes) -> Result<(), Failure> {
        self.http.post_only(None, self.head.headers(HeaderMap::new()), text).await
    }

    /// Ends the session.
    pub(crate) async fn end(&self) {
        if self.head.session.get().is_some() {
            let headers = self.head.headers(HeaderMap::new());
            let farewell = self.http.ask(Ask { method: Method::DELETE, url: None, headers, body: None });
            // A server may refuse this, or be gone; either way there is nothing more to do.
            let _ = tokio::time::timeout(Duration::from_secs(2), farewell).await;
        }
    }

    async fn take(&self, calls: &Arc<PendingCalls>, id: u64, response: Response) -> Result<(), Failure> {
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(calls, response).await);
        }
        if !self.head.stateless
            && let Some(session) = response.headers().get(SESSION)
        {
            let _ = self.head.session.set(session.clone());
        }
        if is_stream(&response) {
            return self.follow(calls, id, response).await;
        }
        if is_json(&response) {
            calls.receive(&body(response, MOST_BYTES).await?, Some(id));
            return match calls.is_running(id) {
                true => Err(Failure::BadAnswer("it is not an answer to the request".to_owned())),
                false => Ok(()),
            };
        }
        Err(Failure::BadAnswer(format!("neither JSON nor an event stream (status {})", status.as_u16())))
    }

    async fn refused(&self, calls: &PendingCalls, response: Response) -> Failure {
        let status = response.status();
        let has_session = self.head.session.get().is_some();
        let failure = refusal(response).await;
        // The specification says 404; some servers that were restarted say 400 and speak of sessions.
        let forgotten = match &failure {
            Failure::Status { rpc, .. } if has_session && status == StatusCode::BAD_REQUEST => {
                rpc.as_ref().is_some_and(|error| error.message.to_ascii_lowercase().contains("session"))
            }
            _ => has_session && status == StatusCode::NOT_FOUND,
        };
        if !forgotten {
            return failure;
        }
        calls.close(Failure::SessionLost);
        Failure::SessionLost
    }

    /// Reads a request's own stream until its answer; resumes it if it breaks and can be resumed.
    async fn follow(
        &self,
        calls: &Arc<PendingCalls>,
        id: u64,
        mut response: Response,
    ) -> Result<(), Failure> {
        let mut place = Place::default();
        for _ in 0..=MOST_RESUMPTIONS {
            let ended = read(&mut response, &mut place, |event| {
                calls.receive(&event.data, Some(id));
                calls.is_running(id)
            })
            .await;
            if !calls.is_running(id) {
                return Ok(());
            }
            if let Err(failure @ Failure::TooLarge(_)) = ended {
                return Err(failure);
            }
            let early = || Failure::Lost("the stream ended before the answer came".to_owned());
            let resumable = !self.head.stateless && place.event.is_some();
            if !resumable {
                return Err(ended.err().unwrap_or_else(early));
            }
            tokio::time::sleep(place.wait.unwrap_or(RESUME_AFTER)).await;
            response = self.resume(&place).await.map_err(|_| early())?;
        }
        Err(Failure::Lost("the stream broke too often before the answer came".to_owned()))
    }

    async fn resume(&self, place: &Place) -> Result<Response, Failure> {
        let mut headers = self.head.headers(HeaderMap::new());
        if let Some(event) = place.event.as_deref().and_then(|event| HeaderValue::try_from(event).ok()) {
            headers.insert(LAST_EVENT, event);
        }
        let response = self.http.listen(headers).await?;
        if response.status().is_success() && is_stream(&response) {
            Ok(response)
        } else {
            Err(refusal(response).await)
        }
    }

    /// Reads what the server says on its own account, for as long as the connection is open. A server need not
    /// have such a stream. Returns when the server has answered, so that nothing it tells about the first
    /// requests is missed; one that answers only with its first event is not waited for.
    pub(crate) async fn listen(&self, calls: &Arc<PendingCalls>) {
        let own = Self { http: Arc::clone(&self.http), head: Arc::clone(&self.head) };
        let calls = Arc::clone(calls);
        calls.stream().wanted();
        let (answered, first_answer) = oneshot::channel();
        tokio::spawn(async move {
            let closed = calls.closed().clone();
            closed.run_until_cancelled(own.keep_listening(&calls, answered)).await;
        });
        let _ = tokio::time::timeout(STREAM_FIRST, first_answer).await;
    }

    async fn keep_listening(&self, calls: &Arc<PendingCalls>, answered: oneshot::Sender<()>) {
        let mut place = Place::default();
        let mut wait = RESUME_AFTER;
        let mut answered = Some(answered);
        loop {
            let response = self.resume(&place).await;
            drop(answered.take());
            match response {
                Ok(mut response) => {
                    wait = RESUME_AFTER;
                    calls.stream().up();
                    let _ = read(&mut response, &mut place, |event| {
                        calls.receive(&event.data, None);
                        true
                    })
                    .await;
                    calls.stream_ended();
                }
                Err(Failure::Status { status: 404, .. }) if self.head.session.get().is_some() => {
                    return calls.close(Failure::SessionLost);
                }
                // No such stream here.
                Err(Failure::Status { status, .. }) if status < 500 => return calls.stream().refused(),
                Err(_) => {}
            }
            tokio::time::sleep(place.wait.unwrap_or(wait)).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }
}

impl Head {
    fn headers(&self, mut headers: HeaderMap) -> HeaderMap {
        if let Some(revision) = self.revision.get() {
            headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(revision.as_str()));
        }
        if let Some(session) = self.session.get() {
            headers.insert(SESSION, session.clone());
        }
        headers
    }
}

/// Reads events until the stream ends, or `go_on` says no.
async fn read(
    response: &mut Response,
    place: &mut Place,
    mut go_on: impl FnMut(Event) -> bool,
) -> Result<(), Failure> {
    let mut events = EventReader::new(MOST_BYTES);
    let mut more = true;
    while let Some(chunk) = response.chunk().await.map_err(lost)? {
        let pushed = events.push(&chunk, |mut event| {
            if let Some(id) = event.id.take() {
                place.event = Some(id).filter(|id| !id.is_empty());
            }
            if let Some(wait) = event.retry {
                place.wait = Some(Duration::from_millis(wait).min(LONGEST_WAIT));
            }
            let is_message = matches!(event.kind.as_str(), "" | "message") && !event.data.is_empty();
            if more && is_message {
                more = go_on(event);
            }
        });
        if pushed.is_err() {
            return Err(Failure::TooLarge(MOST_BYTES));
        }
        if !more {
            return Ok(());
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}
