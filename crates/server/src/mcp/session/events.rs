//! Streams of events of a session: numbered, so that a client that was cut off can resume one.
//!
//! The stream owns the work behind it. When the client is cut off, both are put aside for a moment; if it does not
//! come back by then, the work is dropped. So leaving still stops the work.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::Stream;
use http::{HeaderValue, header};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, sleep_until};

use super::{Busy, Session, Work};

/// A comment this often shows that a quiet stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a stream that was cut off is kept, and its work with it.
const PARKED: Duration = Duration::from_secs(1);
/// When the client should come back, in milliseconds.
const RETRY_MS: u32 = 300;
/// Bytes that are kept of what was sent.
const KEPT: usize = 256 * 1024;

/// What flows down a stream.
pub(crate) struct Flow {
    session: Arc<Session>,
    number: u64,
    /// Without numbers the stream cannot be resumed.
    numbered: bool,
    next: u64,
    /// What was sent, with its number, as long as it is not too much.
    sent: VecDeque<(u64, Bytes)>,
    kept: usize,
    ready: VecDeque<Bytes>,
    said: mpsc::Receiver<Bytes>,
    work: Option<Work>,
    heartbeat: Interval,
    _busy: Busy,
}

/// A flow that waits for its client.
pub(crate) struct Parked {
    flow: Flow,
    until: Instant,
}

impl Parked {
    pub(crate) fn is_over(&self) -> bool {
        self.until <= Instant::now()
    }
}

impl Flow {
    /// Whatever is said, and in the end what the work gives.
    pub(crate) fn new(session: Arc<Session>, said: mpsc::Receiver<Bytes>, work: Work) -> Self {
        let mut heartbeat = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            number: session.next_stream(),
            numbered: true,
            next: 0,
            sent: VecDeque::new(),
            kept: 0,
            ready: VecDeque::new(),
            said,
            work: Some(work),
            heartbeat,
            _busy: session.busy(),
            session,
        }
    }

    /// Begins with an event without data, which tells the client where it is.
    pub(crate) fn primed(mut self) -> Self {
        let first = format!("id: {}-{}\nretry: {RETRY_MS}\ndata: \n\n", self.number, self.next);
        self.next += 1;
        self.ready.push_back(first.into());
        self
    }

    /// Events without numbers; first comes this, as it is.
    pub(crate) fn unnumbered(mut self, first: impl Into<Bytes>) -> Self {
        self.numbered = false;
        self.ready.push_back(first.into());
        self
    }

    /// With a message that was said before the stream was opened.
    pub(crate) fn saying(mut self, message: &Bytes) -> Self {
        let event = self.event(message);
        self.ready.push_back(event);
        self
    }

    /// The answer. If it has numbers, a client that is cut off can resume it.
    pub(crate) fn answer(self) -> Response {
        let mut response = Response::new(Body::from_stream(Events(Some(self))));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }

    fn event(&mut self, message: &Bytes) -> Bytes {
        if !self.numbered {
            return event(message);
        }
        let (number, next) = (self.number, self.next);
        self.next += 1;
        let mut out = BytesMut::with_capacity(message.len() + 32);
        out.put_slice(format!("id: {number}-{next}\ndata: ").as_bytes());
        out.put_slice(message);
        out.put_slice(b"\n\n");
        let event = out.freeze();
        self.kept += event.len();
        self.sent.push_back((next, event.clone()));
        while self.kept > KEPT
            && let Some((_, oldest)) = self.sent.pop_front()
        {
            self.kept -= oldest.len();
        }
        event
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(event) = self.ready.pop_front() {
            return Poll::Ready(Some(event));
        }
        let mut last = None;
        if let Some(work) = &mut self.work
            && let Poll::Ready(answer) = work.as_mut().poll(cx)
        {
            self.work = None;
            last = Some(answer);
        }
        // What was said before the answer goes out before it.
        if let Poll::Ready(Some(message)) = self.said.poll_recv(cx) {
            let event = self.event(&message);
            while let Ok(message) = self.said.try_recv() {
                let event = self.event(&message);
                self.ready.push_back(event);
            }
            if let Some(Some(answer)) = last {
                let event = self.event(&answer);
                self.ready.push_back(event);
            }
            return Poll::Ready(Some(event));
        }
        match last {
            Some(answer) => return Poll::Ready(answer.map(|answer| self.event(&answer))),
            None if self.work.is_none() => return Poll::Ready(None),
            None => {}
        }
        match self.heartbeat.poll_tick(cx) {
            Poll::Ready(_) => Poll::Ready(Some(Bytes::from_static(b":\n\n"))),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Takes up a stream after the event that the client saw last. `None` if it is over, or was never ours.
pub(crate) fn resume(session: &Session, last_event: &str) -> Option<Response> {
    let (number, seen) = last_event.split_once('-')?;
    let (number, seen): (u64, u64) = (number.parse().ok()?, seen.parse().ok()?);
    let Parked { mut flow, .. } = session.unpark(number)?;
    let oldest = flow.sent.front().map_or(flow.next, |(number, _)| *number);
    // What is not kept any more cannot be told again.
    if seen >= flow.next || oldest > seen + 1 {
        return None;
    }
    flow.ready =
        flow.sent.iter().filter(|(number, _)| *number > seen).map(|(_, event)| event.clone()).collect();
    flow.heartbeat.reset();
    Some(flow.answer())
}

/// The body of an answer.
struct Events(Option<Flow>);

impl Stream for Events {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.0 {
            Some(flow) => flow.poll(cx).map(|event| event.map(Ok)),
            None => Poll::Ready(None),
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let Some(flow) = self.0.take() else { return };
        if !flow.numbered || flow.session.ended.is_cancelled() {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        let (session, number, until) = (Arc::clone(&flow.session), flow.number, Instant::now() + PARKED);
        session.park(number, Parked { flow, until });
        runtime.spawn(async move {
            sleep_until(until).await;
            session.clear_parked();
        });
    }
}

/// One event. JSON as we write it has no line breaks.
pub(crate) fn event(message: &Bytes) -> Bytes {
    let mut out = Vec::with_capacity(message.len() + 8);
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(message);
    out.extend_from_slice(b"\n\n");
    out.into()
}
