//! `toolroom replay`: recorded calls, made again to see what answers differently.

mod recorded;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use http::Method;
use serde_json::{Value, json};
use toolroom_contract::text::shell_word;
use toolroom_server::auth::USER_HEADER;

use super::Globals;
use super::scratch::Scratch;
use super::suggest::{Named, meant};
use super::tools::file;
use crate::client::{Client, encoded};
use crate::failure::{Exit, Failure};
use crate::terminal::{self, Rows, cell, plain, tinted};
use recorded::Recorded;
use verdict::Verdict;

/// Make recorded calls again, and show what answers differently, is now refused, or is slower
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom replay get-weather --since 7d              against the tool as it is
  toolroom replay get-weather --draft get_weather.py  against a file

Queries are made for real; changes are dry runs, which check the parameters and change nothing. Calls with secrets
in them are skipped: the log does not have those. Exit code 1 if a call answers differently or is now refused.")]
pub struct Replay {
    /// The tool's name
    #[arg(add = super::candidates::tools())]
    name: String,
    /// Only calls since then: 10m, 2h, 3d, 2026-01-31, or 2026-01-31T12:00:00Z
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// Make them with the tool of this file, in a scratch home
    #[arg(long, value_name = "FILE")]
    draft: Option<PathBuf>,
    /// At most this many, the newest
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

impl Replay {
    /// All recorded calls of a tool, against the tool as it is.
    pub fn of(name: &str) -> Self {
        Self { name: name.to_owned(), since: None, draft: None, limit: 50 }
    }

    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let client = globals.client().await?;
        let report = self.report(globals, &client).await?;
        client.close().await;
        if globals.json {
            terminal::say_json(&report.json(&self.name))?;
        } else {
            report.show(&self.name)?;
        }
        Ok(if report.is_same() { ExitCode::SUCCESS } else { Exit::Failed.code() })
    }

    /// Makes the calls again.
    pub async fn report(&self, globals: &Globals, client: &Client) -> Result<Report> {
        let shown =
            client.send(Method::GET, &format!("/api/v1/tools/{}", encoded(&self.name)), None, &[]).await?;
        let present = shown.status.is_success().then_some(shown.json);
        let (recorded, skipped) =
            recorded::calls(client, &self.name, self.since.as_deref(), self.limit).await?;
        let scratch = match &self.draft {
            Some(draft) => Some(self.drafted(globals, draft).await?),
            None => None,
        };
        let definition = match &scratch {
            Some((_, definition)) => definition.clone(),
            None => match present.clone() {
                Some(present) => present,
                None => return Err(self.unknown(client).await),
            },
        };
        // Made for real only if neither the tool nor its draft changes anything.
        let reads = std::iter::once(&definition).chain(&present).all(|one| one["category"] != "mutation");
        let on = scratch.as_ref().map_or(client, |(scratch, _)| &scratch.client);
        let mut verdicts = Vec::new();
        for one in recorded {
            let answer = self.again(on, &one, reads, scratch.is_some()).await?;
            verdicts.push(verdict::of(one, &answer, reads));
        }
        if let Some((scratch, _)) = scratch {
            scratch.client.close().await;
        }
        Ok(Report { verdicts, skipped, reads })
    }

    /// What to say of a name that no tool has; it may be the id of a call.
    async fn unknown(&self, client: &Client) -> anyhow::Error {
        let failure = Failure::new(
            format!("unknown tool '{}'", self.name),
            "'toolroom tools list' shows the tools; --draft FILE names a new one.",
        );
        let call = client.get(&format!("/api/v1/executions/{}", encoded(&self.name))).await;
        let tool = call.ok().and_then(|call| call["tool"].as_str().map(str::to_owned));
        let hint = match tool {
            Some(tool) => Some(format!("That is a call of '{tool}': toolroom replay {}", shell_word(&tool))),
            None => {
                meant(client, Named::Tool, &self.name).await.map(|meant| format!("Did you mean '{meant}'?"))
            }
        };
        let failure = hint.map(|hint| failure.hinting(hint)).unwrap_or(failure);
        failure.coded("tool_not_found").into()
    }

    async fn drafted(&self, globals: &Globals, draft: &Path) -> Result<(Scratch, Value)> {
        let scratch = Scratch::open(globals).await?;
        let given = file::read(&scratch.client, draft).await?;
        let Some(definition) = given.definitions().find(|tool| tool.name == self.name) else {
            let names: Vec<&str> = given.definitions().map(|tool| tool.name.as_str()).collect();
            let message = format!("{} has no tool named '{}'", draft.display(), self.name);
            return Err(Failure::new(message, format!("It has: {}.", names.join(", "))).into());
        };
        let definition = serde_json::to_value(definition)?;
        scratch.register(&given).await?;
        Ok((scratch, definition))
    }

    async fn again(&self, client: &Client, call: &Recorded, reads: bool, is_draft: bool) -> Result<Value> {
        let body = json!({ "params": call.input, "context": { "dryRun": !reads } });
        let mut headers = vec![("x-agent-id", recorded::AGENT.to_owned())];
        // Answers may depend on whose call it is.
        headers.extend((!is_draft).then(|| (USER_HEADER, call.user.clone())));
        let path = format!("/api/v1/tools/{}/call", encoded(&self.name));
        Ok(client.send(Method::POST, &path, Some(&body), &headers).await?.json)
    }
}

/// What a replay found.
pub struct Report {
    verdicts: Vec<Verdict>,
    /// Calls whose parameters the log does not have whole.
    skipped: usize,
    /// Whether they were made for real.
    reads: bool,
}

impl Report {
    /// Whether every call answers as before.
    pub fn is_same(&self) -> bool {
        self.verdicts.iter().all(|verdict| !verdict.outcome.is_worse())
    }

    fn json(&self, name: &str) -> Value {
        let calls: Vec<Value> = self.verdicts.iter().map(Verdict::json).collect();
        json!({ "tool": name, "same": self.is_same(), "dryRun": !self.reads, "skipped": self.skipped, "calls": calls })
    }

    pub fn show(&self, name: &str) -> Result<()> {
        let mut rows = Rows::new(&["call", "", "parameters", "ms before", "ms now", "what is different"]);
        let notable = |verdict: &&Verdict| !verdict.differences.is_empty();
        for verdict in self.verdicts.iter().filter(notable) {
            let input: String = verdict.call.input.to_string().chars().take(60).collect();
            let ms = |ms: Option<f64>| cell(ms.map(|ms| format!("{ms:.1}")).unwrap_or_default());
            rows.add([
                cell(terminal::moment(&verdict.call.started_at)),
                tinted(verdict.outcome.word(), verdict.outcome.tint()),
                cell(input),
                ms(verdict.call.ms),
                ms(verdict.ms),
                cell(&verdict.differences[0]),
            ]);
            for more in verdict.differences.iter().skip(1) {
                rows.add([cell(""), cell(""), cell(""), cell(""), cell(""), cell(more)]);
            }
        }
        let all = self.verdicts.len();
        let how = if self.reads { "made again" } else { "tried as dry runs" };
        rows.say(&format!("{all} calls of {name} {how}: no difference"))?;
        if self.verdicts.iter().any(|verdict| notable(&verdict)) {
            let counts = verdict::counts(&self.verdicts);
            terminal::say(&format!("{all} calls of {name} {how}: {}", counts.join(", ")))?;
        }
        if self.skipped > 0 {
            terminal::say(&format!(
                "{} skipped: the log has only a part of their parameters",
                plain(&json!(self.skipped))
            ))?;
        }
        Ok(())
    }
}
