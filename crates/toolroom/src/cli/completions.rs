//! `toolroom completions`: what a shell needs to complete the command line.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom completions bash > ~/.local/share/bash-completion/completions/toolroom")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "toolroom", &mut script);
        io::stdout().write_all(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}
