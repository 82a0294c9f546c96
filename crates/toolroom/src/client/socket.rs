//! HTTP over the socket of a running server, a connection per request.

use std::fmt;

use anyhow::{Context, Result};
use axum::body::Body;
use axum::response::Response;
use http::Request;
use http_body_util::BodyExt;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::{Duration, timeout};
use toolroom_server::listener::connect_unix;

use super::Answer;
use crate::failure::Failure;
use crate::home::Home;

/// How long a server may be silent before it counts as hung.
const SILENCE: Duration = Duration::from_secs(5);

/// Whether a server answers. A file without a server behind it refuses the connection; one that hangs is an error.
pub async fn answers(home: &Home) -> Result<bool> {
    let Ok(stream) = connect_unix(&home.socket()).await else { return Ok(false) };
    let asked = async {
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let driven = tokio::spawn(connection);
        let request = Request::get("/healthz").header(http::header::HOST, "localhost").body(Body::empty())?;
        let answered = sender.send_request(request).await.is_ok();
        driven.abort();
        anyhow::Ok(answered)
    };
    timeout(SILENCE, asked).await.map_or_else(|_| Err(hung(home)), |answered| Ok(answered.unwrap_or(false)))
}

/// What to say of a process that works on the home and does not answer.
pub fn hung(home: &Home) -> anyhow::Error {
    let by = home.holder().map_or("the process".to_owned(), |holder| holder.to_string());
    let pid = home.holder().map_or("PID".to_owned(), |holder| holder.pid.to_string());
    let message = format!("{by} works on {}, but does not answer", home.root().display());
    Failure::new(message, format!("If it does not recover, end it: kill -9 {pid}")).into()
}

/// The server ended, and asking another does no harm: it got nothing, or was asked for nothing but an answer.
#[derive(Debug)]
pub struct Gone;

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server stopped answering")
    }
}

impl std::error::Error for Gone {}

/// Sends one request.
pub async fn send(home: &Home, request: Request<Body>) -> Result<Answer> {
    let is_safe = request.method().is_safe();
    let lost = |error: hyper::Error, when: &'static str| match is_safe || error.is_canceled() {
        true => anyhow::Error::new(Gone),
        false => anyhow::Error::new(error).context(when),
    };
    let stream = connect_unix(&home.socket()).await.map_err(|_| Gone)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|_| Gone)?;
    let driven = tokio::spawn(connection);
    let sent = sender.send_request(request).await;
    let (parts, body) =
        sent.map_err(|error| lost(error, "the server stopped during the request"))?.into_parts();
    let body = body.collect().await.map_err(|error| lost(error, "the server stopped during its answer"))?;
    driven.abort();
    Answer::read(parts.status, &body.to_bytes())
}

/// Sends one request and returns when the answer begins. The connection ends with the answer's body.
pub async fn open(home: &Home, request: Request<Body>) -> Result<Response> {
    let stream = connect_unix(&home.socket()).await.context("the server stopped answering")?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let response = sender.send_request(request).await.context("the server stopped during the request")?;
    Ok(response.map(Body::new))
}
