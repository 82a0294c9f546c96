//! The three servers: ours, the official SDK's, and one that only parses the request and answers our bytes.

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::Value;
use toolroom_bench::calls::{TOOL, body};
use toolroom_bench::served::{self, Served};
use toolroom_bench::{ours, sdk};
use toolroom_server::listener::Peer as Caller;

#[derive(Clone, Copy)]
pub enum Peer {
    Ours,
    Sdk,
    Bare,
}

impl Peer {
    pub fn name(self) -> &'static str {
        match self {
            Peer::Ours => "ours",
            Peer::Sdk => "rmcp",
            Peer::Bare => "axum",
        }
    }

    pub fn named(name: &str) -> Result<Self> {
        let found = [Peer::Ours, Peer::Sdk, Peer::Bare].into_iter().find(|peer| peer.name() == name);
        found.with_context(|| format!("there is no server `{name}`"))
    }

    pub fn start(self) -> Result<Served> {
        Served::start(self.name(), &[])
    }
}

/// Serves until the parent closes our input.
pub fn serve(peer: Peer) -> Result<()> {
    served::stay_on_the_servers_core()?;
    served::serve(async move {
        match peer {
            Peer::Ours => {
                let folder = tempfile::tempdir()?;
                ours::serve(ours::app(folder.path())?.1).await
            }
            Peer::Sdk => ours::serve_bare(sdk::router()).await,
            Peer::Bare => bare().await,
        }
    })
}

/// As much of a call as must be read to answer it.
#[derive(Deserialize)]
#[expect(dead_code, reason = "read, so that reading it is paid for")]
struct Request {
    jsonrpc: String,
    id: u64,
    method: String,
    params: Params,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "read, so that reading it is paid for")]
struct Params {
    name: String,
    arguments: Value,
    _meta: Value,
}

/// Answers the bytes that we answer, which it asks us for once.
async fn bare() -> Result<()> {
    let ours = our_answer().await?;
    let answer = move |body: Bytes| {
        let ours = ours.clone();
        async move { bare_answer(&body, ours) }
    };
    ours::serve_bare(Router::new().route("/mcp", post(answer))).await
}

fn bare_answer(body: &[u8], ours: Bytes) -> Response {
    match serde_json::from_slice::<Request>(body) {
        Ok(_) => ([("content-type", "application/json")], ours).into_response(),
        Err(error) => (http::StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

async fn our_answer() -> Result<Bytes> {
    let folder = tempfile::tempdir()?;
    let (_, router) = ours::app(folder.path())?;
    let mut request = http::Request::post("/mcp")
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", TOOL)
        .body(Body::from(body(TOOL)))?;
    request.extensions_mut().insert(Caller::Owner);
    let response = router.answer(request).await;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    if !status.is_success() {
        bail!("no answer to give: {status} {}", String::from_utf8_lossy(&body));
    }
    Ok(body)
}
