//! A framed router on a real listener, and a client that speaks raw bytes to it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Extension;
use axum::response::Html;
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolroom_contract::TraceId;
use toolroom_runtime::metrics::Metrics;
use toolroom_server::listener::{Limits, Listener, Peer, ServeReport, serve};
use toolroom_server::middleware::{BodyLimit, HostPolicy, HttpService, Problem, StrictJson};

/// Longer than anything here may take; only a failing test waits for it.
pub const PATIENCE: Duration = Duration::from_secs(10);

pub struct RunningServer {
    pub address: SocketAddr,
    pub shutdown: CancellationToken,
    pub gates: Arc<Gates>,
    pub ended: JoinHandle<ServeReport>,
}

/// Lets a test hold the route `/held` and know that it is inside.
#[derive(Default)]
pub struct Gates {
    pub entered: Notify,
    pub release: Notify,
}

impl RunningServer {
    pub fn start(limits: Limits) -> Self {
        let listener = Listener::bind_tcp("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        Self::on(listener, address, limits, Duration::from_secs(5))
    }

    pub fn on(listener: Listener, address: SocketAddr, limits: Limits, grace: Duration) -> Self {
        let gates = Arc::new(Gates::default());
        let shutdown = CancellationToken::new();
        let ended =
            tokio::spawn(serve(listener, framed_router(gates.clone()), limits, shutdown.clone(), grace));
        Self { address, shutdown, gates, ended }
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends `bytes` on a new connection and reads until the server closes it.
    pub async fn exchange(&self, bytes: impl AsRef<[u8]>) -> String {
        exchange(self.connect().await, bytes).await
    }

    pub async fn get(&self, path: &str, headers: &str) -> String {
        self.exchange(format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n")).await
    }

    pub async fn stop(self) -> ServeReport {
        self.shutdown.cancel();
        timeout(PATIENCE, self.ended).await.expect("the server ends").unwrap()
    }
}

pub async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(mut socket: S, bytes: impl AsRef<[u8]>) -> String {
    socket.write_all(bytes.as_ref()).await.unwrap();
    read_to_close(&mut socket).await
}

/// All that comes until the server closes the connection, by whatever means.
pub async fn read_to_close<S: AsyncRead + Unpin>(socket: &mut S) -> String {
    let mut text = Vec::new();
    let _ = timeout(PATIENCE, socket.read_to_end(&mut text)).await.expect("the server closes the connection");
    String::from_utf8_lossy(&text).into_owned()
}

pub fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
}

pub fn body(answer: &str) -> Value {
    let text = answer.split_once("\r\n\r\n").expect("headers end").1;
    serde_json::from_str(text).unwrap_or_else(|_| panic!("not JSON: {answer}"))
}

pub fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let head = answer.split_once("\r\n\r\n")?.0;
    head.lines().filter_map(|line| line.split_once(": ")).find(|(found, _)| *found == name).map(|pair| pair.1)
}

fn framed_router(gates: Arc<Gates>) -> HttpService {
    let router = Router::new()
        .route("/ok", get(|| async { "ok" }))
        .route("/api/v1/echo", post(|StrictJson(value): StrictJson<Value>| async { Json(value) }))
        .route("/api/v1/peer", get(peer))
        .route("/page", get(|| async { Html("<p>hello</p>") }))
        .route("/panic", get(panics))
        .route("/endless", get(|| async { Body::from_stream(stream::repeat_with(block)) }))
        .route("/quiet", get(|| async { Body::from_stream(quiet_stream()) }))
        .route(
            "/held",
            get(move || async move {
                gates.entered.notify_one();
                gates.release.notified().await;
                "finished"
            }),
        );
    let metrics = Metrics::new().http;
    HttpService::new(router, HostPolicy::new(["tools.example.com"]), BodyLimit::default(), metrics)
}

async fn peer(Extension(peer): Extension<Peer>, Extension(trace): Extension<TraceId>) -> Json<Value> {
    Json(json!({"owner": peer == Peer::Owner, "local": peer.is_local(), "trace": trace}))
}

async fn panics() -> Problem {
    panic!("a secret in the panic's text")
}

fn block() -> Result<Bytes, std::io::Error> {
    Ok(Bytes::from_static(&[b'x'; 16 * 1024]))
}

/// Five events with 150 ms of silence before each.
fn quiet_stream() -> impl futures_util::Stream<Item = Result<Bytes, std::io::Error>> {
    stream::unfold(0, |sent| async move {
        if sent == 5 {
            return None;
        }
        tokio::time::sleep(Duration::from_millis(150)).await;
        Some((Ok(Bytes::from_static(b"data: tick\n\n")), sent + 1))
    })
}
