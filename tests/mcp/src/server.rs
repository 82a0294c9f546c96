//! Starts Toolroom's own listener and router on a scratch home, with the fixtures in the catalogue.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
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
use toolroom_store::replicas::{self, Joined, Mode, Replica};
use toolroom_store::{DatabaseUrl, Lease, Store, StoreError};

use crate::fixtures::{self, ChangingTools, PROFILE, Shelf};

/// The state of a server with the fixtures in its catalogue, and the folder that it lives in. With a database it is one of
/// those that share it.
async fn app(database: Option<&DatabaseUrl>, changing: Arc<ChangingTools>) -> Result<(Arc<App>, TempDir)> {
    let home = tempfile::tempdir()?;
    let logs = home.path().join("logs");
    let run = RunId::new();
    let store = match database {
        None => Store::open(&DatabaseUrl::sqlite(home.path().join("conformance.db")))?,
        Some(database) => shared(database, run, home.path()).await?,
    };
    let mut profiles = toolroom_profiles::built_in();
    // The task profiles need the task tools, which this server goes without.
    profiles.retain(|profile| profile.name == toolroom_profiles::DEFAULT);
    profiles.push(fixtures::profile());
    let runtime = Runtime::new(Parts {
        store,
        journal: Journal::open(&logs, run, Default::default())?,
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

/// The store of a server that shares its database, and renews its lease for as long as this process runs.
async fn shared(database: &DatabaseUrl, run: RunId, home: &Path) -> Result<Store> {
    let store = Store::open(database)?;
    let replica = Replica {
        id: run,
        home: home.display().to_string(),
        version: env!("CARGO_PKG_VERSION"),
        mode: Mode::Shared,
        registry_version: 0,
        knows: "[]".to_owned(),
    };
    let asked = Instant::now();
    let Joined::Shared(count) = store.write(move |unit| replicas::join(unit, &replica)).await? else {
        bail!("another process has the database alone");
    };
    let lease = Arc::new(Lease::new(run, asked, count));
    store.share(Arc::clone(&lease));
    let renewing = store.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(2)).await;
            let asked = Instant::now();
            let renewed: Result<_, StoreError> =
                renewing.once_ahead(move |unit| replicas::renew(unit, run)).await;
            if let Ok(Some(known)) = renewed {
                lease.renew(asked, known);
            }
        }
    });
    Ok(store)
}

/// Serves the fixtures on the standard streams until the input ends.
pub async fn serve_on_stdio() -> Result<()> {
    let (app, _home) = app(None, Arc::default()).await?;
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
        Self::start_on(port, None, Arc::default()).await
    }

    /// So many servers that share a PostgreSQL database.
    pub async fn start_sharing(count: usize, database: &str) -> Result<Vec<Self>> {
        let (database, changing) = (database.parse()?, Arc::<ChangingTools>::default());
        let mut servers = Vec::new();
        for _ in 0..count {
            servers.push(Self::start_on(0, Some(&database), Arc::clone(&changing)).await?);
        }
        Ok(servers)
    }

    async fn start_on(
        port: u16,
        database: Option<&DatabaseUrl>,
        changing: Arc<ChangingTools>,
    ) -> Result<Self> {
        let (app, home) = app(database, changing).await?;
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
