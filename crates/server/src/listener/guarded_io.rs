//! The socket as hyper sees it: reads and writes that end in an error when the peer is too slow.

use std::io;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::Limits;
use super::alarm::Alarm;

/// A socket with the time limits of [`Limits`] on it.
///
/// Only a lack of progress counts: an idle stream may last forever, a peer that does not read our bytes may not.
pub(super) struct GuardedIo<S> {
    socket: S,
    limits: Arc<Limits>,
    progress: Arc<Progress>,
    seen: Phase,
    since: Instant,
    read_alarm: Alarm,
    write_alarm: Alarm,
    stall: Option<Stall>,
    linger_until: Option<Instant>,
}

/// What a connection is doing, shared by the socket, the service and the bodies.
#[derive(Default)]
pub(super) struct Progress {
    phase: AtomicU8,
    unread_body: AtomicBool,
}

/// The phase of a connection. Each has its own limit on reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Phase {
    /// Nothing was received yet; the time for the headers is already running.
    Opening = 0,
    /// Some of a request's headers were received.
    Head = 1,
    /// A request is being handled; its body has its own limit.
    Request = 2,
    /// Between two requests.
    Idle = 3,
}

impl Progress {
    pub(super) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }

    pub(super) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Opening,
            1 => Phase::Head,
            2 => Phase::Request,
            _ => Phase::Idle,
        }
    }

    pub(super) fn begin_request(&self) {
        self.unread_body.store(false, Ordering::Release);
        self.enter(Phase::Request);
    }

    /// A body was dropped before its end: the peer may still be sending.
    pub(super) fn leave_body_unread(&self) {
        self.unread_body.store(true, Ordering::Release);
    }

    /// Whether the body of the current request was dropped before its end.
    pub(super) fn has_unread_body(&self) -> bool {
        self.unread_body.load(Ordering::Acquire)
    }

    fn peer_may_still_send(&self) -> bool {
        self.has_unread_body() || self.phase() == Phase::Head
    }
}

/// A time during which the peer did not read everything we had for it.
struct Stall {
    since: Instant,
    moved: u64,
}

impl<S: AsFd> GuardedIo<S> {
    pub(super) fn new(socket: S, progress: Arc<Progress>, limits: Arc<Limits>) -> Self {
        Self {
            socket,
            limits,
            progress,
            seen: Phase::Opening,
            since: Instant::now(),
            read_alarm: Alarm::default(),
            write_alarm: Alarm::default(),
            stall: None,
            linger_until: None,
        }
    }

    fn read_deadline(&mut self) -> Option<Instant> {
        let phase = self.progress.phase();
        if phase != self.seen {
            self.seen = phase;
            self.since = Instant::now();
        }
        match phase {
            Phase::Opening | Phase::Head => Some(self.since + self.limits.header_timeout),
            Phase::Idle => Some(self.since + self.limits.idle_timeout),
            Phase::Request => None,
        }
    }

    fn bytes_came(&mut self) {
        match self.seen {
            // Keeps `since`: opening and headers share one allowance.
            Phase::Opening => self.seen = Phase::Head,
            Phase::Idle => {
                self.seen = Phase::Head;
                self.since = Instant::now();
            }
            Phase::Head | Phase::Request => return,
        }
        self.progress.enter(Phase::Head);
    }

    fn after_write(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => {
                self.stall.get_or_insert_with(|| Stall { since: Instant::now(), moved: 0 });
            }
            Poll::Ready(Ok(count)) => {
                if let Some(stall) = &mut self.stall {
                    stall.moved += *count as u64;
                }
            }
            Poll::Ready(Err(_)) => return written,
        }
        let Some(stall) = &self.stall else { return written };
        let deadline = stall.since + self.limits.write_timeout + self.limits.earned(stall.moved);
        match self.write_alarm.poll_until(cx, deadline) {
            Poll::Ready(()) => {
                reset_on_close(&self.socket);
                Poll::Ready(Err(timed_out("the peer does not read")))
            }
            Poll::Pending => written,
        }
    }
}

impl<S: AsyncRead + AsFd + Unpin> AsyncRead for GuardedIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let deadline = self.read_deadline();
        // Asked before the socket, so that a peer that drips bytes cannot outrun the limit.
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Poll::Ready(Err(timed_out("the peer does not send")));
        }
        let before = buffer.filled().len();
        match Pin::new(&mut self.socket).poll_read(cx, buffer) {
            Poll::Ready(result) => {
                if buffer.filled().len() > before {
                    self.bytes_came();
                }
                Poll::Ready(result)
            }
            Poll::Pending => {
                let Some(deadline) = deadline else { return Poll::Pending };
                ready!(self.read_alarm.poll_until(cx, deadline));
                Poll::Ready(Err(timed_out("the peer does not send")))
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + AsFd + Unpin> AsyncWrite for GuardedIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.after_write(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.after_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    /// hyper flushes once it has handed over all it had: the peer has caught up. If that was the end of an answer,
    /// the idle time begins here, for hyper does not read again when an earlier read still waits.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.socket).poll_flush(cx));
        self.stall = None;
        if let Some(deadline) = self.read_deadline() {
            // Only to be woken then: the read that follows sees that the time is over.
            let _ = self.read_alarm.poll_until(cx, deadline);
        }
        Poll::Ready(flushed)
    }

    /// Closes our side; then, if the peer may still be sending, drains that for a moment. A close with unread
    /// bytes would reset the connection, and the peer might lose the answer that tells it why.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let until = match self.linger_until {
            Some(until) => until,
            None => {
                ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?;
                if !self.progress.peer_may_still_send() {
                    return Poll::Ready(Ok(()));
                }
                let until = Instant::now() + self.limits.linger;
                self.linger_until = Some(until);
                until
            }
        };
        let mut space = [0; 8 * 1024];
        loop {
            if self.read_alarm.poll_until(cx, until).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut space);
            let read = ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

/// A plain close would leave the unread bytes with the kernel, and the peer connected, for minutes more.
fn reset_on_close(socket: &impl AsFd) {
    if let Err(error) = rustix::net::sockopt::set_socket_linger(socket, Some(Duration::ZERO)) {
        tracing::debug!(%error, "cannot reset a connection");
    }
}

fn timed_out(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, why)
}
