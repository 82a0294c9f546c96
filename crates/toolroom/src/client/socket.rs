//! HTTP over the socket of a running server, a connection per request.

use anyhow::{Context, Result};
use axum::body::Body;
use axum::response::Response;
use http::Request;
use http_body_util::BodyExt;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use toolroom_server::listener::connect_unix;

use super::Answer;
use crate::home::Home;

/// Whether a server answers. A file without a server behind it refuses the connection.
pub async fn answers(home: &Home) -> bool {
    connect_unix(&home.socket()).await.is_ok()
}

/// Sends one request.
pub async fn send(home: &Home, request: Request<Body>) -> Result<Answer> {
    let stream = connect_unix(&home.socket()).await.context("the server stopped answering")?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let driven = tokio::spawn(connection);
    let response = sender.send_request(request).await.context("the server stopped during the request")?;
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.context("the server stopped during its answer")?.to_bytes();
    driven.abort();
    Answer::read(parts.status, &bytes)
}

/// Sends one request and returns when the answer begins. The connection ends with the answer's body.
pub async fn open(home: &Home, request: Request<Body>) -> Result<Response> {
    let stream = connect_unix(&home.socket()).await.context("the server stopped answering")?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let response = sender.send_request(request).await.context("the server stopped during the request")?;
    Ok(response.map(Body::new))
}
