//! `toolroom serve`: start-up and shutdown, in order.

use std::env;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use tokio::time::sleep;
use toolroom_server::listener::{Listener, raise_open_file_limit};
use toolroom_server::{App, Worker};
use toolroom_store::replicas::Mode;

use super::Globals;
use crate::client::{self, Client};
use crate::config::{Config, Overrides, redis_of_environment};
use crate::engine::{self, Engine, Signals, cannot_listen};
use crate::failure::Failure;
use crate::home::{Home, Role};
use crate::terminal;

/// Serve the tools over HTTP until stopped
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom serve --listen 127.0.0.1:8080
  curl http://127.0.0.1:8080/api/v1/tools/get-status/call \\
    -H 'content-type: application/json' -d '{}'

Ctrl-C or SIGTERM stops it after running calls have finished. TOOLROOM_LOG=debug logs more to stderr.")]
pub struct Serve {
    /// Listen on this address; port 0 picks a free one [default: 127.0.0.1:7878]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Share a PostgreSQL database with other servers, each in a home of its own
    #[arg(long)]
    shared: bool,
    /// With --shared: count calls of tools with a rate limit in this Redis or Valkey, redis://… or rediss://… [default:
    /// $TOOLROOM_REDIS, else toolroom.toml, else the database]
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
}

impl Serve {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let mut signals = Signals::new()?;
        raise_open_file_limit();
        let home = globals.home()?;
        let redis = self.redis.or_else(redis_of_environment);
        let overrides = Overrides { listen: self.listen, shared: self.shared, redis, ..globals.overrides() };
        let config = Config::load(&home, &overrides)?;
        if config.redis.is_some() && !config.shared {
            return Err(not_shared().into());
        }
        engine::refuse_second_server(&home)?;
        ask_engine(&home, globals, config.server.listen).await?;
        // Before anybody is made to go for it.
        let tcp = Listener::bind_tcp(config.server.listen).map_err(cannot_listen)?;
        let lock = engine::take_lock(&home, Role::Serve, true).await?;
        warn_of_readers(&home);
        let (grace, stop_delay) = (config.server.grace, config.server.stop_delay);
        let mut engine = Engine::start(&home, &config, config.mode(Mode::Alone), lock, grace).await?;
        refuse_strangers(engine.app(), config.server.listen).await?;
        warn_of_lost_keys(engine.app()).await?;
        let address = tcp.local_addr().unwrap_or(config.server.listen);
        if let Some(url) = &config.server.public_url {
            engine.app().federation.come_back_to(url, home.root());
        }
        let network = engine.listen(tcp, config.server.limits.clone());
        engine.announce(Role::Serve, Some(format!("http://{address}")))?;
        engine.app().auth.announce(console_address(&config, address));
        if let Some(work) = Worker::for_abandoned(engine.app()) {
            let stopping = engine.app().draining.clone();
            tokio::spawn(async move { work.run(&stopping).await });
        }
        greet(globals, address, &home)?;
        point_to_console(globals, engine.app()).await;

        tokio::select! {
            () = signals.wait() => {}
            () = engine.watch_over(None) => {}
        }
        engine.app().draining.cancel();
        if !stop_delay.is_zero() {
            tracing::info!(seconds = stop_delay.as_secs(), "not ready any more; requests are still taken");
            tokio::select! {
                () = sleep(stop_delay) => {}
                () = signals.wait() => {}
            }
        }
        tracing::info!(grace = grace.as_secs(), "stopping: waiting for running calls");
        engine.stop(Some(network), async move { signals.wait().await }).await;
        Ok(ExitCode::SUCCESS)
    }
}

fn not_shared() -> Failure {
    Failure::usage(
        "Redis is for servers that share a database, and this one does not: it counts calls by itself",
        "Share it, with --shared or 'shared = true' under [database] in toolroom.toml; or leave out --redis, TOOLROOM_REDIS and 'redis'.",
    )
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

/// A home that has had keys stays closed to requests without one. If its database has lost them, nobody has a key that
/// works, and its owner must hear of it.
async fn warn_of_lost_keys(app: &App) -> Result<()> {
    if app.auth.keys_are_lost().await? {
        tracing::warn!(
            "this home has had keys, and its database has none: it was emptied or replaced, and every request without a \
             valid key is refused. Restore the database from a backup, or create keys anew: toolroom keys create --user NAME"
        );
    }
    Ok(())
}

/// An engine that is at work does not end for a server that may not listen: it is asked for keys first.
async fn ask_engine(home: &Home, globals: &Globals, listen: SocketAddr) -> Result<()> {
    if listen.ip().to_canonical().is_loopback() || home.has_had_keys() || !client::answers(home).await? {
        return Ok(());
    }
    let asked = Client::open(home, &globals.overrides()).await?;
    let listed = asked.get("/api/v1/keys").await?;
    let none = listed["keys"].as_array().is_some_and(Vec::is_empty);
    asked.close().await;
    if none { Err(no_key(listen)) } else { Ok(()) }
}

/// Other machines need a key, so one must exist before we listen to them.
async fn refuse_strangers(app: &App, listen: SocketAddr) -> Result<()> {
    let is_ours = listen.ip().to_canonical().is_loopback();
    if is_ours || app.auth.ever_keyed().await? { Ok(()) } else { Err(no_key(listen)) }
}

fn no_key(listen: SocketAddr) -> anyhow::Error {
    Failure::new(
        format!("refusing to listen on {listen}: other machines can reach it, and this home has no key yet"),
        "Create a key first: toolroom keys create --user NAME",
    )
    .into()
}

/// Where a browser finds the console. One on this machine needs no TLS.
fn console_address(config: &Config, address: SocketAddr) -> String {
    // What crosses a network must be encrypted.
    if let Some(public) = config.server.public_url.as_deref().filter(|url| url.starts_with("https://")) {
        return public.trim_end_matches('/').to_owned();
    }
    let ip = address.ip().to_canonical();
    match config.server.allowed_hosts.first() {
        Some(host) if !ip.is_loopback() && !ip.is_unspecified() => format!("https://{host}"),
        _ if ip.is_unspecified() => format!("http://127.0.0.1:{}", address.port()),
        _ => format!("http://{address}"),
    }
}

/// A person gets a link. A file, which others may read, does not.
async fn point_to_console(globals: &Globals, app: &App) {
    if globals.json || !std::io::stdout().is_terminal() {
        return tracing::info!("for a link into the web console: toolroom console");
    }
    match app.auth.new_link().await {
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
