//! Our own server as a peer, on the files of a scratch folder.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolroom_runtime::federation::{self, Federation};
use toolroom_runtime::registrar::{Registrar, Setup};
use toolroom_server::listener::{Limits, Listener, Peer, serve as listen};
use toolroom_server::middleware::{HostPolicy, HttpService};
use toolroom_server::{App, router};

/// The whole service, with the servers of the folder's `mcp.json`, if there is one.
pub fn app(folder: &Path) -> Result<(Arc<App>, HttpService)> {
    let runtime = crate::runtime(folder)?;
    let registrar = Registrar::open(Setup::new_in(folder, &runtime)?)?;
    let file = folder.join("mcp.json");
    if !file.try_exists()? {
        std::fs::write(&file, "{\"mcpServers\": {}}\n")?;
    }
    let servers = Federation::open(federation::Setup::in_folder(folder, &runtime))?;
    let app = App::builder(runtime, registrar, folder.join("logs")).federation(servers).build();
    let router = router(&app, HostPolicy::new(Vec::<String>::new()));
    Ok((app, router))
}

/// Makes a key, listens, says where, and serves.
pub async fn serve(router: HttpService) -> Result<()> {
    let key = make_key(&router).await?;
    let listener = Listener::bind_tcp(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let address = listener.local_addr().context("the listener has an address")?;
    println!("{address} {key}");
    listen(listener, router, Limits::default(), CancellationToken::new(), Duration::ZERO).await;
    Ok(())
}

/// Listens with a router of another's, says where, and serves.
pub async fn serve_bare(router: Router) -> Result<()> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("{} none", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}

async fn make_key(router: &HttpService) -> Result<String> {
    let mut request = http::Request::post("/api/v1/keys")
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .body(Body::from(json!({ "user": "bench", "grants": ["*"] }).to_string()))?;
    request.extensions_mut().insert(Peer::Owner);
    let response = router.answer(request).await;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    let made: Value = serde_json::from_slice(&body)?;
    match made["key"].as_str() {
        Some(key) => Ok(key.to_owned()),
        None => bail!("no key was made: {status} {made}"),
    }
}
