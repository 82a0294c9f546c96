//! `toolroom eval`: how often the right tool is chosen for prompts whose answer is known.

mod dialogues;
mod gold;
mod model;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;
use toolroom_contract::ToolDefinition;
use toolroom_runtime::search;
use toolroom_selection::{Class, Index};

use self::report::{Report, Score};
use super::Globals;
use crate::terminal::{self, Rows, cell};

/// Measure how well tools are chosen for prompts: accuracy, confusion, coverage, calibration
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom eval
  toolroom eval --set my-prompts.jsonl --json
  toolroom eval --dialogues           what conversations leave behind
  toolroom eval --model               your model, see docs/chat.md

Without --set, Toolroom's own test prompts are used, which are not part of the training data. A set has one JSON object per
line: {\"prompt\": …, \"class\": \"tasks\" | \"web\" | \"code\" | \"human\" | \"none\"}, for tasks with an \"intent\", or with the
name of a \"tool\" in place of the class.")]
pub struct Eval {
    /// Read prompts with their answers from this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    set: Option<PathBuf>,
    /// Ask your model, or this one of its server; no tool runs, only the first call that it wants counts
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    model: Option<String>,
    /// Hold conversations without a model in a scratch home, and judge what they leave behind
    #[arg(long, conflicts_with = "model")]
    dialogues: bool,
    /// Use only this many prompts, spread over the set
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

impl Eval {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        if self.dialogues {
            dialogues::run(globals, self.set.as_deref(), self.limit).await?;
            return Ok(ExitCode::SUCCESS);
        }
        let prompts = match &self.set {
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .with_context(|| format!("cannot read the prompts in {}", path.display()))?;
                gold::prompts(&text).with_context(|| format!("in {}", path.display()))?
            }
            None => gold::prompts(gold::TEST)?,
        };
        let prompts = spread(prompts, self.limit);
        let listing = globals.client().await?.get("/api/v1/tools").await?;
        let report = match &self.model {
            Some(name) => model::report(globals, name, &listing, &prompts).await?,
            None => {
                let searches = if self.set.is_none() { gold::searches()? } else { Vec::new() };
                Report::of(&index(&listing)?, &prompts, &searches)
            }
        };
        if globals.json {
            terminal::say_json(&report.json())?;
        } else {
            tables(&report)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// As many prompts as wanted, from the whole set.
fn spread<T>(prompts: Vec<T>, limit: Option<usize>) -> Vec<T> {
    let step = limit.map_or(1, |limit| prompts.len().div_ceil(limit.max(1)).max(1));
    prompts.into_iter().step_by(step).collect()
}

fn index(listing: &Value) -> Result<Index> {
    let definitions: Vec<ToolDefinition> = serde_json::from_value(listing["tools"].clone())?;
    Ok(search::index(definitions.iter()))
}

fn tables(report: &Report) -> Result<()> {
    let percent = |score: Score| format!("{:.1} %", score.share() * 100.0);
    let mut rows = Rows::new(&["class", "prompts", "right", "acts on", "right where it acts"]);
    for (class, line) in &report.by_class {
        rows.add([
            cell(class),
            cell(line.all.total),
            cell(percent(line.all)),
            cell(percent(line.coverage())),
            cell(percent(line.acted)),
        ]);
    }
    rows.add([
        cell("all"),
        cell(report.all.all.total),
        cell(percent(report.all.all)),
        cell(percent(report.all.coverage())),
        cell(percent(report.all.acted)),
    ]);
    rows.say("")?;
    terminal::say("\nConfusion: rows are classes, columns what was chosen instead where it acts")?;
    let columns: Vec<&str> =
        Class::ALL.iter().map(|class| class.as_str()).chain(["other", "unsure"]).collect();
    let header: Vec<&str> = std::iter::once("class").chain(columns.iter().copied()).collect();
    let mut rows = Rows::new(&header);
    for (class, taken) in &report.confusion {
        let counts = columns.iter().map(|column| cell(taken.get(*column).copied().unwrap_or(0)));
        rows.add(std::iter::once(cell(class)).chain(counts));
    }
    rows.say("")?;
    terminal::say("\nCalibration: how sure it was, and how often it was right")?;
    let mut rows = Rows::new(&["confidence", "prompts", "mean", "right"]);
    for bin in report.calibration.iter().filter(|bin| bin.score.total > 0) {
        rows.add([
            cell(format!("{:.1} to {:.1}", bin.from, bin.to)),
            cell(bin.score.total),
            cell(format!("{:.2}", bin.mean())),
            cell(format!("{:.2}", bin.score.share())),
        ]);
    }
    rows.say("")?;
    terminal::say(&format!(
        "\nintents of tasks right: {} of {}; wrong changes: {} of {} prompts",
        report.intents.correct, report.intents.total, report.wrong_changes, report.all.all.total
    ))?;
    if report.search.total > 0 {
        terminal::say(&format!(
            "search: the right tool among the first five for {} of {} queries ({} name a tool that is not here)",
            report.search.correct, report.search.total, report.not_here
        ))?;
    }
    Ok(())
}
