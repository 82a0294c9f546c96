//! `toolroom serve`: start-up and shutdown, in order.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use toolroom_server::App;
use toolroom_server::listener::{Limits, ListenError, Listener, raise_open_file_limit, serve};

use super::Globals;
use crate::client::PATIENCE;
use crate::config::{Config, Overrides};
use crate::failure::Failure;
use crate::home::{Home, HomeLock, Taking};
use crate::{terminal, upkeep, wiring};

/// Serve the tools over HTTP until stopped
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom serve --listen 127.0.0.1:8080
  curl http://127.0.0.1:8080/api/v1/tools/get-status/call -H 'content-type: application/json' -d '{}'

Ctrl-C or SIGTERM stops it after running calls have finished. TOOLROOM_LOG=debug logs more to stderr.")]
pub struct Serve {
    /// Listen on this address; port 0 picks a free one [default: 127.0.0.1:7878]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
}

impl Serve {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let mut signals = Signals::new()?;
        raise_open_file_limit();
        let home = globals.home()?;
        let config = Config::load(&home, &Overrides { listen: self.listen, ..globals.overrides() })?;
        let mut lock = take_lock(&home).await?;
        warn_of_readers(&home);
        let service = wiring::build(&home, &config)?;
        refuse_strangers(&service.app, config.server.listen).await?;
        let tcp = Listener::bind_tcp(config.server.listen).map_err(cannot_listen)?;
        let unix = Listener::bind_unix(&home.socket()).map_err(cannot_listen)?;
        let address = tcp.local_addr().unwrap_or(config.server.listen);

        let stop = CancellationToken::new();
        let grace = config.server.grace;
        let listening = |listener: Listener| {
            serve(listener, service.router.clone(), Limits::default(), stop.clone(), grace)
        };
        let network = tokio::spawn(listening(tcp));
        let owner = tokio::spawn(listening(unix));
        let (store, chat) = (service.app.runtime.store.clone(), service.app.chat.clone());
        let upkeep = tokio::spawn(upkeep::run(store, chat, config.tasks.clone(), stop.clone()));
        let app = &service.app;
        let watch = (app.registrar.watch(), app.federation.watch(), app.profiles.watch());
        service.app.follow_servers();
        service.app.federation.start();
        let registrar = std::sync::Arc::clone(&service.app.registrar);
        tokio::spawn(async move { registrar.warm_up().await });
        lock.announce(&format!("http://{address}"))?;
        service.app.auth.announce(console_address(&config, address));
        greet(globals, address, &home)?;
        point_to_console(globals, &service.app);

        signals.wait().await;
        tracing::info!(grace = grace.as_secs(), "stopping: waiting for running calls");
        stop.cancel();
        service.app.stopping.cancel();
        service.app.handed_over.close();
        let handed_over = timeout(grace, service.app.handed_over.wait());
        let drained = async { tokio::join!(network, owner, upkeep, handed_over) };
        tokio::select! {
            (network, ..) = drained => {
                let report = network.unwrap_or_default();
                tracing::info!(accepted = report.accepted, refused = report.refused, aborted = report.aborted, "stopped");
            }
            () = signals.wait() => tracing::warn!("stopped at once: running calls are logged as interrupted"),
        }
        drop(watch);
        tokio::join!(service.app.registrar.scripts().shutdown(), service.app.federation.shutdown());
        drop(service);
        drop(lock);
        Ok(ExitCode::SUCCESS)
    }
}

/// Warns if other users can read the home: scripts, logs and the database are in it.
fn warn_of_readers(home: &Home) {
    let path = home.root().display();
    let mode = std::fs::metadata(home.root()).map_or(0, |found| found.permissions().mode() & 0o777);
    if mode & 0o055 != 0 {
        tracing::warn!(
            "other users can read the home {path} (mode {mode:o}); to prevent that: chmod 700 {path}"
        );
    }
}

/// SIGINT and SIGTERM, caught from the start.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Waits for a running command, but not for another server.
async fn take_lock(home: &Home) -> Result<HomeLock> {
    let began = Instant::now();
    loop {
        let held_by = match home.try_lock()? {
            Taking::Taken(lock) => return Ok(lock),
            Taking::Held(address) => address,
        };
        if held_by.is_some() || began.elapsed() > PATIENCE {
            let by = held_by.map_or("another process".to_owned(), |address| format!("a server at {address}"));
            return Err(Failure::new(
                format!("{} is in use by {by}", home.root().display()),
                "Use that server, stop it first, or serve another home: toolroom serve --home DIR",
            )
            .into());
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// Other machines need a key, so one must exist before we listen to them.
async fn refuse_strangers(app: &App, listen: SocketAddr) -> Result<()> {
    if listen.ip().to_canonical().is_loopback() || app.auth.ever_keyed().await? {
        return Ok(());
    }
    Err(Failure::new(
        format!("refusing to listen on {listen}: other machines can reach it, and this home has no key yet"),
        "Create a key first: toolroom keys create --user NAME",
    )
    .into())
}

fn cannot_listen(error: ListenError) -> Failure {
    let hint = match &error {
        ListenError::Tcp { .. } => "Choose another address, such as --listen 127.0.0.1:0 for a free port.",
        ListenError::InUse(_) => "Stop the other server, or serve another home with --home DIR.",
        _ => "Fix the home's permissions, or choose another home with --home DIR.",
    };
    Failure::new(error.to_string(), hint)
}

/// Where a browser finds the console. One on this machine needs no TLS.
fn console_address(config: &Config, address: SocketAddr) -> String {
    let ip = address.ip().to_canonical();
    match config.server.allowed_hosts.first() {
        Some(host) if !ip.is_loopback() && !ip.is_unspecified() => format!("https://{host}"),
        _ if ip.is_unspecified() => format!("http://127.0.0.1:{}", address.port()),
        _ => format!("http://{address}"),
    }
}

/// A person gets a link. A file, which others may read, does not.
fn point_to_console(globals: &Globals, app: &App) {
    if globals.json || !std::io::stdout().is_terminal() {
        return tracing::info!("for a link into the web console: toolroom console");
    }
    match app.auth.new_link() {
        // To stdout alone: the log may go to a file.
        Ok(Some(link)) => {
            let _ = terminal::say(&format!(
                "console: {}\n         (works once, for ten minutes; 'toolroom console' prints another)",
                link.url
            ));
        }
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "no link into the console could be made"),
    }
}

/// Connections are accepted since the bind, so a reader of this line can connect at once.
fn greet(globals: &Globals, address: SocketAddr, home: &Home) -> Result<()> {
    tracing::info!(%address, home = %home.root().display(), version = env!("CARGO_PKG_VERSION"), "serving");
    if globals.json {
        terminal::say(&json!({ "listening": format!("http://{address}"), "home": home.root() }).to_string())?;
    } else {
        terminal::say(&format!("listening on http://{address}"))?;
    }
    Ok(())
}
