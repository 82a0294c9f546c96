//! Answers that begin before they are known: a stream of events, opened only when there is something to say.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::Stream;
use http::{HeaderValue, StatusCode, header};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::{Answered, plain};
use crate::mcp::peer::Peer;
use crate::mcp::session::events::event;

/// A comment this often shows that a quiet stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

type Work = Pin<Box<dyn Future<Output = Answered> + Send>>;

/// An answer before which nothing was said: JSON, unless the client would rather have events. A refusal has its
/// own status, which a stream could not tell.
pub(super) fn at_once(answered: Answered, events_first: bool) -> Response {
    if events_first && answered.status == StatusCode::OK {
        return events(Body::from(event(&answered.body)));
    }
    plain(answered)
}

/// Runs the work. If it ends without a word before, the answer is that of [`at_once`].
pub(super) async fn answer<F>(events_first: bool, work: impl FnOnce(Peer) -> F) -> Response
where
    F: Future<Output = Answered> + Send + 'static,
{
    let (peer, mut said) = Peer::streaming(None);
    let mut work: Work = Box::pin(work(peer));
    tokio::select! {
        biased;
        first = said.recv() => match first {
            Some(first) => going_on([first].into(), said, Some(work), None),
            None => at_once(work.await, events_first),
        },
        answered = &mut work => match said.try_recv() {
            Ok(first) => going_on([first].into(), said, None, Some(answered.body)),
            Err(_) => at_once(answered, events_first),
        },
    }
}

fn going_on(
    ready: VecDeque<Bytes>,
    said: mpsc::Receiver<Bytes>,
    work: Option<Work>,
    last: Option<Bytes>,
) -> Response {
    let mut heartbeat = tokio::time::interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    events(Body::from_stream(Events { ready, said, work, last, heartbeat }))
}

fn events(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The stream owns the work: when the client closes it, the work is dropped.
struct Events {
    ready: VecDeque<Bytes>,
    said: mpsc::Receiver<Bytes>,
    work: Option<Work>,
    last: Option<Bytes>,
    heartbeat: Interval,
}

impl Stream for Events {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if let Some(message) = this.ready.pop_front() {
            return Poll::Ready(Some(Ok(event(&message))));
        }
        if let Some(work) = &mut this.work
            && let Poll::Ready(answered) = work.as_mut().poll(cx)
        {
            this.work = None;
            this.last = Some(answered.body);
        }
        // What was said before the answer goes out before it.
        if let Poll::Ready(Some(message)) = this.said.poll_recv(cx) {
            return Poll::Ready(Some(Ok(event(&message))));
        }
        if this.work.is_none() {
            return Poll::Ready(this.last.take().map(|message| Ok(event(&message))));
        }
        match this.heartbeat.poll_tick(cx) {
            Poll::Ready(_) => Poll::Ready(Some(Ok(Bytes::from_static(b":\n\n")))),
            Poll::Pending => Poll::Pending,
        }
    }
}
