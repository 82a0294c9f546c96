//! `toolroom init`: make the home, and say what is where.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::Globals;
use crate::terminal;

/// Create a home and show what is in it
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom init --home ./.toolroom    a home for this project

Other commands also create the home if there is none.")]
pub struct Init {}

impl Init {
    pub fn run(self, globals: &Globals) -> Result<ExitCode> {
        let (home, made) = globals.prepare_home()?;
        home.registry()?;
        if globals.json {
            terminal::say_json(&json!({
                "home": home.root(), "made": made, "settings": home.settings(), "tools": home.tools(),
                "servers": home.servers(), "logs": home.logs(), "database": home.database(),
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let did = if made { "created a new home" } else { "found a home" };
        terminal::say(&format!(
            "{did} at {}
  toolroom.toml     settings, each with its default
  tools/tools.json  tools of your own
  mcp.json          MCP servers
  toolroom.db       the database, created when it is first needed
  logs/             the execution log, one file per day

next: toolroom serve, or toolroom call get-status",
            home.root().display()
        ))?;
        Ok(ExitCode::SUCCESS)
    }
}
