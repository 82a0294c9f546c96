//! `toolroom doctor`: is the home well, and what to do if not.

mod finding;
mod folders;
mod interpreters;
mod prune;
mod registry;
mod servers;
mod service;
mod system;

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::Globals;
use crate::config::{Config, Overrides};
use crate::failure::Exit;
use crate::home::Home;
use finding::{Finding, Health};

/// Find problems with the home
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom doctor --home ./.toolroom
  toolroom doctor --prune                remove unused packages
  toolroom doctor --server               is the server ready?

It looks at folders, settings, tools.json and its scripts, mcp.json, interpreters, the disk, the database, and at
what this system offers to contain scripts and code. Exit code 1 if something is broken.")]
pub struct Doctor {
    /// Remove packages and modules from the cache that no tool needs any more
    #[arg(long)]
    prune: bool,
    /// Ask only the server of the home, as health checks do: exit code 1 unless one runs and is ready
    #[arg(long, conflicts_with = "prune")]
    server: bool,
}

/// Everything that the doctor looks at.
async fn examine(home: &Home, overrides: &Overrides) -> Vec<Finding> {
    let config = Config::load(home, overrides);
    let mut findings = folders::look(home);
    let settings = config.as_ref().map(|_| "toolroom.toml is valid".to_owned());
    findings.push(Finding::of_result("settings", settings));
    let python = interpreters::Python::find();
    findings.push(python.finding());
    findings.extend(registry::look(home, &python));
    findings.extend(servers::look(home));
    findings.extend(system::look(home, config.as_ref().ok()).await);
    if let Ok(config) = &config {
        findings.extend(service::look(home, config, overrides).await);
    }
    findings
}

/// The same, for a running server that is asked for it. It looks at files and starts programs, so it has a thread.
pub async fn for_server(home: Home, overrides: Overrides) -> toolroom_server::Doctor {
    let threads = tokio::runtime::Handle::current();
    let looked = tokio::task::spawn_blocking(move || threads.block_on(examine(&home, &overrides))).await;
    let findings = looked.unwrap_or_else(|error| {
        vec![Finding::fail("doctor", error.to_string(), "Run 'toolroom doctor' on the machine.")]
    });
    finding::as_report(&findings)
}

impl Doctor {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let home = globals.home()?;
        let overrides = globals.overrides();
        let mut findings = match self.server {
            true => vec![service::running(&home, &overrides).await],
            false => examine(&home, &overrides).await,
        };
        if self.prune {
            findings.push(prune::prune(&home).await);
        }
        finding::report(&findings, globals.json)?;
        let broken = findings.iter().any(|finding| finding.health == Health::Fail);
        Ok(if broken { Exit::Failed.code() } else { ExitCode::SUCCESS })
    }
}
