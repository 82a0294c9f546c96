//! The process that works on a home, one at a time, found on the home's socket. `serve` is one that also listens to
//! the network. Fronts (`toolroom mcp`) start one where there is none; it ends when nobody needs it.

mod start;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use toolroom_runtime::registry_file::Watch;
use toolroom_server::App;
use toolroom_server::listener::{Limits, ListenError, Listener, ServeReport, connect_unix, serve};
use toolroom_store::replicas::Mode;

use crate::client::{PATIENCE, answers};
use crate::config::Config;
use crate::failure::Failure;
use crate::home::{Home, HomeLock, Role, Taking};
use crate::upkeep::Upkeep;
use crate::wiring::Service;
use crate::{terminal, wiring};

pub use start::{connect, retire};

/// How long another process is waited for before that is said.
const SILENCE: Duration = Duration::from_secs(1);
/// Between two looks at the socket.
const LOOK: Duration = Duration::from_millis(500);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a server that stops tries to ship the end of its log.
const LAST_SHIPMENT: Duration = Duration::from_secs(2);

/// A running engine.
pub struct Engine {
    service: Service,
    lock: HomeLock,
    home: Home,
    stop: CancellationToken,
    grace: Duration,
    owner: JoinHandle<ServeReport>,
    upkeep: JoinHandle<()>,
    /// Ships the log, where others share the database.
    shipping: Option<JoinHandle<()>>,
    watch: [Watch; 3],
}

impl Engine {
    /// Starts everything but the network.
    pub async fn start(
        home: &Home,
        config: &Config,
        mode: Mode,
        lock: HomeLock,
        grace: Duration,
    ) -> Result<Self> {
        let service = wiring::build(home, config, mode).await?;
        let socket = Listener::bind_unix(&home.socket()).map_err(cannot_listen)?;
        let stop = CancellationToken::new();
        let owner = serve(socket, service.router.clone(), Limits::default(), stop.clone(), grace);
        let owner = tokio::spawn(owner);
        let app = &service.app;
        let (store, chat) = (app.runtime.store.clone(), app.chat.clone());
        let log = app.shared_log.clone();
        let shipping = log.clone().map(|log| tokio::spawn(async move { log.ship_for_ever().await }));
        let upkeep =
            Upkeep { store, chat, tasks: config.tasks.clone(), log, log_days: config.journal_keep_days };
        let upkeep = tokio::spawn(upkeep.run(stop.clone()));
        let watch = [app.registrar.watch(), app.federation.watch(), app.profiles.watch()];
        app.follow_servers();
        app.federation.start();
        let registrar = Arc::clone(&app.registrar);
        tokio::spawn(async move { registrar.warm_up().await });
        Ok(Self { service, lock, home: home.clone(), stop, grace, owner, upkeep, shipping, watch })
    }

    /// The state behind the routes.
    pub fn app(&self) -> &Arc<App> {
        &self.service.app
    }

    /// Serves the network too.
    pub fn listen(&self, tcp: Listener, limits: Limits) -> JoinHandle<ServeReport> {
        let router = self.service.router.clone();
        tokio::spawn(serve(tcp, router, limits, self.stop.clone(), self.grace))
    }

    /// Says what this process is.
    pub fn announce(&mut self, role: Role, address: Option<String>) -> Result<()> {
        self.lock.announce(role, address)
    }

    /// Looks after the socket, which is made again if somebody removed it. Returns when nobody has used an engine for as
    /// long as `idle` says, or its home is gone; never for a server.
    pub async fn watch_over(&mut self, idle: Option<Duration>) {
        let (mut last_used, mut answered) = (Instant::now(), 0);
        loop {
            sleep(idle.unwrap_or(LOOK).min(LOOK)).await;
            let app = &self.service.app;
            // A command that was just answered may go on.
            let before = std::mem::replace(&mut answered, app.runtime.metrics.http.answered());
            let is_used = !app.handed_over.is_empty() || app.runtime.metrics.running.get() > 0;
            if is_used || answered != before {
                last_used = Instant::now();
            }
            let is_idle = idle.is_some_and(|most| last_used.elapsed() >= most);
            if is_idle || (idle.is_some() && !self.home.has(&self.lock)) {
                return;
            }
            if !self.home.socket().exists()
                && let Ok(socket) = Listener::bind_unix(&self.home.socket())
            {
                tracing::warn!("the socket was removed; it is there again");
                let router = self.service.router.clone();
                self.owner =
                    tokio::spawn(serve(socket, router, Limits::default(), self.stop.clone(), self.grace));
            }
        }
    }

    /// Ends: running calls get the grace to finish, or until `at_once`.
    pub async fn stop(mut self, network: Option<JoinHandle<ServeReport>>, at_once: impl Future<Output = ()>) {
        let app = &self.service.app;
        app.draining.cancel();
        self.stop.cancel();
        app.stopping.cancel();
        app.handed_over.close();
        let handed_over = timeout(self.grace, app.handed_over.wait());
        let network = async {
            match network {
                Some(network) => network.await.unwrap_or_default(),
                None => ServeReport::default(),
            }
        };
        let drained = async { tokio::join!(network, self.owner, self.upkeep, handed_over) };
        tokio::select! {
            (report, ..) = drained => {
                tracing::info!(accepted = report.accepted, refused = report.refused, aborted = report.aborted, "stopped");
            }
            () = at_once => tracing::warn!("stopped at once: running calls are logged as interrupted"),
        }
        drop(self.watch);
        tokio::join!(app.registrar.scripts().shutdown(), app.federation.shutdown());
        if let (Some(log), Some(shipping)) = (&app.shared_log, self.shipping) {
            shipping.abort();
            if !matches!(timeout(LAST_SHIPMENT, log.ship()).await, Ok(Ok(()))) {
                tracing::warn!("the end of the log was not shipped; the next server in this home does it");
            }
        }
        if let Some(alive) = self.service.alive.take() {
            alive.end().await;
        }
        // The store is closed before others may open it.
        drop(self.service);
        drop(self.lock);
    }
}

/// Takes the lock: from an engine of fronts at once if `retires`; from a command, and by an engine from a server, when
/// that has ended.
pub async fn take_lock(home: &Home, role: Role, retires: bool) -> Result<HomeLock> {
    let (since, mut told, mut retired) = (Instant::now(), false, None);
    let mut began = since;
    // Those whose engine ends now must not start another one.
    let mut turn = None;
    loop {
        if retires && turn.is_none() {
            turn = start::turn_to_start(home)?;
        }
        let holder = match home.try_lock(role)? {
            Taking::Taken(lock) => {
                if let Some(pid) = retired {
                    terminal::remark(&format!("took over from the engine of MCP clients (pid {pid})"));
                }
                return Ok(lock);
            }
            Taking::Held(holder) => holder,
        };
        if let Some(holder) = &holder {
            match holder.role {
                // It may be ending, or is all that is needed; one that hangs is told.
                Role::Serve if role == Role::Serve || connect_unix(&home.socket()).await.is_ok() => {
                    answers(home).await?;
                    return Err(in_use(home, &holder.to_string()));
                }
                Role::Engine if retires && retired != Some(holder.pid) => {
                    retired = retire(home).await.then_some(holder.pid);
                }
                // It may take as long as its call does, and ends.
                Role::Command => began = Instant::now(),
                _ => {}
            }
        }
        let by = || holder.as_ref().map_or("another process".to_owned(), ToString::to_string);
        if began.elapsed() > PATIENCE {
            answers(home).await?;
            return Err(in_use(home, &by()));
        }
        if !told && since.elapsed() > SILENCE {
            told = true;
            terminal::remark(&format!("waiting for {}, which uses {}", by(), home.root().display()));
        }
        sleep(PAUSE).await;
    }
}

/// Fails if a server works on the home.
pub fn refuse_second_server(home: &Home) -> Result<()> {
    match home.try_lock(Role::Command)? {
        Taking::Held(Some(holder)) if holder.role == Role::Serve => Err(in_use(home, &holder.to_string())),
        _ => Ok(()),
    }
}

fn in_use(home: &Home, by: &str) -> anyhow::Error {
    Failure::new(
        format!("{} is in use by {by}", home.root().display()),
        "Use that server, stop it first, or serve another home: toolroom serve --home DIR",
    )
    .into()
}

/// What to do about an address or a socket that cannot be had.
pub fn cannot_listen(error: ListenError) -> Failure {
    let hint = match &error {
        ListenError::Tcp { .. } => "Choose another address, such as --listen 127.0.0.1:0 for a free port.",
        ListenError::InUse(_) => "Stop the other server, or serve another home with --home DIR.",
        _ => "Fix the home's permissions, or choose another home with --home DIR.",
    };
    Failure::new(error.to_string(), hint)
}

/// SIGINT and SIGTERM, caught from the start.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Catches them from now on.
    pub fn new() -> Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// The next one.
    pub async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
