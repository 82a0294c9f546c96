//! `toolroom call`: one call of a tool, as the owner of the home or for a user.

mod attachments;
mod show;

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use http::{Method, StatusCode};
use serde_json::{Map, Value};
use tokio::time::sleep;
use toolroom_contract::exact;
use toolroom_profiles::DEFAULT;

use super::Globals;
use super::approvals::all_open;
use crate::client::{Answer, encoded};
use crate::failure::Failure;
use crate::terminal;

/// Call a tool
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom call search-tools --param query='service status' --param limit=3
  toolroom call get-status --json
  echo '{\"name\": \"get-status\"}' | toolroom call describe-tool --params -

Data goes to stdout, everything else to stderr. Exit code 1 if the call failed or is waiting for a person.")]
pub struct Call {
    /// The tool's name
    tool: String,
    /// The parameters as a JSON object; @FILE reads a file, - reads stdin
    #[arg(long, value_name = "JSON", conflicts_with = "param")]
    params: Option<String>,
    /// One parameter; the value is JSON if it parses as such, else text
    #[arg(long, value_name = "K=V")]
    param: Vec<String>,
    /// Use this profile
    #[arg(long, value_name = "NAME", default_value = DEFAULT)]
    profile: String,
    /// Act as this user instead of 'local'
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Check everything and say what would happen, but change nothing
    #[arg(long)]
    dry_run: bool,
    /// Repeating a call with the same key gives the same answer and does nothing twice
    #[arg(long, value_name = "K")]
    idempotency_key: Option<String>,
    /// The id of the approval for this call
    #[arg(long, value_name = "ID")]
    approval: Option<String>,
    /// Wait up to this many seconds if a person must decide
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    wait: f64,
    /// Write the images, recordings and files of the answer into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Between two checks whether a person has decided.
const LOOK: Duration = Duration::from_millis(500);
/// The longest wait for a person.
const LONGEST_WAIT: f64 = 86_400.0;

impl Call {
    pub async fn run(mut self, globals: &Globals) -> Result<ExitCode> {
        let params = self.parameters()?;
        if !self.wait.is_finite() || self.wait < 0.0 {
            return Err(
                Failure::usage("--wait takes seconds, such as 30", "toolroom call TOOL --wait 30").into()
            );
        }
        let until = Instant::now() + Duration::from_secs_f64(self.wait.min(LONGEST_WAIT));
        loop {
            let answer = self.send(globals, &params).await?;
            match show::pending_id(&answer.json) {
                Some(id) if Instant::now() < until => {
                    terminal::remark(&format!("waiting for a person: toolroom approvals approve {id}"));
                    wait_for_decision(globals, &id, until).await?;
                    self.approval = Some(id);
                }
                _ if answer.status == StatusCode::NOT_FOUND && self.profile != DEFAULT => {
                    return Err(self.not_in_profile(globals).await?.into());
                }
                _ => {
                    if let Some(folder) = &self.out {
                        attachments::write(&answer.json, folder)?;
                    }
                    if !globals.json {
                        self.explain(globals, &answer.json).await;
                    }
                    return show::show(answer, globals.json);
                }
            }
        }
    }

    /// Why a script failed, from the log of the home: its owner is told at once.
    async fn explain(&self, globals: &Globals, answer: &Value) {
        let failed =
            matches!(answer["error"]["code"].as_str(), Some("tool_execution_error" | "invalid_output"));
        let Some(id) = answer["metadata"]["executionId"].as_str().filter(|_| failed) else { return };
        let Ok(client) = globals.client().await else { return };
        if let Ok(found) = client.get(&format!("/api/v1/executions/{id}")).await
            && let Some(detail) = found["detail"].as_str()
        {
            terminal::remark(detail);
        }
        client.close().await;
    }

    /// What exists instead of what was asked for.
    async fn not_in_profile(&self, globals: &Globals) -> Result<Failure> {
        let found = globals.client().await?.get("/api/v1/profiles").await?;
        let profiles = found["profiles"].as_array().cloned().unwrap_or_default();
        let names: Vec<String> = profiles.iter().map(|one| terminal::plain(&one["name"])).collect();
        Ok(match profiles.iter().find(|one| one["name"] == *self.profile) {
            None => Failure::new(
                format!("not_found: unknown profile '{}'", self.profile),
                format!("Profiles: {}.", names.join(", ")),
            ),
            Some(profile) => Failure::new(
                format!("tool_not_found: profile '{}' has no tool '{}'", self.profile, self.tool),
                format!("It has: {}.", terminal::plain(&profile["tools"])),
            ),
        })
    }

    /// The client lives for one request, so that a person can decide in between.
    async fn send(&self, globals: &Globals, params: &Value) -> Result<Answer> {
        let client = globals.client().await?.acting_as(self.user.clone());
        let mut headers = Vec::new();
        headers.extend(self.dry_run.then(|| ("x-dry-run", "true".to_owned())));
        headers.extend(self.idempotency_key.clone().map(|key| ("idempotency-key", key)));
        headers.extend(self.approval.clone().map(|id| ("x-approval-id", id)));
        let tool = encoded(&self.tool);
        let (path, body) = if self.profile == DEFAULT {
            (format!("/api/v1/tools/{tool}/call"), serde_json::json!({ "params": params }))
        } else {
            let profile = encoded(&self.profile);
            (format!("/api/v1/profiles/{profile}/functions/{tool}"), params.clone())
        };
        let mut answer = client.send(Method::POST, &path, Some(&body), &headers).await?;
        // It may be a tool of a server that was never met.
        if answer.status == StatusCode::NOT_FOUND && client.meet_servers().await {
            answer = client.send(Method::POST, &path, Some(&body), &headers).await?;
        }
        client.close().await;
        Ok(answer)
    }

    fn parameters(&self) -> Result<Value> {
        let Some(given) = &self.params else {
            let pairs: Result<Map<String, Value>> = self.param.iter().map(|pair| parameter(pair)).collect();
            return Ok(Value::Object(pairs?));
        };
        let unreadable = |what: &str, error: &dyn std::fmt::Display| {
            Failure::usage(
                format!("--params: {what}: {error}"),
                "Give an object: --params '{\"key\": \"value\"}', --params @FILE, or --params - for stdin.",
            )
        };
        let text = if given == "-" {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(|error| unreadable("stdin", &error))?;
            text
        } else if let Some(path) = given.strip_prefix('@') {
            std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?
        } else {
            given.clone()
        };
        if let Some(number) = exact::oversized_integer(&text) {
            return Err(unreadable("the integer would lose digits; write it as a string", &number).into());
        }
        Ok(serde_json::from_str(&text).map_err(|error| unreadable("not JSON", &error))?)
    }
}

fn parameter(pair: &str) -> Result<(String, Value)> {
    let (name, text) = pair.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
        Failure::usage(
            format!("--param '{pair}' has no '='"),
            "Write --param NAME=VALUE, such as --param limit=3.",
        )
    })?;
    if let Some(number) =
        exact::oversized_integer(text).filter(|_| serde_json::from_str::<Value>(text).is_ok())
    {
        return Err(Failure::usage(
            format!("--param {name}: the integer {number} does not fit into 64 bits and would lose digits"),
            "Write it as a string: --param 'NAME=\"VALUE\"'.",
        )
        .into());
    }
    let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    Ok((name.to_owned(), value))
}

async fn wait_for_decision(globals: &Globals, id: &str, until: Instant) -> Result<()> {
    while Instant::now() < until {
        let client = globals.client().await?;
        let open = all_open(&client).await?;
        client.close().await;
        if !open.iter().any(|request| request["id"] == id) {
            return Ok(());
        }
        sleep(LOOK.min(until.saturating_duration_since(Instant::now()))).await;
    }
    Ok(())
}
