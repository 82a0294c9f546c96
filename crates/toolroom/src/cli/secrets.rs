//! `toolroom secrets`: values that scripts get in their environment and that nothing shows.

use std::io::{IsTerminal, Read};
use std::process::{Command, ExitCode, Stdio};

use anyhow::Result;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};
use toolroom_outgoing::Url;
use toolroom_runtime::secret_file::{LONGEST_SECRET, SecretFile, is_secret_name};

use super::Globals;
use crate::client::{self, Client};
use crate::config::Config;
use crate::failure::Failure;
use crate::terminal;

/// Set, list and remove secrets of scripts and imported APIs
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom secrets set WEATHER_KEY < key.txt
  toolroom secrets list

An entry of tools.json names one in its environment: \"env\": {\"API_KEY\": \"secret:WEATHER_KEY\"}.
Values are sealed in secrets.json of the home with the key in secrets.key beside it, or in TOOLROOM_SEAL_KEY.
Servers that share a database have the same secrets, and need the same key: a change is in force at all of them
when the command ends.")]
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

    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let place = Place::find(globals).await?;
        let done = self.run_at(&place, globals.json).await;
        place.close().await;
        done.map(|()| ExitCode::SUCCESS)
    }

    async fn run_at(self, place: &Place, json: bool) -> Result<()> {
        match self.verb {
            Verb::Set { name } => {
                check(&name)?;
                let is_new = place.change(&name, Change::Set(value()?)).await?;
                let did = if is_new { "set" } else { "replaced" };
                told(json, json!({ "secret": name, "did": did }), &format!("{did} {name}"))?;
            }
            Verb::List => list(&place.file, json)?,
            Verb::Allow { name, host } => {
                check(&name)?;
                let host = origin(&host)?;
                place.change(&name, Change::Allow(host.clone())).await?;
                told(json, json!({ "secret": name, "allowed": host }), &format!("{host} gets {name}"))?;
            }
            Verb::Deny { name, host } => {
                let host = origin(&host)?;
                if !place.change(&name, Change::Deny(host.clone())).await? {
                    let hint = "'toolroom secrets list' shows who gets which secret.";
                    return Err(Failure::new(format!("{host} does not get {name}"), hint).into());
                }
                let text = format!("{host} no longer gets {name}");
                told(json, json!({ "secret": name, "denied": host }), &text)?;
            }
            Verb::Remove { name } => {
                if !place.change(&name, Change::Remove).await? {
                    let hint = "'toolroom secrets list' shows those that there are.";
                    return Err(Failure::new(format!("no secret is named '{name}'"), hint).into());
                }
                let text = format!("removed {name}; tools that name it are refused until it is set again");
                told(json, json!({ "secret": name, "did": "removed" }), &text)?;
            }
        }
        Ok(())
    }
}

/// What becomes of a secret.
enum Change {
    Set(String),
    Allow(String),
    Deny(String),
    Remove,
}

/// Where the secrets are: in the file of the home, or where servers share them, which the API knows.
struct Place {
    file: SecretFile,
    client: Option<Client>,
}

impl Place {
    async fn find(globals: &Globals) -> Result<Self> {
        let home = globals.home()?;
        let file = SecretFile::new(home.secrets());
        // One process alone works on SQLite.
        let may_share = client::answers(&home).await?
            || Config::load(&home, &globals.overrides())?.database.sqlite_path().is_none();
        let client = if may_share { Some(globals.client().await?) } else { None };
        Ok(Self { file, client })
    }

    async fn close(self) {
        if let Some(client) = self.client {
            client.close().await;
        }
    }

    async fn change(&self, name: &str, change: Change) -> Result<bool> {
        let Some(client) = &self.client else {
            let done = self.file.change(|book| match change {
                Change::Set(value) => book.set(name, &value),
                Change::Allow(host) => {
                    book.allow([(name.to_owned(), host)]);
                    Ok(true)
                }
                Change::Deny(host) => Ok(book.deny(name, &host)),
                Change::Remove => Ok(book.remove(name)),
            });
            return Ok(done.map_err(failed)?);
        };
        let path = format!("/api/v1/secrets/{}", client::encoded(name));
        let (method, body) = match change {
            Change::Set(value) => (Method::PUT, Some(json!({ "value": value }))),
            Change::Allow(host) => (Method::PUT, Some(json!({ "allow": host }))),
            Change::Deny(host) => (Method::PUT, Some(json!({ "deny": host }))),
            Change::Remove => (Method::DELETE, None),
        };
        Ok(client.request(method, &path, body.as_ref()).await?["changed"] == true)
    }
}

fn failed(error: std::io::Error) -> Failure {
    let hint = "Nothing was changed; 'toolroom doctor' checks the secrets again.";
    Failure::new(format!("the secrets cannot be used: {error}"), hint)
}

fn list(file: &SecretFile, json: bool) -> Result<()> {
    let names = file.names().map_err(failed)?;
    if json {
        terminal::say_json(&json!({ "secrets": names }))?;
    } else if names.is_empty() {
        terminal::say("no secrets yet; set one: toolroom secrets set NAME")?;
    }
    for name in names.iter().filter(|_| !json) {
        let hosts = file.hosts(name).map_err(failed)?;
        let hosts = if hosts.is_empty() { String::new() } else { format!("  for {}", hosts.join(", ")) };
        terminal::say(&format!("{name}{hosts}"))?;
    }
    Ok(())
}

/// Says what was done.
fn told(json: bool, done: Value, text: &str) -> Result<()> {
    if json {
        terminal::say_json(&done)?;
    } else {
        terminal::remark(text);
    }
    Ok(())
}

fn origin(host: &str) -> Result<String> {
    let url = Url::parse(host).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let usage = || Failure::usage(format!("'{host}' is not a host"), "Write it as https://api.example.com.");
    Ok(url.ok_or_else(usage)?.origin().ascii_serialization())
}

fn check(name: &str) -> Result<()> {
    if !is_secret_name(name) {
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
