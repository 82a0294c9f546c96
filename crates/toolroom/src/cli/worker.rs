//! `toolroom worker`: makes calls that servers which share a database have left.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolroom_server::listener::raise_open_file_limit;
use toolroom_server::{Takes, Worker as Work};
use toolroom_store::replicas::Mode;

use super::Globals;
use crate::config::{Config, Overrides, redis_of_environment};
use crate::engine::{self, Engine, Signals};
use crate::failure::Failure;
use crate::home::Role;
use crate::terminal;

/// Make deferred calls for servers that share a database
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolroom worker --database postgres://toolroom:PASSWORD@db.internal/toolroom
  toolroom worker --tool render-video --tool train-model --parallel 2
  toolroom worker --tag gpu

Calls of slow tools (responseTime: slow) by MCP clients that can wait for them
(the tasks extension) are made by a worker if one takes that tool, else by the
server that got them. A worker needs no listener: only the database, a home of
its own, and what its tools need. If it is killed, another worker makes its
calls again if the tool is idempotent or only reads; else they have failed,
and their outcome is unknown. Ctrl-C or SIGTERM stops it after running calls.")]
pub struct Worker {
    /// Take calls of this tool; may be given several times [default: all slow tools]
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    /// Take calls of tools with this tag; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Make so many calls at a time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    parallel: Option<u16>,
    /// Where the servers count calls of tools with a rate limit, as for them [default: $TOOLROOM_REDIS, else toolroom.toml,
    /// else the database]
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
}

impl Worker {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let mut signals = Signals::new()?;
        raise_open_file_limit();
        let home = globals.home()?;
        let redis = self.redis.clone().or_else(redis_of_environment);
        let config = Config::load(&home, &Overrides { shared: true, redis, ..globals.overrides() })?;
        engine::refuse_second_server(&home)?;
        let lock = engine::take_lock(&home, Role::Serve, true).await?;
        let grace = config.server.grace;
        let mut engine = Engine::start(&home, &config, Mode::Shared, lock, grace).await?;
        engine.announce(Role::Serve, None)?;
        let cores = || std::thread::available_parallelism().map_or(2, usize::from);
        let parallel = self.parallel.map_or_else(cores, usize::from);
        let takes = Takes { tools: self.tools.clone(), tags: self.tags.clone() };
        let work = Work::new(engine.app(), takes, parallel).ok_or_else(|| {
            Failure::usage("a worker needs a database that servers share", "Name it: --database postgres://…")
        })?;
        warn_of_unknown(&self, &work.tools());
        work.take_on().await?;
        greet(globals, &work.tools(), parallel)?;

        let stop = CancellationToken::new();
        let mut working = std::pin::pin!(work.run(&stop));
        tokio::select! {
            () = signals.wait() => {}
            () = engine.watch_over(None) => {}
            () = &mut working => {}
        }
        engine.app().draining.cancel();
        stop.cancel();
        // A call that is being taken is begun.
        working.await;
        tracing::info!(grace = grace.as_secs(), "stopping: waiting for running calls");
        tokio::select! {
            _ = timeout(grace, work.drained()) => {}
            () = signals.wait() => {}
        }
        engine.stop(None, async move { signals.wait().await }).await;
        Ok(ExitCode::SUCCESS)
    }
}

/// A tool may come later; a name with a typo never does.
fn warn_of_unknown(asked: &Worker, taken: &[String]) {
    for name in asked.tools.iter().filter(|name| !taken.contains(name)) {
        tracing::warn!(tool = name, "there is no slow tool of that name yet; it is taken when there is one");
    }
}

fn greet(globals: &Globals, tools: &[String], parallel: usize) -> Result<()> {
    tracing::info!(tools = tools.join(", "), parallel, "working");
    if globals.json {
        terminal::say(&json!({ "working": tools, "parallel": parallel }).to_string())?;
    } else {
        terminal::say(&format!("working: {} tools, {parallel} calls at a time", tools.len()))?;
    }
    Ok(())
}
