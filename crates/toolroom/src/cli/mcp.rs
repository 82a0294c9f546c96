//! `toolroom mcp`: MCP on standard input and output, through the server or engine of the home.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use toolroom_profiles::DEFAULT;

use super::Globals;
use super::suggest::or_profile;
use crate::client::Client;
use crate::config::Config;
use crate::failure::Failure;
use crate::front::Front;

/// Serve MCP on stdin and stdout
#[derive(Debug, Args)]
#[command(after_help = "Example, in the settings of an MCP client:
  {\"mcpServers\": {\"toolroom\": {\"command\": \"toolroom\", \"args\": [\"mcp\"]}}}

It acts as 'local' with every permission, because only the home's owner can start it. Any number of clients can use
one home: they share the server that 'toolroom serve' runs, or else an engine that is started for them and ends a
minute after the last. If that ends, they go on with the next. When its input ends, it answers what was asked before,
for as long as --linger says, and ends.")]
pub struct Mcp {
    /// Serve this profile's tools
    #[arg(long, value_name = "NAME", default_value = DEFAULT, add = super::candidates::profiles())]
    profile: String,
    /// Act as this user instead of 'local'
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// When the input ends, wait up to this many seconds for the answers to what was asked; then stop it
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    linger: f64,
}

/// The longest wait at the end.
const LONGEST: Duration = Duration::from_secs(86_400);

impl Mcp {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let home = globals.home()?;
        let overrides = globals.overrides();
        // What is wrong in the settings is told here, where somebody reads it.
        Config::load(&home, &overrides)?;
        let linger = Duration::try_from_secs_f64(self.linger).ok().filter(|linger| *linger <= LONGEST);
        let linger = linger.ok_or_else(|| {
            Failure::usage("--linger takes seconds, from 0 to 86400", "toolroom mcp --linger 60")
        })?;
        let (database, profile) = (overrides.database.clone(), self.profile.clone());
        let front = Front { home, database, profile, user: self.user, linger };
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            passed = front.run() => match passed {
                Ok(()) => Ok(ExitCode::SUCCESS),
                // The engine that does not know the profile knows the others.
                Err(error) => {
                    let client = Client::open(&front.home, &overrides).await?;
                    or_profile(&client, [self.profile.as_str()], Err(error)).await
                }
            },
            _ = terminated.recv() => Ok(ExitCode::SUCCESS),
            Ok(()) = tokio::signal::ctrl_c() => Ok(ExitCode::from(130)),
        }
    }
}
