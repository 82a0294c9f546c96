//! The gateways, and the server behind them.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use toolroom_bench::served::{self, Served};
use toolroom_bench::{ours, sdk};
use toolroom_outgoing::{Limits, Outgoing};

/// What the trivial tool is called behind Toolroom.
pub const OURS: &str = "sdk__add-numbers";
/// Names the interpreter that has FastMCP.
const PYTHON: &str = "TOOLROOM_TEST_PYTHON_MCP2";
/// How long the server behind Toolroom may take to be known.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone, Copy)]
pub enum Peer {
    /// The server that is called.
    Sdk,
    /// A proxy that reads what it passes on, and nothing else.
    Bare,
    Ours,
}

impl Peer {
    pub fn name(self) -> &'static str {
        match self {
            Peer::Sdk => "rmcp",
            Peer::Bare => "bare",
            Peer::Ours => "ours",
        }
    }

    pub fn named(name: &str) -> Result<Self> {
        let found = [Peer::Sdk, Peer::Bare, Peer::Ours].into_iter().find(|peer| peer.name() == name);
        found.with_context(|| format!("there is no server `{name}`"))
    }
}

/// Serves until the parent closes our input; `behind` is the server that a gateway stands before.
pub fn serve(peer: Peer, behind: Option<&str>) -> Result<()> {
    if let Peer::Bare | Peer::Ours = peer {
        served::stay_on_the_servers_core()?;
    }
    let behind = behind.unwrap_or_default().to_owned();
    served::serve(async move {
        match peer {
            Peer::Sdk => ours::serve_bare(sdk::router()).await,
            Peer::Bare => bare(&behind).await,
            Peer::Ours => toolroom(&behind).await,
        }
    })
}

/// FastMCP's own proxy, with one client that stays connected.
pub fn fastmcp(behind: &str) -> Result<Served> {
    let python = std::env::var_os(PYTHON);
    let python = python.with_context(|| format!("{PYTHON} is not set: run `cargo xtask bench gateway`"))?;
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("fastmcp_proxy.py")).arg(behind);
    command.env("FASTMCP_LOG_LEVEL", "WARNING");
    Served::run(command)
}

async fn toolroom(behind: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let servers = json!({ "mcpServers": { "sdk": { "url": behind } } });
    std::fs::write(folder.path().join("mcp.json"), servers.to_string())?;
    let (app, router) = ours::app(folder.path())?;
    app.federation.start();
    app.federation.meet(PATIENCE).await;
    ensure!(app.federation.unavailable().is_empty(), "{:?}", app.federation.unavailable());
    ours::serve(router).await
}

/// Where a bare proxy passes on to.
#[derive(Clone)]
struct Way {
    client: reqwest::Client,
    url: reqwest::Url,
}

async fn bare(behind: &str) -> Result<()> {
    let url: reqwest::Url = behind.parse()?;
    let client = Outgoing::new(Limits::default()).allow_private(url.clone()).client_for(&url)?;
    ours::serve_bare(Router::new().route("/mcp", post(pass_on)).with_state(Way { client, url })).await
}

async fn pass_on(State(way): State<Way>, mut headers: HeaderMap, body: Bytes) -> Response {
    let passed = async {
        serde_json::from_slice::<Value>(&body)?;
        // Those of the connection, and the caller's credential.
        for name in [http::header::HOST, http::header::CONTENT_LENGTH, http::header::AUTHORIZATION] {
            headers.remove(name);
        }
        let answer = way.client.post(way.url).headers(headers).body(body).send().await?;
        let (status, answer) = (answer.status(), answer.bytes().await?);
        serde_json::from_slice::<Value>(&answer)?;
        anyhow::Ok((status, [("content-type", "application/json")], answer))
    };
    match passed.await {
        Ok(answer) => answer.into_response(),
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}
