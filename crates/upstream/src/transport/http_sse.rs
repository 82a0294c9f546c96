//! HTTP+SSE of 2024-11-05: answers come on one stream of events, requests go where its first event says.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use reqwest::{Response, Url};
use tokio::sync::mpsc;
use toolroom_work::sse::{Event, EventReader};

use super::{Parcel, post_all};
use crate::error::Failure;
use crate::http::{Http, MOST_BYTES, is_stream, lost, refusal};
use crate::outbox::Job;
use crate::pending_calls::{PendingCalls, Ticket};

/// The way to a URL with a stream.
pub(crate) struct HttpSse {
    http: Arc<Http>,
    endpoint: Url,
}

impl HttpSse {
    /// Opens the stream and waits for its first event.
    pub(crate) async fn open(
        http: Arc<Http>,
        calls: &Arc<PendingCalls>,
        jobs: mpsc::Receiver<Job>,
    ) -> Result<Self, Failure> {
        let response = http.listen(HeaderMap::new()).await?;
        if !response.status().is_success() {
            return Err(refusal(response).await);
        }
        if !is_stream(&response) {
            return Err(Failure::BadAnswer("it is not an event stream".to_owned()));
        }
        let mut stream = Stream { response, events: EventReader::new(MOST_BYTES) };
        let mut endpoint = None;
        let mut early = Vec::new();
        while endpoint.is_none() {
            let more = stream
                .next(|event| match event.kind.as_str() {
                    "endpoint" if endpoint.is_none() => endpoint = Some(event.data),
                    _ => early.push(event.data),
                })
                .await?;
            if !more || early.len() > 100 {
                return Err(Failure::BadAnswer("its stream does not say where to send messages".to_owned()));
            }
        }
        let endpoint = String::from_utf8(endpoint.unwrap_or_default()).unwrap_or_default();
        // Our headers hold keys, so they go to no other server.
        let endpoint =
            http.url().join(endpoint.trim()).ok().filter(|url| url.origin() == http.url().origin());
        let endpoint = endpoint
            .ok_or_else(|| Failure::BadAnswer("its message endpoint is on another origin".to_owned()))?;
        early.iter().for_each(|data| calls.receive(data, None));
        tokio::spawn(follow(stream, Arc::clone(calls)));
        let to = endpoint.clone();
        let to = move || (Some(to.clone()), HeaderMap::new());
        tokio::spawn(post_all(Arc::clone(&http), Arc::clone(calls), jobs, to));
        Ok(Self { http, endpoint })
    }

    pub(crate) async fn carry(&self, ticket: &Ticket, parcel: Parcel) -> Result<(), Failure> {
        if !ticket.sent.start() {
            return Ok(());
        }
        let sent = self.notify(parcel.text.into()).await;
        if sent.as_ref().is_err_and(Failure::never_ran) {
            ticket.sent.failed();
        }
        sent
    }

    pub(crate) async fn notify(&self, text: Bytes) -> Result<(), Failure> {
        self.http.post_only(Some(self.endpoint.clone()), HeaderMap::new(), text).await
    }
}

struct Stream {
    response: Response,
    events: EventReader,
}

impl Stream {
    /// Reads on; false at the end.
    async fn next(&mut self, take: impl FnMut(Event)) -> Result<bool, Failure> {
        let Some(chunk) = self.response.chunk().await.map_err(lost)? else { return Ok(false) };
        self.events.push(&chunk, take).map_err(|_| Failure::TooLarge(MOST_BYTES))?;
        Ok(true)
    }
}

/// Reads the stream for as long as the connection is open. Without it no answer can come.
async fn follow(mut stream: Stream, calls: Arc<PendingCalls>) {
    let closed = calls.closed().clone();
    let work = async {
        loop {
            let read = stream.next(|event| {
                if matches!(event.kind.as_str(), "" | "message") && !event.data.is_empty() {
                    calls.receive(&event.data, None);
                }
            });
            match read.await {
                Ok(true) => tokio::task::yield_now().await,
                Ok(false) => return calls.close(Failure::Lost("its event stream ended".to_owned())),
                Err(failure) => return calls.close(Failure::Lost(failure.reason())),
            }
        }
    };
    closed.run_until_cancelled(work).await;
}
