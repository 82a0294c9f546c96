//! Starts Toolroom's own listener and router on a scratch home, with the fixtures in the catalogue.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use jiff::tz::TimeZone;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolroom_contract::ids::RunId;
use toolroom_runtime::clock::SystemClock;
use toolroom_runtime::journal::Journal;
use toolroom_runtime::registrar::{Registrar, Setup};
use toolroom_runtime::{Parts, Runtime, Settings};
use toolroom_server::listener::{Limits, Listener, ServeReport, serve};
use toolroom_server::mcp_sources::Source;
use toolroom_server::middleware::HostPolicy;
use toolroom_server::{App, router, serve_lines, standard_input, standard_output};
use toolroom_store::{DatabaseUrl, Store};

use crate::fixtures::{self, ChangingTools, PROFILE, Shelf};

/// The state of a server with the fixtures in its catalogue, and the folder that it lives in.
async fn app() -> Result<(Arc<App>, TempDir)> {
    let home = tempfile::tempdir()?;
    let logs = home.path().join("logs");
    let mut profiles = toolroom_profiles::built_in();
    // The task profiles need the task tools, which this server goes without.
    profiles.retain(|profile| profile.name == toolroom_profiles::DEFAULT);
    profiles.push(fixtures::profile());
    let changing = Arc::new(ChangingTools::default());
    let runtime = Runtime::new(Parts {
        store: Store::open(&DatabaseUrl::sqlite(home.path().join("conformance.db")))?,
        journal: Journal::open(&logs, RunId::new(), Default::default())?,
        tools: Vec::new(),
        profiles,
        clock: Arc::new(SystemClock),
        settings: Settings::default(),
    })?;
    changing.fill(&runtime);
    let today = runtime.clock.now().to_zoned(TimeZone::UTC).date();
    for fixture in fixtures::tools(&changing) {
        runtime.registry.register(fixture, today).await?;
    }
    let registrar = Registrar::open(Setup::new_in(home.path(), &runtime)?)?;
    let app = App::builder(runtime, registrar, logs).build();
    changing.show(&app);
    let shelf: Arc<dyn Source> = Arc::new(Shelf(changing));
    app.add_mcp_source(&shelf);
    Ok((app, home))
}

/// Serves the fixtures on the standard streams until the input ends.
pub async fn serve_on_stdio() -> Result<()> {
    let (app, _home) = app().await?;
    let (output, written) = standard_output();
    serve_lines(app, None, PROFILE, standard_input(), output).await?;
    written.await?;
    Ok(())
}

/// A server that runs until it is stopped. Nobody has made a key in its home, so callers on this machine need none.
pub struct RunningServer {
    /// Where it listens.
    pub address: SocketAddr,
    shutdown: CancellationToken,
    served: JoinHandle<ServeReport>,
    /// Removed with the server.
    _home: TempDir,
}

impl RunningServer {
    /// A server on that port, or on any free one with 0.
    pub async fn start(port: u16) -> Result<Self> {
        let (app, home) = app().await?;
        let router = router(&app, HostPolicy::new(Vec::<String>::new()));
        let listener = Listener::bind_tcp(SocketAddr::from(([127, 0, 0, 1], port)))?;
        let address = listener.local_addr().context("the listener has an address")?;
        let shutdown = CancellationToken::new();
        let grace = Duration::from_secs(1);
        let served = tokio::spawn(serve(listener, router, Limits::default(), shutdown.clone(), grace));
        Ok(Self { address, shutdown, served, _home: home })
    }

    /// The MCP endpoint of the fixtures.
    pub fn url(&self) -> String {
        format!("http://{}/mcp/{PROFILE}", self.address)
    }

    /// The endpoint of the old transport.
    pub fn sse_url(&self) -> String {
        format!("http://{}/sse/{PROFILE}", self.address)
    }

    /// Takes no more connections, and ends.
    pub async fn stop(self) -> Result<ServeReport> {
        self.shutdown.cancel();
        Ok(self.served.await?)
    }
}
