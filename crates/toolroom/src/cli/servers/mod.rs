//! `toolroom servers`: the MCP servers whose tools are part of the catalogue.

mod entry;
mod login;
mod review;
mod sheet;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};
use toolroom_contract::text::shell_word;

use super::suggest::{Named, or_meant};
use super::{Globals, candidates};
use crate::client::{Client, encoded};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::terminal::{self, Rows, Tint, cell, name_cell, plain, tinted};
use entry::Entry;
use review::Wanted;

/// List, show, add, remove and approve MCP servers, and log in to them
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom servers add files -- npx -y server-filesystem /srv/files
  toolroom servers add docs --url https://example.com/mcp
  toolroom servers list
  toolroom servers approve files")]
pub struct Servers {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the servers and how they are doing
    #[command(after_help = "Example:\n  toolroom servers list")]
    List,
    /// Show one server: its tools, what is pending review and why
    #[command(after_help = "Example:
  toolroom servers show files
  toolroom servers show files --start       start it for that")]
    Show {
        /// The server's name
        #[arg(add = candidates::servers())]
        name: String,
        /// Start the server and list its tools if it is not running yet
        #[arg(long)]
        start: bool,
    },
    /// Add a server: a program to start, or a URL
    #[command(after_help = entry::EXAMPLE)]
    Add(Entry),
    /// Remove a server and its tools
    #[command(after_help = "Example:\n  toolroom servers remove files")]
    Remove {
        /// The server's name
        #[arg(add = candidates::servers())]
        name: String,
    },
    /// Log in to a server that wants a token, in a browser on this machine
    #[command(after_help = "Example:\n  toolroom servers login docs")]
    Login {
        /// The server's name
        #[arg(add = candidates::servers())]
        name: String,
    },
    /// Log out: delete the token of a login
    #[command(after_help = "Example:\n  toolroom servers logout docs")]
    Logout {
        /// The server's name
        #[arg(add = candidates::servers())]
        name: String,
    },
    /// Show and approve tools that are new or have changed
    #[command(after_help = "Example:
  toolroom servers show files               what is pending
  toolroom servers approve files --tool read_file
  toolroom servers approve files            everything pending")]
    Approve {
        /// The server's name
        #[arg(add = candidates::servers())]
        name: String,
        /// Approve only this tool, by either of its names
        #[arg(long, value_name = "T")]
        tool: Option<String>,
        /// Approve only what has this hash, from 'servers show --json'
        #[arg(long, value_name = "H")]
        hash: Option<String>,
        /// Do not ask; exactly what is shown is approved. Needed where there is no terminal, unless --hash is given
        #[arg(long)]
        yes: bool,
    },
}

/// How long a server may take to list its tools when somebody looks.
const PATIENCE: u32 = 20;

impl Servers {
    pub fn needs_home(&self) -> bool {
        !matches!(self.verb, Verb::Add(_))
    }

    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let client = globals.client().await?;
        let name = self.verb.name().map(str::to_owned);
        let done = self.act(globals, &client).await;
        let done = match name {
            Some(name) => or_meant(&client, Named::Server, &name, done).await,
            None => done,
        };
        client.close().await;
        done.map(|()| ExitCode::SUCCESS)
    }

    async fn act(self, globals: &Globals, client: &Client) -> Result<()> {
        match self.verb {
            Verb::List => {
                let found = client.get("/api/v1/servers").await?;
                if globals.json { terminal::say_json(&found)? } else { table(&found)? }
            }
            Verb::Show { name, start } => {
                // Showing starts nothing unless asked to; a running Toolroom has started its servers already.
                let wait =
                    if start || client.is_served() { format!("?wait={PATIENCE}") } else { String::new() };
                let progress = Progress::start(&format!("asking {name} for its tools"));
                let server = client.get(&format!("{}{wait}", place(&name))).await?;
                drop(progress);
                if globals.json {
                    terminal::say_json(&server)?;
                } else {
                    terminal::say(&sheet::sheet(&server))?;
                }
            }
            Verb::Add(entry) => {
                let body = entry.body()?;
                let path = match entry.replace {
                    true => format!("{}?wait={PATIENCE}", place(&entry.name)),
                    false => format!("/api/v1/servers?wait={PATIENCE}"),
                };
                let method = if entry.replace { Method::PUT } else { Method::POST };
                let progress = Progress::start(&format!("starting {} and asking for its tools", entry.name));
                let stored = client.request(method, &path, Some(&body)).await?;
                drop(progress);
                let unusable = unusable(&stored);
                match (globals.json, &unusable) {
                    (true, _) => terminal::say_json(&stored)?,
                    (false, None) => added(&stored)?,
                    (false, Some(_)) => last_words(&stored).iter().for_each(|line| terminal::remark(line)),
                }
                if let Some(failure) = unusable {
                    return Err(failure.into());
                }
            }
            Verb::Remove { name } => {
                client.request(Method::DELETE, &place(&name), None).await?;
                if globals.json {
                    terminal::say_json(&json!({ "removed": name }))?;
                } else {
                    terminal::say(&format!("removed {name}"))?;
                }
            }
            Verb::Login { name } => login::log_in(client, &place(&name), &name, globals.json).await?,
            Verb::Logout { name } => {
                client.request(Method::DELETE, &format!("{}/login", place(&name)), None).await?;
                if globals.json {
                    terminal::say_json(&json!({ "loggedOut": name }))?;
                } else {
                    terminal::say(&format!("logged out of {name}"))?;
                }
            }
            Verb::Approve { name, tool, hash, yes } => {
                let wanted = Wanted { name: &name, tool: tool.as_deref(), hash: hash.as_deref(), yes };
                let done = review::approve(client, &place(&name), &wanted).await?;
                let done = done.unwrap_or_else(|| json!({ "approved": [] }));
                if globals.json { terminal::say_json(&done)? } else { approved(&name, &done)? }
            }
        }
        Ok(())
    }
}

impl Verb {
    /// The server that must be there.
    fn name(&self) -> Option<&str> {
        match self {
            Self::List | Self::Add(_) => None,
            Self::Show { name, .. }
            | Self::Remove { name }
            | Self::Login { name }
            | Self::Logout { name }
            | Self::Approve { name, .. } => Some(name),
        }
    }
}

fn place(name: &str) -> String {
    format!("/api/v1/servers/{}", encoded(name))
}

fn table(found: &Value) -> Result<()> {
    let mut rows = Rows::new(&["name", "state", "transport", "tools", "pending review", "reason"]);
    for server in found["servers"].as_array().into_iter().flatten() {
        rows.add([
            name_cell(plain(&server["name"])),
            tinted(plain(&server["state"]), tint(server)),
            cell(plain(&server["transport"])),
            cell(plain(&server["open"])),
            cell(if server["pendingReview"] == 0 { String::new() } else { plain(&server["pendingReview"]) }),
            cell(plain(&server["reason"])),
        ]);
    }
    Ok(rows.say("no servers yet: add one with 'toolroom servers add NAME -- COMMAND' or '--url URL'")?)
}

fn tint(server: &Value) -> Tint {
    match server["state"].as_str() {
        Some("ready") if server["reason"].is_null() => Tint::Good,
        Some("down") => Tint::Bad,
        Some("idle" | "disabled" | "stopped") => Tint::Quiet,
        _ => Tint::Warn,
    }
}

fn added(stored: &Value) -> Result<()> {
    let name = plain(&stored["name"]);
    let word = shell_word(&name);
    match (stored["state"].as_str(), stored["reason"].as_str()) {
        (_, Some(reason)) => {
            terminal::say(&format!("added {name}, which is {}: {reason}", plain(&stored["state"])))?;
        }
        (Some("ready"), None) => terminal::say(&format!("added {name}: {}", tools(&stored["open"])))?,
        (_, None) => {
            terminal::say(&format!("added {name}, which is still starting: toolroom servers show {word}"))?;
        }
    }
    if stored["pendingReview"] != 0 {
        terminal::say(&format!(
            "{} for review: toolroom servers approve {word}",
            wait(&stored["pendingReview"])
        ))?;
    }
    for tool in stored["tools"].as_array().into_iter().flatten().filter(|tool| tool["standing"] == "rejected")
    {
        terminal::say(&format!("not taken: {}: {}", plain(&tool["tool"]), plain(&tool["reason"])))?;
    }
    terminal::say(&format!("other callers need: {}", plain(&stored["permission"])))?;
    let first = stored["tools"].as_array().into_iter().flatten().find_map(|tool| tool["name"].as_str());
    if let Some(first) = first {
        terminal::say(&format!("see one: toolroom tools show {}", shell_word(first)))?;
    }
    Ok(())
}

/// Why a server that was added cannot be used as it is.
fn unusable(stored: &Value) -> Option<Failure> {
    let (name, reason) = (plain(&stored["name"]), stored["reason"].as_str()?);
    let word = shell_word(&name);
    (stored["state"] != "disabled").then(|| {
        Failure::new(
            format!("{name} was added to mcp.json, but cannot be used: {reason}"),
            format!(
                "Fix it: toolroom servers add {word} --replace …; or remove it: toolroom servers remove {word}"
            ),
        )
    })
}

/// The last lines that a program wrote to stderr, without terminal control characters.
fn last_words(stored: &Value) -> Vec<String> {
    let lines: Vec<&str> = stored["stderr"].as_str().unwrap_or_default().trim_end().lines().collect();
    lines[lines.len().saturating_sub(10)..].iter().map(|line| terminal::one_line(line)).collect()
}

fn tools(count: &Value) -> String {
    if *count == 1 { "1 tool".to_owned() } else { format!("{} tools", plain(count)) }
}

fn wait(count: &Value) -> String {
    format!("{} {}", tools(count), if *count == 1 { "waits" } else { "wait" })
}

fn approved(name: &str, done: &Value) -> Result<()> {
    let tools = plain(&done["approved"]);
    match (tools.is_empty(), done.get("server").is_some()) {
        (false, _) => terminal::say(&format!("approved {tools}"))?,
        // It has no tools, but resources or prompts.
        (true, true) => terminal::say(&format!("approved {name}"))?,
        (true, false) => terminal::say(&format!("nothing was approved for {name}"))?,
    }
    Ok(())
}
