//! The ways to a server: a program's pipes, Streamable HTTP, and HTTP+SSE.

pub(crate) mod http_sse;
pub(crate) mod lines;
pub(crate) mod stdio;
pub(crate) mod streamable;

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use tokio::sync::{Semaphore, mpsc};

use crate::error::Failure;
use crate::http::Http;
use crate::outbox::Job;
use crate::pending_calls::{PendingCalls, Ticket};
use http_sse::HttpSse;
use stdio::StdioTransport;
use streamable::Streamable;

/// The way to one server.
pub(crate) enum Transport {
    Stdio(StdioTransport),
    Streamable(Streamable),
    HttpSse(HttpSse),
}

/// A request, ready to be sent.
pub(crate) struct Parcel {
    pub(crate) text: Vec<u8>,
    /// What a server without sessions wants to read off the headers.
    pub(crate) headers: HeaderMap,
}

impl Transport {
    /// Sends a request, and sees to it that its answer reaches its caller. Over Streamable HTTP that takes
    /// until the answer is there; otherwise it comes by another way.
    pub(crate) async fn carry(
        &self,
        calls: &Arc<PendingCalls>,
        ticket: &Ticket,
        parcel: Parcel,
    ) -> Result<(), Failure> {
        match self {
            Self::Stdio(stdio) => stdio.carry(ticket, parcel).await,
            Self::Streamable(http) => http.carry(calls, ticket, parcel).await,
            Self::HttpSse(sse) => sse.carry(ticket, parcel).await,
        }
    }

    /// Sends a notification, before anything that is sent after it.
    pub(crate) async fn notify(&self, text: Vec<u8>) -> Result<(), Failure> {
        match self {
            Self::Stdio(stdio) => stdio.notify(text).await,
            Self::Streamable(http) => http.notify(text.into()).await,
            Self::HttpSse(sse) => sse.notify(text.into()).await,
        }
    }

    /// Ends what is left once the connection is closed: sessions, streams, processes.
    pub(crate) async fn end(&self) {
        match self {
            Self::Stdio(stdio) => stdio.end().await,
            Self::Streamable(http) => http.end().await,
            Self::HttpSse(_) => {}
        }
    }
}

/// Messages that are posted at a time, beside the requests.
const MOST_POSTS: usize = 16;

/// Posts answers and notifications, which nobody waits for, until the connection is closed.
async fn post_all(
    http: Arc<Http>,
    calls: Arc<PendingCalls>,
    mut jobs: mpsc::Receiver<Job>,
    to: impl Fn() -> (Option<reqwest::Url>, HeaderMap) + Send + Sync + 'static,
) {
    let room = Arc::new(Semaphore::new(MOST_POSTS));
    let work = async {
        while let Some(job) = jobs.recv().await {
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
            let ((url, headers), http) = (to(), Arc::clone(&http));
            tokio::spawn(async move {
                if let Err(failure) = http.post_only(url, headers, Bytes::from(job.text)).await {
                    tracing::debug!(reason = failure.reason(), "a message could not be posted");
                }
                drop(permit);
            });
        }
    };
    calls.closed().run_until_cancelled(work).await;
}
