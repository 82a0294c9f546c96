//! `toolroom approvals`: what waits for a person, and their decisions.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};

use super::Globals;
use crate::client::{Client, encoded};
use crate::failure::Failure;
use crate::terminal::{self, Rows, Tint, cell, name_cell, plain, tinted};

/// List and decide requests that wait for a person
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom approvals list
  toolroom approvals approve 4c1f09d2")]
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
    #[command(after_help = "Example:
  toolroom approvals approve 4c1f09d2
  toolroom approvals approve 4c1f09d2 --for 2h")]
    Approve {
        /// The request's id, as 'approvals list' shows it
        #[arg(add = super::candidates::requests())]
        id: String,
        /// Let this tool run for this key without asking, for so long: 30m, 2h, at most 8h
        #[arg(long = "for", value_name = "TIME")]
        standing: Option<jiff::SignedDuration>,
    },
    /// Refuse the call
    #[command(
        after_help = "Example:\n  toolroom approvals deny 4c1f09d2 --reason 'The report is still needed.'"
    )]
    Deny {
        /// The request's id, as 'approvals list' shows it
        #[arg(add = super::candidates::requests())]
        id: String,
        /// Why; the agent is told
        #[arg(long)]
        reason: Option<String>,
    },
    /// Answer a question
    #[command(after_help = "Example:\n  toolroom approvals answer 4c1f09d2 'the blue one'")]
    Answer {
        /// The request's id, as 'approvals list' shows it
        #[arg(add = super::candidates::requests())]
        id: String,
        /// The answer
        text: String,
    },
    /// List the approvals that stand for a while, or revoke one
    #[command(after_help = "Example:
  toolroom approvals standing
  toolroom approvals standing revoke 4c1f09d2")]
    Standing {
        #[command(subcommand)]
        verb: Option<StandingVerb>,
    },
}

#[derive(Debug, Subcommand)]
enum StandingVerb {
    /// End a standing approval: the next call asks again
    #[command(after_help = "Example:\n  toolroom approvals standing revoke 4c1f09d2")]
    Revoke {
        /// Its id, as 'approvals standing' shows it
        #[arg(add = super::candidates::standing())]
        id: String,
    },
}

impl Approvals {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let client = globals.client().await?;
        let (id, verdict) = match self.verb {
            Verb::List { all } => {
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
            Verb::Standing { verb } => return standing(globals, &client, verb).await,
            Verb::Approve { id, standing: None } => (id, json!({ "decision": "approve" })),
            Verb::Approve { id, standing: Some(time) } => {
                (id, json!({ "decision": "approve", "for_seconds": time.as_secs().max(0) }))
            }
            Verb::Deny { id, reason: None } => (id, json!({ "decision": "deny" })),
            Verb::Deny { id, reason } => (id, json!({ "decision": "deny", "reason": reason })),
            Verb::Answer { id, text } => (id, json!({ "answer": text })),
        };
        let id = whole_id(id, || all_open(&client)).await?;
        let path = format!("/api/v1/approvals/{}", encoded(&id));
        let request = client.request(Method::POST, &path, Some(&verdict)).await?;
        if globals.json {
            terminal::say_json(&request)?;
        } else {
            let (state, tool) = (plain(&request["state"]), plain(&request["tool"]));
            terminal::say(&format!("{state} {tool}: {id}"))?;
            if !verdict["for_seconds"].is_null() {
                let short = short(&request["id"]);
                terminal::remark(&format!(
                    "{tool} is not asked about for this key until then. End that with: toolroom approvals standing revoke {short}"
                ));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn standing(globals: &Globals, client: &Client, verb: Option<StandingVerb>) -> Result<ExitCode> {
    let listed = || client.get("/api/v1/approvals/standing");
    if let Some(StandingVerb::Revoke { id }) = verb {
        let id = whole_id(id, async || Ok(rows_of(listed().await?["standing"].take()))).await?;
        client.request(Method::DELETE, &format!("/api/v1/approvals/standing/{}", encoded(&id)), None).await?;
        if globals.json {
            terminal::say_json(&json!({ "revoked": id }))?;
        } else {
            terminal::remark(&format!("revoked: {id}"));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let found = listed().await?;
    if globals.json {
        terminal::say_json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = Rows::new(&["id", "tool", "for", "given by", "let through", "last", "ends in"]);
    for one in found["standing"].as_array().into_iter().flatten() {
        let last = &one["uses"][0];
        rows.add([
            cell(short(&one["id"])),
            name_cell(plain(&one["tool"])),
            cell(whose(one)),
            cell(plain(&one["by"])),
            cell(plain(&one["used"])),
            cell(plain(&last["target"])),
            match one["changed"] == true {
                true => tinted("ended: the tool was changed", Tint::Warn),
                false => cell(time_left(&one["expires_at"])),
            },
        ]);
    }
    rows.say("no approval stands")?;
    Ok(ExitCode::SUCCESS)
}

/// Ids begin with the time at which they were made: it is their ends that differ.
fn short(id: &Value) -> String {
    let id = plain(id);
    let at = id.char_indices().rev().nth(SHORT - 1).map_or(0, |(at, _)| at);
    id[at..].to_owned()
}

/// How many characters of an id are shown.
const SHORT: usize = 8;

/// The id of the listed one that is meant; what fits none of them is left to the server to refuse.
async fn whole_id(given: String, listed: impl AsyncFnOnce() -> Result<Vec<Value>>) -> Result<String> {
    if given.len() < 4 || given.len() >= 36 {
        return Ok(given);
    }
    let found = listed().await?;
    let ids: Vec<&str> = found.iter().filter_map(|one| one["id"].as_str()).collect();
    let meant: Vec<&&str> = ids.iter().filter(|id| id.ends_with(&given) || id.starts_with(&given)).collect();
    match meant[..] {
        [one] => Ok((*one).to_owned()),
        [] => Ok(given),
        _ => {
            let message = format!("'{given}' is part of several ids");
            Err(Failure::usage(message, "Give more of the one you mean; --json shows them whole.").into())
        }
    }
}

/// Who asks, by which key and through which agent.
fn whose(one: &Value) -> String {
    let key = one["key"].as_str().filter(|key| !key.is_empty()).map(|key| format!(" ({key}…)"));
    let agent = one["agentId"].as_str().map(|agent| format!(" through {agent}"));
    format!("{}{}{}", plain(&one["user"]), key.unwrap_or_default(), agent.unwrap_or_default())
}

fn rows_of(found: Value) -> Vec<Value> {
    match found {
        Value::Array(rows) => rows,
        _ => Vec::new(),
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
    let mut rows = Rows::new(&["id", "kind", "state", "tool", "for", "target", "asks", "time left"]);
    for request in found["approvals"].as_array().into_iter().flatten() {
        let open = request["state"] == "open";
        let about = match request["target"].as_str() {
            Some(target) => target.to_owned(),
            None => request["arguments"].to_string(),
        };
        rows.add([
            cell(short(&request["id"])),
            cell(plain(&request["kind"])),
            cell(plain(&request["state"])),
            name_cell(plain(&request["tool"])),
            cell(whose(request)),
            cell(about),
            cell(plain(&request["prompt"]["message"])),
            cell(if open { time_left(&request["expires_at"]) } else { String::new() }),
        ]);
    }
    Ok(rows.say("nothing is waiting for a person")?)
}

/// How long it is until a time of the API.
pub(super) fn time_left(value: &Value) -> String {
    let parsed = value.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let Some(at) = parsed else { return plain(value) };
    let seconds = at.duration_since(jiff::Timestamp::now()).as_secs().max(0);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, _) => format!("{minutes} min"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}
