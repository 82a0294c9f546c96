//! `toolroom diff`: what a new definition means for those who call the old one.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use toolroom_contract::ToolDefinition;
use toolroom_contract::diff::{self, Change, Impact};

use super::{Globals, definition_files};
use crate::terminal::{self, Rows, Tint, cell, tinted};

/// Compare two versions of definitions: breaking, behaviour and metadata changes
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom tools show create-task --json > old.json
  toolroom diff old.json new.json

A file has one definition, a list, or a whole tools.json. Exit code 1: a change breaks callers of a tool that is
published (version 1.0.0 or later) and needs a new name.")]
pub struct Diff {
    /// The definitions as they are
    old: PathBuf,
    /// The definitions as they are to be
    new: PathBuf,
}

/// What happened to one tool.
struct Verdict {
    tool: String,
    changes: Vec<Change>,
    /// The name that a refused change could have instead.
    rename: Option<String>,
}

impl Diff {
    pub fn run(self, globals: &Globals) -> Result<ExitCode> {
        let old = definition_files::read(&self.old)?;
        let new = definition_files::read(&self.new)?;
        let verdicts = compare(&old, &new);
        let refused = verdicts.iter().any(|verdict| verdict.rename.is_some());
        if globals.json {
            terminal::say_json(
                &json!({ "refused": refused, "tools": verdicts.iter().map(shown).collect::<Vec<_>>() }),
            )?;
        } else {
            table(&verdicts)?;
        }
        for verdict in verdicts.iter().filter(|verdict| verdict.rename.is_some()) {
            let tool = &verdict.tool;
            terminal::remark(&format!("'{tool}' would break its callers. {}", diff::ways_out(tool)));
        }
        Ok(if refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn compare(old: &[ToolDefinition], new: &[ToolDefinition]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for before in old {
        let changes = match new.iter().find(|after| after.name == before.name) {
            Some(after) => diff::diff(before, after),
            None => vec![Change {
                impact: Impact::Breaking,
                pointer: String::new(),
                message: "the tool is gone".into(),
            }],
        };
        let rename = diff::is_refused(before, &changes).then(|| diff::next_name(&before.name));
        verdicts.push(Verdict { tool: before.name.clone(), changes, rename });
    }
    for added in new.iter().filter(|after| !old.iter().any(|before| before.name == after.name)) {
        let change =
            Change { impact: Impact::Metadata, pointer: String::new(), message: "the tool is new".into() };
        verdicts.push(Verdict { tool: added.name.clone(), changes: vec![change], rename: None });
    }
    verdicts
}

fn shown(verdict: &Verdict) -> Value {
    json!({
        "tool": verdict.tool,
        "impact": verdict.changes.first().map(|change| change.impact),
        "refused": verdict.rename.is_some(),
        "newName": verdict.rename,
        "waysOut": verdict.rename.is_some().then(|| diff::ways_out(&verdict.tool)),
        "changes": verdict.changes,
    })
}

fn table(verdicts: &[Verdict]) -> Result<()> {
    let mut rows = rows();
    for verdict in verdicts {
        add(&mut rows, &verdict.tool, &verdict.changes);
    }
    rows.say("No difference.")?;
    Ok(())
}

/// The changes of one tool on stdout.
pub fn changes_table(tool: &str, changes: &[Change]) -> Result<()> {
    let mut rows = rows();
    add(&mut rows, tool, changes);
    rows.say("The definition has not changed.")?;
    Ok(())
}

fn rows() -> Rows {
    Rows::new(&["TOOL", "IMPACT", "WHERE", "WHAT"])
}

fn add(rows: &mut Rows, tool: &str, changes: &[Change]) {
    for change in changes {
        let tint = match change.impact {
            Impact::Breaking => Tint::Bad,
            Impact::Behaviour => Tint::Warn,
            Impact::Metadata => Tint::Good,
        };
        rows.add([cell(tool), tinted(change.impact, tint), cell(&change.pointer), cell(&change.message)]);
    }
}
