//! The accept loop and its end: take connections in, refuse what is too much, drain on request.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::admission::{Admission, Permit};
use super::connection::{self, Shared};
use super::open_files::affordable_connections;
use super::{Accepted, Limits, Listener, Peer, proxy_protocol};
use crate::middleware::HttpService;

/// Pause after a failed accept: when files run out, only connections that end give new ones a chance.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Refusals under way at once; beyond that a connection is closed without a word.
const MAX_REFUSALS: usize = 64;
/// How much later than we the kernel gives up on a peer that does not read.
const KERNEL_DELAY: Duration = Duration::from_secs(5);
const REFUSAL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/problem+json\r\ncontent-length: 135\r\nretry-after: 1\r\nconnection: close\r\n\r\n\
    {\"type\":\"/docs/errors#busy\",\"title\":\"Service Unavailable\",\"status\":503,\
    \"detail\":\"too many connections\",\"code\":\"busy\",\"retryAfter\":1000}";

/// What a listener did until it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServeReport {
    /// Connections that were served.
    pub accepted: u64,
    /// Connections refused because of a limit.
    pub refused: u64,
    /// Connections still busy when the grace ran out.
    pub aborted: usize,
}

/// Serves `router` on `listener` until `shutdown`. Then no new connections are accepted, running requests are finished
/// and idle connections closed; what is not done within `grace` is aborted.
///
/// Long streams should watch `shutdown` themselves, or they use up the grace.
pub async fn serve(
    listener: Listener,
    router: HttpService,
    limits: Limits,
    shutdown: CancellationToken,
    grace: Duration,
) -> ServeReport {
    let mut door = Door::new(router, limits, shutdown.clone());
    let mut failing = false;
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok(accepted) => {
                failing = false;
                door.take_in(accepted);
            }
            Err(error) if is_the_peers_fault(&error) => {}
            Err(error) => {
                if !failing {
                    tracing::warn!(%error, "cannot accept connections at the moment");
                }
                failing = true;
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    // For the clients, connections in the backlog are already open.
    listener.withdraw();
    while let Some(Ok(accepted)) = listener.accept().now_or_never() {
        door.take_in(accepted);
    }
    drop(listener);
    door.close(grace).await
}

/// Accepts connections; knows all that are open.
struct Door {
    shared: Shared,
    admission: Admission,
    refusals: Arc<Semaphore>,
    tasks: TaskTracker,
    report: ServeReport,
}

impl Door {
    fn new(router: HttpService, limits: Limits, drain: CancellationToken) -> Self {
        let places = affordable_connections(limits.max_connections);
        Self {
            admission: Admission::new(places, limits.max_connections_per_peer),
            shared: Shared { router, limits: Arc::new(limits), drain, abort: CancellationToken::new() },
            refusals: Arc::new(Semaphore::new(MAX_REFUSALS)),
            tasks: TaskTracker::new(),
            report: ServeReport::default(),
        }
    }

    fn take_in(&mut self, accepted: Accepted) {
        match accepted {
            Accepted::Tcp(stream, address) => {
                prepare(&stream, &self.shared.limits);
                self.admit(stream, Peer::Tcp(address));
            }
            Accepted::Unix(stream) => self.admit(stream, Peer::Owner),
        }
    }

    fn admit<S>(&mut self, socket: S, peer: Peer)
    where
        S: AsyncRead + AsyncWrite + AsFd + Unpin + Send + 'static,
    {
        let proxies = &self.shared.limits.proxies;
        let is_proxy = proxies.trust(peer);
        let permit = if is_proxy { self.admission.admit_proxy() } else { self.admission.admit(peer) };
        if let Some(permit) = permit {
            self.report.accepted += 1;
            let shared = self.shared.clone();
            if is_proxy && proxies.proxy_protocol {
                self.tasks.spawn(run_behind_proxy(socket, peer, shared, permit));
            } else {
                self.tasks.spawn(connection::run(socket, peer, shared, permit));
            }
            return;
        }
        self.report.refused += 1;
        if let Ok(turn) = self.refusals.clone().try_acquire_owned() {
            let linger = self.shared.limits.linger;
            self.tasks.spawn(async move {
                let _ = tokio::time::timeout(linger, refuse(socket)).await;
                drop(turn);
            });
        }
    }

    async fn close(mut self, grace: Duration) -> ServeReport {
        self.tasks.close();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_err() {
            self.report.aborted = self.tasks.len();
            self.shared.abort.cancel();
            self.tasks.wait().await;
        }
        self.report
    }
}

/// Serves a connection that begins with the proxy's word about whose it is.
async fn run_behind_proxy<S>(mut socket: S, proxy: Peer, shared: Shared, mut permit: Permit)
where
    S: AsyncRead + AsyncWrite + AsFd + Unpin + Send + 'static,
{
    let read = tokio::time::timeout(shared.limits.header_timeout, proxy_protocol::read(&mut socket));
    let client = tokio::select! {
        read = read => read.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())),
        () = shared.abort.cancelled() => return,
    };
    let peer = match client {
        // Who is not named is behind the proxy all the same, and not on this machine.
        Ok(client) => client.or(proxy.ip()).map_or(proxy, Peer::Proxied),
        Err(error) => {
            tracing::debug!(?proxy, %error, "a connection did not begin with the PROXY protocol");
            return;
        }
    };
    if let (Peer::Proxied(client), false) = (peer, shared.limits.proxies.trust(peer))
        && !permit.count(client)
    {
        let _ = tokio::time::timeout(shared.limits.linger, refuse(socket)).await;
        return;
    }
    connection::run(socket, peer, shared, permit).await;
}

/// Small answers go out at once, and the kernel drops a peer that does not read.
fn prepare(stream: &TcpStream, limits: &Limits) {
    // Later than our own limit, which tells the peer; the kernel's does not.
    let patience = u32::try_from((limits.write_timeout + KERNEL_DELAY).as_millis()).unwrap_or(u32::MAX);
    let prepared = stream
        .set_nodelay(true)
        .and_then(|()| rustix::net::sockopt::set_tcp_user_timeout(stream, patience).map_err(io::Error::from));
    if let Err(error) = prepared {
        tracing::debug!(%error, "cannot set the options of a connection");
    }
}

/// Says why, and drains what the peer sends until it has read that.
async fn refuse<S: AsyncRead + AsyncWrite + Unpin>(mut socket: S) -> io::Result<()> {
    socket.write_all(REFUSAL).await?;
    socket.shutdown().await?;
    let mut space = [0; 1024];
    while socket.read(&mut space).await? > 0 {}
    Ok(())
}

fn is_the_peers_fault(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted
    )
}
