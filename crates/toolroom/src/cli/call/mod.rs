//! `toolroom call`: one call of a tool, as the owner of the home or for a user.

mod attachments;
mod params;
mod show;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use http::{Method, StatusCode};
use serde_json::Value;
use tokio::time::sleep;
use toolroom_profiles::DEFAULT;

use super::approvals::all_open;
use super::suggest::{self, Named, closest};
use super::{Globals, candidates};
use crate::client::{Answer, encoded};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::terminal::{self, Tint};

/// Call a tool
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom call search-tools --param query='service status' --param limit=3
  toolroom call get-status --json
  echo '{\"name\": \"get-status\"}' | toolroom call describe-tool --params -

Data goes to stdout, everything else to stderr. Exit code 1 if the call failed or is waiting for a person.
With --json the whole answer goes to stdout, also that of a call that failed: its 'error' says why. Only what keeps
the call from being made is an error on stderr.")]
pub struct Call {
    /// The tool's name
    #[arg(add = candidates::tools())]
    tool: String,
    /// The parameters as a JSON object; @FILE reads a file, - reads stdin
    #[arg(long, value_name = "JSON", conflicts_with = "param")]
    params: Option<String>,
    /// One parameter; the tool's schema says whether the value is text, a number or a boolean
    #[arg(long, value_name = "K=V")]
    param: Vec<String>,
    /// Use this profile
    #[arg(long, value_name = "NAME", default_value = DEFAULT, add = candidates::profiles())]
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
    /// Write the images, recordings and files of the answer into this folder [default: a new one for temporary files]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Between two checks whether a person has decided.
const LOOK: Duration = Duration::from_millis(500);
/// The longest wait for a person.
const LONGEST_WAIT: f64 = 86_400.0;

impl Call {
    pub async fn run(mut self, globals: &Globals) -> Result<ExitCode> {
        let params = self.parameters(globals).await?;
        if !self.wait.is_finite() || self.wait < 0.0 {
            return Err(
                Failure::usage("--wait takes seconds, such as 30", "toolroom call TOOL --wait 30").into()
            );
        }
        let until = Instant::now() + Duration::from_secs_f64(self.wait.min(LONGEST_WAIT));
        loop {
            let mut answer = self.send(globals, &params).await?;
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
                    let written = match &self.out {
                        Some(folder) => attachments::write(&answer.json, folder)?,
                        None if !globals.json => attachments::keep(&answer.json)?,
                        None => Vec::new(),
                    };
                    if globals.json && !written.is_empty() {
                        answer.json["written"] = written.into();
                    }
                    let meant = self.meant(globals, &answer, &params).await;
                    if !globals.json {
                        self.explain(globals, &answer.json).await;
                    }
                    let ended = show::show(answer, &self.tool, globals.json);
                    if let Some(meant) = meant {
                        terminal::complain(Tint::Quiet, "hint", &format!("Did you mean '{meant}'?"));
                    }
                    return ended;
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

    /// The tool or parameter that was probably meant, if there is none of this name.
    async fn meant(&self, globals: &Globals, answer: &Answer, params: &Value) -> Option<String> {
        match answer.json["error"]["code"].as_str() {
            _ if globals.json => None,
            Some("tool_not_found") => {
                suggest::meant(&globals.client().await.ok()?, Named::Tool, &self.tool).await
            }
            Some("invalid_input") => self.meant_parameter(globals, params).await,
            _ => None,
        }
    }

    /// What exists instead of what was asked for.
    async fn not_in_profile(&self, globals: &Globals) -> Result<Failure> {
        let found = globals.client().await?.get("/api/v1/profiles").await?;
        let profiles = found["profiles"].as_array().cloned().unwrap_or_default();
        let names: Vec<String> = profiles.iter().map(|one| terminal::plain(&one["name"])).collect();
        Ok(match profiles.iter().find(|one| one["name"] == *self.profile) {
            None => Failure::new(
                format!("not_found: unknown profile '{}'", self.profile),
                match closest(&self.profile, names.iter().map(String::as_str)) {
                    Some(meant) => format!("Did you mean '{meant}'? Profiles: {}.", names.join(", ")),
                    None => format!("Profiles: {}.", names.join(", ")),
                },
            )
            .coded("not_found"),
            Some(profile) => Failure::new(
                format!("tool_not_found: profile '{}' has no tool '{}'", self.profile, self.tool),
                format!(
                    "{}It has: {}.",
                    suggest::among(&self.tool, &profile["tools"]),
                    terminal::plain(&profile["tools"])
                ),
            )
            .coded("tool_not_found"),
        })
    }

    /// The client lives for one request, so that a person can decide in between.
    async fn send(&self, globals: &Globals, params: &Value) -> Result<Answer> {
        let client = globals.client().await?.acting_as(self.user.clone())?;
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
        let _progress = Progress::start(&format!("calling {}", self.tool));
        let mut answer = client.send(Method::POST, &path, Some(&body), &headers).await?;
        // It may be a tool of a server that was never met.
        if answer.status == StatusCode::NOT_FOUND && client.meet_servers().await {
            answer = client.send(Method::POST, &path, Some(&body), &headers).await?;
        }
        client.close().await;
        Ok(answer)
    }
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
