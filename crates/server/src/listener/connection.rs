//! One connection, from its first byte to its close.

use std::convert::Infallible;
use std::os::fd::AsFd;
use std::pin::pin;
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::admission::Permit;
use super::bodies::{RequestBody, ResponseBody};
use super::guarded_io::{GuardedIo, Progress};
use super::{Limits, Peer};
use crate::middleware::HttpService;

/// hyper's buffer for each direction of a connection.
const BUFFER_BYTES: usize = 64 * 1024;

/// What all connections of a listener share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) router: HttpService,
    pub(super) limits: Arc<Limits>,
    /// Finish what runs, begin nothing new.
    pub(super) drain: CancellationToken,
    /// Stop at once.
    pub(super) abort: CancellationToken,
}

/// Serves a connection until it ends, is too slow, or is drained. The permit is given back at the end.
pub(super) async fn run<S>(socket: S, peer: Peer, shared: Shared, _permit: Permit)
where
    S: AsyncRead + AsyncWrite + AsFd + Unpin + Send + 'static,
{
    let progress = Arc::new(Progress::default());
    let io = TokioIo::new(GuardedIo::new(socket, progress.clone(), shared.limits.clone()));
    let service = service_fn(|request| answer(request, peer, &shared, &progress));
    // hyper's own header timeout also runs between two requests; `GuardedIo` tells the two apart.
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(None)
            .max_header_size(shared.limits.max_header_bytes)
            .max_buf_size(BUFFER_BYTES.max(shared.limits.max_header_bytes))
            .serve_connection(io, service)
            .with_upgrades()
    );
    let drained = async {
        shared.drain.cancelled().await;
        tokio::time::sleep(shared.limits.drain_notice).await;
    };
    let ended = tokio::select! {
        // The connection comes first: a request that has already arrived is served even in a drain.
        biased;
        ended = connection.as_mut() => ended,
        () = shared.abort.cancelled() => return,
        () = drained => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection => ended,
                () = shared.abort.cancelled() => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(?peer, %error, "connection ended early");
    }
}

fn answer(
    request: Request<Incoming>,
    peer: Peer,
    shared: &Shared,
    progress: &Arc<Progress>,
) -> impl Future<Output = Result<Response<ResponseBody>, Infallible>> + use<> {
    progress.begin_request();
    let (progress, drain) = (progress.clone(), shared.drain.clone());
    let mut request = request.map(|incoming| match incoming.is_end_stream() {
        true => Body::empty(),
        false => Body::new(RequestBody::new(incoming, progress.clone(), shared.limits.clone())),
    });
    let client = shared.limits.proxies.client(peer, request.headers());
    request.extensions_mut().insert(client);
    let call = shared.router.answer(request);
    async move {
        let mut response = call.await;
        // What is left of a body would be taken for the next request: the connection ends, and that is said.
        if drain.is_cancelled() || progress.has_unread_body() {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        let rests = response.status() != StatusCode::SWITCHING_PROTOCOLS;
        Ok(response.map(|body| ResponseBody::new(body, progress, rests)))
    }
}
