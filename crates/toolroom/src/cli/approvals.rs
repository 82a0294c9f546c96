//! `toolroom approvals`: what waits for a person, and their decisions.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};

use super::Globals;
use crate::client::{Client, encoded};
use crate::terminal::{self, Rows, cell, name_cell, plain};

/// List and decide requests that wait for a person
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom approvals list
  toolroom approvals approve 0199c3a2-…")]
pub struct Approvals {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List open requests
    #[command(after_help = "Example:\n  toolroom approvals list --all")]
    List {
        /// Include decided ones
        #[arg(long)]
        all: bool,
    },
    /// Approve the call; the caller then makes it again
    #[command(after_help = "Example:\n  toolroom approvals approve 0199c3a2-…")]
    Approve {
        /// The request's id
        id: String,
    },
    /// Refuse the call
    #[command(after_help = "Example:\n  toolroom approvals deny 0199c3a2-…")]
    Deny {
        /// The request's id
        id: String,
    },
    /// Answer a question
    #[command(after_help = "Example:\n  toolroom approvals answer 0199c3a2-… 'the blue one'")]
    Answer {
        /// The request's id
        id: String,
        /// The answer
        text: String,
    },
}

impl Approvals {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let (id, verdict) = match self.verb {
            Verb::List { all } => {
                let client = globals.client().await?;
                let found = match all {
                    true => client.get("/api/v1/approvals?all=true&limit=1000").await?,
                    false => json!({ "approvals": all_open(&client).await? }),
                };
                if globals.json {
                    terminal::say_json(&found)?
                } else {
                    table(&found)?
                }
                return Ok(ExitCode::SUCCESS);
            }
            Verb::Approve { id } => (id, json!({ "decision": "approve" })),
            Verb::Deny { id } => (id, json!({ "decision": "deny" })),
            Verb::Answer { id, text } => (id, json!({ "answer": text })),
        };
        let client = globals.client().await?;
        let path = format!("/api/v1/approvals/{}", encoded(&id));
        let request = client.request(Method::POST, &path, Some(&verdict)).await?;
        if globals.json {
            terminal::say_json(&request)?;
        } else {
            terminal::say(&format!("{} {}: {}", plain(&request["state"]), plain(&request["tool"]), id))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// All open requests, page by page.
pub(super) async fn all_open(client: &Client) -> Result<Vec<Value>> {
    let (mut found, mut path) = (Vec::new(), "/api/v1/approvals?limit=1000".to_owned());
    loop {
        let mut page = client.get(&path).await?;
        if let Value::Array(some) = page["approvals"].take() {
            found.extend(some);
        }
        match page["nextCursor"].as_str() {
            Some(cursor) => path = format!("/api/v1/approvals?limit=1000&cursor={}", encoded(cursor)),
            None => return Ok(found),
        }
    }
}

fn table(found: &Value) -> Result<()> {
    let mut rows = Rows::new(&["id", "kind", "state", "tool", "arguments", "asks", "until"]);
    for request in found["approvals"].as_array().into_iter().flatten() {
        rows.add([
            cell(plain(&request["id"])),
            cell(plain(&request["kind"])),
            cell(plain(&request["state"])),
            name_cell(plain(&request["tool"])),
            cell(request["arguments"].to_string()),
            cell(plain(&request["prompt"]["message"])),
            cell(terminal::moment(&request["expires_at"])),
        ]);
    }
    Ok(rows.say("nothing is waiting for a person")?)
}
