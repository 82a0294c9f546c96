//! The bodies of a request and its answer, watched so that the connection knows its phase.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::Instant;

use super::Limits;
use super::alarm::Alarm;
use super::guarded_io::{Phase, Progress};

/// The request body did not come in the time that [`Limits::body_timeout`] and [`Limits::min_rate`] allow.
#[derive(Debug, thiserror::Error)]
#[error("the request body arrived too slowly")]
pub struct BodyTooSlow;

/// A request body that must arrive in time.
pub(super) struct RequestBody {
    incoming: Incoming,
    limits: Arc<Limits>,
    progress: Arc<Progress>,
    alarm: Alarm,
    began: Option<Instant>,
    received: u64,
    ended: bool,
}

impl RequestBody {
    pub(super) fn new(incoming: Incoming, progress: Arc<Progress>, limits: Arc<Limits>) -> Self {
        Self { incoming, limits, progress, alarm: Alarm::default(), began: None, received: 0, ended: false }
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        // Counted from the first read: the sender is not charged for a handler that does not read.
        let began = *this.began.get_or_insert_with(Instant::now);
        let deadline = began + this.limits.body_timeout + this.limits.earned(this.received);
        match Pin::new(&mut this.incoming).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                this.received += frame.data_ref().map_or(0, |data| data.len() as u64);
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error.into()))),
            Poll::Ready(None) => {
                this.ended = true;
                Poll::Ready(None)
            }
            Poll::Pending => {
                ready!(this.alarm.poll_until(cx, deadline));
                Poll::Ready(Some(Err(BodyTooSlow.into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if !self.ended && !self.incoming.is_end_stream() {
            self.progress.leave_body_unread();
        }
    }
}

/// An answer's body; when hyper drops it, the connection is idle until the next request.
pub(super) struct ResponseBody {
    body: Body,
    progress: Arc<Progress>,
    rests: bool,
}

impl ResponseBody {
    /// `rests` is false if the connection continues as something other than HTTP.
    pub(super) fn new(body: Body, progress: Arc<Progress>, rests: bool) -> Self {
        Self { body, progress, rests }
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        if self.rests {
            self.progress.enter(Phase::Idle);
        }
    }
}
