//! `toolroom secrets`: values that scripts get in their environment and that nothing shows.

use std::io::{IsTerminal, Read};
use std::process::{Command, ExitCode, Stdio};

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;
use toolroom_outgoing::Url;
use toolroom_runtime::secret_file::{LONGEST_SECRET, SecretFile};

use super::Globals;
use crate::failure::Failure;
use crate::terminal;

/// Set, list and remove secrets of scripts and imported APIs
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom secrets set WEATHER_KEY < key.txt
  toolroom secrets list

An entry of tools.json names one in its environment: \"env\": {\"API_KEY\": \"secret:WEATHER_KEY\"}.
Values are sealed in secrets.json of the home with the key in secrets.key beside it, or in TOOLROOM_SEAL_KEY.")]
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
    /// Let a host get a secret, for tools that make requests
    #[command(after_help = "Example:\n  toolroom secrets allow PETSTORE_KEY https://api.example.com")]
    Allow {
        /// The secret's name
        name: String,
        /// The host, as https://api.example.com
        host: String,
    },
    /// Take back that a host gets a secret
    #[command(after_help = "Example:\n  toolroom secrets deny PETSTORE_KEY https://api.example.com")]
    Deny {
        /// The secret's name
        name: String,
        /// The host, as 'secrets list' shows it
        host: String,
    },
    /// Remove a secret
    #[command(after_help = "Example:\n  toolroom secrets remove WEATHER_KEY")]
    Remove {
        /// Its name
        name: String,
    },
}

impl Secrets {
    pub fn needs_home(&self) -> bool {
        !matches!(self.verb, Verb::Set { .. })
    }

    pub fn run(self, globals: &Globals) -> Result<ExitCode> {
        let file = SecretFile::new(globals.home()?.secrets());
        let failed = |error: std::io::Error| {
            let hint = "Nothing was changed; 'toolroom doctor' checks the secrets again.";
            Failure::new(format!("the secrets cannot be used: {error}"), hint)
        };
        match self.verb {
            Verb::Set { name } => {
                check(&name)?;
                let is_new = file.set(&name, &value()?).map_err(failed)?;
                terminal::remark(&format!("{} {name}", if is_new { "set" } else { "replaced" }));
            }
            Verb::List => {
                let names = file.names().map_err(failed)?;
                if globals.json {
                    terminal::say_json(&json!({ "secrets": names }))?;
                } else if names.is_empty() {
                    terminal::say("no secrets yet; set one: toolroom secrets set NAME")?;
                }
                for name in names.iter().filter(|_| !globals.json) {
                    let hosts = file.hosts(name).map_err(failed)?;
                    let hosts =
                        if hosts.is_empty() { String::new() } else { format!("  for {}", hosts.join(", ")) };
                    terminal::say(&format!("{name}{hosts}"))?;
                }
            }
            Verb::Allow { name, host } => {
                check(&name)?;
                let host = origin(&host)?;
                file.allow([(name.clone(), host.clone())]).map_err(failed)?;
                terminal::remark(&format!("{host} gets {name}"));
            }
            Verb::Deny { name, host } => {
                let host = origin(&host)?;
                if !file.deny(&name, &host).map_err(failed)? {
                    let hint = "'toolroom secrets list' shows who gets which secret.";
                    return Err(Failure::new(format!("{host} does not get {name}"), hint).into());
                }
                terminal::remark(&format!("{host} no longer gets {name}"));
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

fn origin(host: &str) -> Result<String> {
    let url = Url::parse(host).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let usage = || Failure::usage(format!("'{host}' is not a host"), "Write it as https://api.example.com.");
    Ok(url.ok_or_else(usage)?.origin().ascii_serialization())
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
