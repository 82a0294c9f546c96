//! `toolroom dev`: a tool while it is written. Every save is read, checked and tried in a scratch home.

use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::Globals;
use super::check::examples;
use super::definition_files;
use super::scratch::Scratch;
use super::tools::file;
use crate::failure::Exit;
use crate::terminal::{self, Tint, plain};

/// Check and try a tool on every save, in a scratch home
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom dev get_weather.py
  {\"city\": \"Bonn\"}                    a call, typed while it runs

It ends with its input (Ctrl-D). Nothing is registered: 'toolroom tools add
FILE' does that.")]
pub struct Dev {
    /// The script, or a JSON file with an entry
    file: PathBuf,
    /// Check and try it once, then end
    #[arg(long)]
    once: bool,
}

/// Between two looks at the file.
const LOOK: Duration = Duration::from_millis(200);

impl Dev {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let bench = Bench(Scratch::open(globals).await?);
        let mut tools = Vec::new();
        let mut seen = None;
        let mut is_sound = false;
        let mut lines = if self.once { None } else { Some(typed_lines()) };
        loop {
            let stamp = stamp(&self.file);
            // A file that is not there is told once, too.
            if seen != Some(stamp) {
                seen = Some(stamp);
                let (found, sound) = match bench.round(&self.file).await {
                    Ok(found) => found,
                    Err(error) => {
                        terminal::complain(Tint::Bad, "error", &error.to_string());
                        (std::mem::take(&mut tools), false)
                    }
                };
                (tools, is_sound) = (found, sound);
                if lines.is_some() {
                    terminal::remark("-- waiting for a save, or a call to make; Ctrl-D ends it");
                }
            }
            let Some(lines) = &mut lines else { break };
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                line = lines.recv() => match line {
                    Some(line) => bench.call_line(&line, &tools).await?,
                    None => break,
                },
            }
        }
        bench.0.client.close().await;
        Ok(if is_sound { ExitCode::SUCCESS } else { Exit::Failed.code() })
    }
}

/// Where the file is tried.
struct Bench(Scratch);

impl Bench {
    /// Reads, checks and tries the file; its tools, and whether all is well.
    async fn round(&self, path: &Path) -> Result<(Vec<String>, bool)> {
        let given = file::read(&self.0.client, path).await?;
        let mut sound = true;
        for definition in given.definitions() {
            let tool = serde_json::to_value(definition)?;
            let told = json!([tool["name"], tool["description"], tool["parameters"]]).to_string();
            terminal::say(&format!(
                "{} {}: about {} tokens\n  takes   {}",
                plain(&tool["name"]),
                plain(&tool["version"]),
                told.len() / 4,
                tool["parameters"]
            ))?;
            if let Some(output) = tool.get("output") {
                terminal::say(&format!("  answers {output}"))?;
            }
            let checked = definition_files::checked(definition);
            sound &= checked["passes"] == true;
            for finding in checked["findings"].as_array().into_iter().flatten() {
                let outcome = finding["outcome"].as_str().unwrap_or_default();
                if matches!(outcome, "fail" | "advice") {
                    terminal::say(&format!("  {outcome}: {}", plain(&finding["message"])))?;
                }
            }
        }
        self.0.register(&given).await?;
        for definition in given.definitions() {
            for example in &definition.examples {
                sound &= self.try_out(&definition.name, &serde_json::to_value(example)?).await?;
            }
        }
        Ok((given.definitions().map(|tool| tool.name.clone()).collect(), sound))
    }

    async fn try_out(&self, tool: &str, example: &Value) -> Result<bool> {
        let answer = examples::call(&self.0.client, tool, &example["params"]).await?;
        let mismatches = examples::judge(example, &answer);
        let what = plain(&example["description"]);
        if mismatches.is_empty() {
            terminal::say(&format!("  example ok: {what}"))?;
        }
        for one in &mismatches {
            let at = if one.pointer.is_empty() { "the answer" } else { &one.pointer };
            terminal::say(&format!("  example FAILED: {what}: {at} is {}, not {}", one.found, one.expected))?;
        }
        self.explain(&answer.json).await;
        Ok(mismatches.is_empty())
    }

    /// A call as it was typed: parameters, with the tool's name before them if there are several.
    async fn call_line(&self, line: &str, tools: &[String]) -> Result<()> {
        let (name, params) = match line.trim().find('{') {
            Some(at) => line.trim().split_at(at),
            None => (line.trim(), "{}"),
        };
        let name = match (name.trim(), tools) {
            ("", [only]) => only.as_str(),
            (name, _) => name,
        };
        if !tools.iter().any(|tool| tool == name) {
            terminal::remark(&format!("type NAME {{parameters}}; the tools are: {}", tools.join(", ")));
            return Ok(());
        }
        let Ok(params) = serde_json::from_str::<Value>(params) else {
            terminal::remark("the parameters are not a JSON object");
            return Ok(());
        };
        let answer = examples::call(&self.0.client, name, &params).await?.json;
        let shown = answer.get("data").or_else(|| answer.get("error")).unwrap_or(&answer);
        terminal::say_json(shown)?;
        self.explain(&answer).await;
        Ok(())
    }

    /// What the script said of its failure.
    async fn explain(&self, answer: &Value) {
        let Some(id) = answer["metadata"]["executionId"].as_str().filter(|_| answer.get("error").is_some())
        else {
            return;
        };
        if let Ok(found) = self.0.client.get(&format!("/api/v1/executions/{id}")).await
            && let Some(detail) = found["detail"].as_str()
        {
            terminal::remark(detail);
        }
    }
}

/// Which state of the file it is; nothing while it is being replaced.
fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let found = fs::metadata(file).ok()?;
    Some((found.modified().ok()?, found.len()))
}

fn typed_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if !line.trim().is_empty() && sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
