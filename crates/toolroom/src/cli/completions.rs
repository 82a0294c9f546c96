//! `toolroom completions`: what a shell needs to complete the command line. It asks this program for names.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:
  source <(toolroom completions bash)         in ~/.bashrc
  toolroom completions fish | source          in config.fish

Names of tools, servers, profiles, keys and requests come from the home.")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> Result<ExitCode> {
        let shells = Shells::builtins();
        let shell = shells.completer(&self.shell.to_string()).context("no script for this shell")?;
        let program = std::env::current_exe()?;
        let mut script = Vec::new();
        shell.write_registration(
            "COMPLETE",
            "toolroom",
            "toolroom",
            &program.to_string_lossy(),
            &mut script,
        )?;
        io::stdout().write_all(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}
