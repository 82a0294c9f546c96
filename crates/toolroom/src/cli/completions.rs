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
  source <(toolroom completions zsh)          in ~/.zshrc, after compinit
  toolroom completions fish | source          in config.fish

Names of tools, servers, profiles, keys and requests come from the home.")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// Stands for the path of this program until it is quoted.
const PROGRAM: &str = "TOOLROOM_PROGRAM";

/// Quotes what bash puts onto the line, unless the person has begun with a quote.
const QUOTE: &str = r#"    if [[ "$2" != [\"\']* ]]; then
        local at
        for at in "${!COMPREPLY[@]}"; do printf -v "COMPREPLY[at]" %q "${COMPREPLY[at]}"; done
    fi
"#;

impl Completions {
    pub fn run(self) -> Result<ExitCode> {
        let shells = Shells::builtins();
        let shell = shells.completer(&self.shell.to_string()).context("no script for this shell")?;
        let mut script = Vec::new();
        shell.write_registration(crate::COMPLETING, "toolroom", "toolroom", PROGRAM, &mut script)?;
        let script = String::from_utf8(script)?;
        let program = std::env::current_exe()?.to_string_lossy().replace('\'', r"'\''");
        let script =
            script.replace(&format!("\"{PROGRAM}\""), PROGRAM).replace(PROGRAM, &format!("'{program}'"));
        // Names of files and servers are not to be taken for commands.
        let script = script.replacen("\n    ) )\n", &format!("\n    ) )\n{QUOTE}"), 1);
        io::stdout().write_all(script.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}
