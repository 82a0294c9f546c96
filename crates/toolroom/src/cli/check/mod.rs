//! `toolroom check`: the contract's checklist, tool by tool, and its examples.

pub mod compare;
pub mod examples;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use super::tools::file;
use super::{Globals, definition_files};
use crate::failure::Exit;
use crate::terminal::{self, Rows, Tint, cell, plain, tinted};

/// Check tools against the contract's checklist
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom check --examples              with every example
  toolroom check --strict my-tool.json   a definition that is still a file
  toolroom check my_tool.py              a script that is not registered yet

Exit code 1 if a line fails; with --strict also if a value was derived or could be better.")]
pub struct Check {
    /// Fail on lines that Toolroom filled in, or that could be better
    #[arg(long)]
    strict: bool,
    /// Run every example in a scratch home and compare its data with expectedResult
    #[arg(long, conflicts_with = "files")]
    examples: bool,
    /// Show the lines that hold, too
    #[arg(long, short)]
    verbose: bool,
    /// Scripts, or files with one definition, a list of them, or {"tools": […]}; none: the catalogue
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Check {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let tools = if self.files.is_empty() {
            let checked = globals.client().await?.get("/api/v1/check").await?;
            checked["tools"].as_array().cloned().unwrap_or_default()
        } else {
            self.check_files(globals).await?
        };
        let examples = if self.examples { Some(examples::run().await?) } else { None };
        let sound = tools.iter().all(|tool| self.is_sound(tool));
        let passes = sound && examples.iter().flatten().all(|example| example["passes"] == true);
        if globals.json {
            let mut report = json!({ "passes": passes, "strict": self.strict, "tools": tools });
            if let (Some(examples), Some(report)) = (examples, report.as_object_mut()) {
                report.insert("examples".into(), Value::Array(examples));
            }
            terminal::say_json(&report)?;
        } else {
            self.table(&tools)?;
            if let Some(examples) = &examples {
                terminal::say("")?;
                examples_table(examples)?;
            }
        }
        Ok(if passes { ExitCode::SUCCESS } else { Exit::Failed.code() })
    }

    async fn check_files(&self, globals: &Globals) -> Result<Vec<Value>> {
        let mut tools = Vec::new();
        for path in &self.files {
            match file::is_script(path) {
                true => {
                    let client = globals.client().await?;
                    let found = file::read(&client, path).await?;
                    client.close().await;
                    tools.extend(found.definitions().map(definition_files::checked));
                }
                false => tools.extend(definition_files::check(path)?),
            }
        }
        Ok(tools)
    }

    fn is_sound(&self, tool: &Value) -> bool {
        let bad =
            |outcome: &str| outcome == "fail" || (self.strict && matches!(outcome, "derived" | "advice"));
        !findings(tool).any(|finding| finding["outcome"].as_str().is_some_and(bad))
    }

    fn table(&self, tools: &[Value]) -> Result<()> {
        let mut rows = Rows::new(&["tool", "result", "line", "what is missing"]);
        for tool in tools {
            let holds =
                findings(tool).filter(|one| matches!(one["outcome"].as_str(), Some("pass" | "guaranteed")));
            let summary = format!("{} of {} lines pass", holds.count(), findings(tool).count());
            let result =
                if self.is_sound(tool) { tinted("ok", Tint::Good) } else { tinted("FAIL", Tint::Bad) };
            rows.add([cell(plain(&tool["tool"])), result, cell(summary), cell("")]);
            for finding in findings(tool) {
                let outcome = finding["outcome"].as_str().unwrap_or_default();
                let tint = match outcome {
                    "fail" => Tint::Bad,
                    "derived" | "advice" => Tint::Warn,
                    _ if self.verbose => Tint::Quiet,
                    _ => continue,
                };
                let line = plain(&finding["line"]);
                rows.add([cell(""), tinted(outcome, tint), cell(line), cell(plain(&finding["message"]))]);
            }
        }
        Ok(rows.say("there is nothing to check")?)
    }
}

fn findings(tool: &Value) -> impl Iterator<Item = &Value> {
    tool["findings"].as_array().into_iter().flatten()
}

fn examples_table(examples: &[Value]) -> Result<()> {
    let mut rows = Rows::new(&["tool", "example", "result", "at", "expected", "found"]);
    for example in examples {
        let (tool, what) = (plain(&example["tool"]), plain(&example["description"]));
        if example["passes"] == true {
            let (word, tint) =
                if example["skipped"] == true { ("not set up", Tint::Quiet) } else { ("ok", Tint::Good) };
            rows.add([cell(tool), cell(what), tinted(word, tint), cell(""), cell(""), cell("")]);
            continue;
        }
        for mismatch in example["mismatches"].as_array().into_iter().flatten() {
            rows.add([
                cell(&tool),
                cell(&what),
                tinted("FAIL", Tint::Bad),
                cell(plain(&mismatch["pointer"])),
                cell(mismatch["expected"].to_string()),
                cell(mismatch["found"].to_string()),
            ]);
        }
    }
    Ok(rows.say("no tool has an example")?)
}
