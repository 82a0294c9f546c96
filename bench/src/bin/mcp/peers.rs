//! The three servers: ours, the official SDK's, and one that only parses the request and answers our bytes.

use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use http_body_util::BodyExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolroom_runtime::registrar::{Registrar, Setup};
use toolroom_server::listener::{Limits, Listener, Peer as Caller, serve as listen};
use toolroom_server::middleware::{Framed, HostPolicy};
use toolroom_server::{App, router};

use crate::process::stay_on_the_servers_core;

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
}

/// Serves until the parent closes our input.
pub fn serve(peer: Peer) -> Result<()> {
    stay_on_the_servers_core()?;
    // As the server logs: info and above, one line each.
    tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_writer(std::io::sink).init();
    std::thread::spawn(|| {
        // Nothing is written to it: the read ends when the parent does.
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        match peer {
            Peer::Ours => ours().await,
            Peer::Sdk => sdk().await,
            Peer::Bare => bare().await,
        }
    })
}

async fn ours() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let runtime = toolroom_bench::runtime(folder.path())?;
    let registrar = Registrar::open(Setup::new_in(folder.path(), &runtime)?)?;
    let app = App::new(runtime, registrar, folder.path().join("logs"));
    let router = router(&app, HostPolicy::new(Vec::<String>::new()));
    let key = make_key(&router).await?;
    let listener = Listener::bind_tcp(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let address = listener.local_addr().context("the listener has an address")?;
    println!("{address} {key}");
    listen(listener, router, Limits::default(), CancellationToken::new(), Duration::ZERO).await;
    Ok(())
}

async fn make_key(router: &Framed) -> Result<String> {
    let mut request = http::Request::post("/api/v1/keys")
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .body(Body::from(json!({ "user": "bench", "grants": ["*"] }).to_string()))?;
    request.extensions_mut().insert(Caller::Owner);
    let response = router.answer(request).await;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    let made: Value = serde_json::from_slice(&body)?;
    match made["key"].as_str() {
        Some(key) => Ok(key.to_owned()),
        None => bail!("no key was made: {status} {made}"),
    }
}

#[derive(Clone)]
struct Sdk;

impl ServerHandler for Sdk {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
        });
        let schema = schema.as_object().cloned().unwrap_or_default();
        Ok(ListToolsResult::with_all_items(vec![Tool::new(
            "add-numbers",
            "Adds two numbers.",
            Arc::new(schema),
        )]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != "add-numbers" {
            return Err(ErrorData::invalid_params("there is no such tool", None));
        }
        let number = |name: &str| {
            let found = request.arguments.as_ref().and_then(|all| all.get(name)).and_then(Value::as_i64);
            found.ok_or_else(|| ErrorData::invalid_params("a number is missing", None))
        };
        Ok(CallToolResult::structured(json!({ "sum": number("a")? + number("b")? })).into())
    }
}

async fn sdk() -> Result<()> {
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(|| Ok(Sdk), Arc::new(LocalSessionManager::default()), config);
    serve_bare(Router::new().nest_service("/mcp", service)).await
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
    serve_bare(Router::new().route("/mcp", post(answer))).await
}

fn bare_answer(body: &[u8], ours: Bytes) -> Response {
    match serde_json::from_slice::<Request>(body) {
        Ok(_) => ([("content-type", "application/json")], ours).into_response(),
        Err(error) => (http::StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

async fn our_answer() -> Result<Bytes> {
    let folder = tempfile::tempdir()?;
    let runtime = toolroom_bench::runtime(folder.path())?;
    let registrar = Registrar::open(Setup::new_in(folder.path(), &runtime)?)?;
    let app = App::new(runtime, registrar, folder.path().join("logs"));
    let router = router(&app, HostPolicy::new(Vec::<String>::new()));
    let mut request = http::Request::post("/mcp")
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "add-numbers")
        .body(Body::from(crate::load::BODY))?;
    request.extensions_mut().insert(Caller::Owner);
    let response = router.answer(request).await;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    if !status.is_success() {
        bail!("no answer to give: {status} {}", String::from_utf8_lossy(&body));
    }
    Ok(body)
}

async fn serve_bare(router: Router) -> Result<()> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("{} none", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}
