//! `toolroom engine`: what `toolroom mcp` starts where no server runs. Not for people.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use toolroom_server::listener::raise_open_file_limit;
use toolroom_store::replicas::Mode;

use super::{Globals, variable};
use crate::config::Config;
use crate::engine::{self, Signals};
use crate::home::Role;

/// Work on the home for MCP clients, until none is left
#[derive(Debug, Args)]
pub struct Engine {}

/// How long running calls may take when somebody else wants the home: clients wait.
const GRACE: Duration = Duration::from_millis(500);
/// How long an engine waits for the next client.
const IDLE: Duration = Duration::from_secs(60);
/// A client must have the time to come.
const LEAST: Duration = Duration::from_millis(100);
/// Seconds to wait instead.
const IDLE_VARIABLE: &str = "TOOLROOM_ENGINE_IDLE";

impl Engine {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let mut signals = Signals::new()?;
        // What ends the program that started it must not end it.
        let _ = rustix::process::setsid();
        raise_open_file_limit();
        let home = globals.home()?;
        let config = Config::load(&home, &globals.overrides())?;
        let lock = engine::take_lock(&home, Role::Engine, false).await?;
        let mut engine =
            engine::Engine::start(&home, &config, config.mode(Mode::AsOthers), lock, GRACE).await?;
        let idle = variable(IDLE_VARIABLE).and_then(|text| text.to_str()?.parse().ok());
        let idle = idle.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(IDLE);
        tokio::select! {
            () = signals.wait() => tracing::info!("another process takes the home over"),
            () = engine.watch_over(Some(idle.max(LEAST))) => tracing::info!("no client is left"),
        }
        engine.stop(None, async move { signals.wait().await }).await;
        Ok(ExitCode::SUCCESS)
    }
}
