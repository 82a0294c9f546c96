//! `toolroom mcp`: MCP on standard input and output, through the server or engine of the home.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use toolroom_profiles::DEFAULT;

use super::Globals;
use crate::config::Config;
use crate::front::Front;

/// Serve MCP on stdin and stdout
#[derive(Debug, Args)]
#[command(after_help = "Example, in the settings of an MCP client:
  {\"mcpServers\": {\"toolroom\": {\"command\": \"toolroom\", \"args\": [\"mcp\"]}}}

It acts as 'local' with every permission, because only the home's owner can start it. Any number of clients can use
one home: they share the server that 'toolroom serve' runs, or else an engine that is started for them and ends a
minute after the last. If that ends, they go on with the next. It ends when its input ends.")]
pub struct Mcp {
    /// Serve this profile's tools
    #[arg(long, value_name = "NAME", default_value = DEFAULT, add = super::candidates::profiles())]
    profile: String,
    /// Act as this user instead of 'local'
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
}

impl Mcp {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let home = globals.home()?;
        let overrides = globals.overrides();
        // What is wrong in the settings is told here, where somebody reads it.
        Config::load(&home, &overrides)?;
        let front = Front { home, database: overrides.database, profile: self.profile, user: self.user };
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            passed = front.run() => passed.map(|()| ExitCode::SUCCESS),
            _ = terminated.recv() => Ok(ExitCode::SUCCESS),
            Ok(()) = tokio::signal::ctrl_c() => Ok(ExitCode::from(130)),
        }
    }
}
