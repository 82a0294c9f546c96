//! `toolroom secrets`: values that scripts get in their environment and that nothing shows.

use std::io::{IsTerminal, Read};
use std::process::{Command, ExitCode, Stdio};

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;
use toolroom_runtime::secret_file::{LONGEST_SECRET, SecretFile};

use super::Globals;
use crate::failure::Failure;
use crate::terminal;

/// Set, list and remove secrets of scripts
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom secrets set WEATHER_KEY < key.txt
  toolroom secrets list

An entry of tools.json names one in its environment: \"env\": {\"API_KEY\": \"secret:WEATHER_KEY\"}.")]
pub struct Secrets {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Set a secret; the value is read from stdin, or asked for without showing it
    #[command(after_help = "Example:\n  printf %s \"$KEY\" | toolroom secrets set WEATHER_KEY")]
    Set {
        /// Its name: letters, digits, '_', '-' and '.'
        name: String,
    },
    /// List the names of the secrets
    #[command(after_help = "Example:\n  toolroom secrets list --json")]
    List,
    /// Remove a secret
    #[command(after_help = "Example:\n  toolroom secrets remove WEATHER_KEY")]
    Remove {
        /// Its name
        name: String,
    },
}

impl Secrets {
    pub fn run(self, globals: &Globals) -> Result<ExitCode> {
        let file = SecretFile::new(globals.home()?.secrets());
        let failed = |error: std::io::Error| {
            Failure::new(format!("the secrets cannot be used: {error}"), "Fix the file, or remove it.")
        };
        match self.verb {
            Verb::Set { name } => {
                check(&name)?;
                let is_new = file.set(&name, value()?).map_err(failed)?;
                terminal::remark(&format!("{} {name}", if is_new { "set" } else { "replaced" }));
            }
            Verb::List => {
                let names = file.names().map_err(failed)?;
                if globals.json {
                    terminal::say_json(&json!({ "secrets": names }))?;
                } else if names.is_empty() {
                    terminal::say("no secrets yet; set one: toolroom secrets set NAME")?;
                } else {
                    terminal::say(&names.join("\n"))?;
                }
            }
            Verb::Remove { name } => {
                if !file.remove(&name).map_err(failed)? {
                    let hint = "'toolroom secrets list' shows those that there are.";
                    return Err(Failure::new(format!("no secret is named '{name}'"), hint).into());
                }
                terminal::remark(&format!(
                    "removed {name}; tools that name it are refused until it is set again"
                ));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn check(name: &str) -> Result<()> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    if name.is_empty() || name.len() > 100 || !name.chars().all(plain) {
        let message = format!("'{name}' cannot be the name of a secret");
        return Err(Failure::usage(message, "Use letters, digits, '_', '-' and '.': WEATHER_KEY.").into());
    }
    Ok(())
}

/// From stdin, without the line end; a terminal does not show what is typed.
fn value() -> Result<String> {
    let shown = std::io::stdin().is_terminal();
    if shown {
        terminal::remark("type the value, then Enter (it is not shown):");
    }
    let echo = |on: &str| shown && Command::new("stty").arg(on).stdin(Stdio::inherit()).status().is_ok();
    let hidden = echo("-echo");
    let mut text = String::new();
    let read = match shown {
        true => std::io::stdin().read_line(&mut text).map(|_| ()),
        false => std::io::stdin().take(LONGEST_SECRET as u64 + 1).read_to_string(&mut text).map(|_| ()),
    };
    if hidden {
        echo("echo");
    }
    read.map_err(|error| {
        Failure::new(format!("the value cannot be read: {error}"), "Send it as UTF-8 text.")
    })?;
    let value = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text)).unwrap_or(&text);
    if value.is_empty() || value.len() > LONGEST_SECRET || value.contains('\0') {
        let message = format!("a secret has 1 to {LONGEST_SECRET} bytes, and no zero byte");
        return Err(Failure::usage(message, "printf %s \"$KEY\" | toolroom secrets set NAME").into());
    }
    Ok(value.to_owned())
}
