//! What an import changes, as people see it.

use anyhow::Result;
use serde_json::{Value, json};
use toolroom_contract::text::shell_word;
use toolroom_openapi::{Imported, NeededSecret};
use toolroom_runtime::secret_file::SecretFile;

use crate::cli::Globals;
use crate::terminal::{self, Rows, Tint, cell, name_cell, plain, tinted};

/// Whether the plan changes anything.
pub(super) fn changes_anything(plan: &Value) -> bool {
    tools(plan).any(|tool| ["new", "changed", "removed"].iter().any(|standing| tool["standing"] == *standing))
}

/// The plan on stdout.
pub(super) fn show(globals: &Globals, imported: &Imported, plan: &Value) -> Result<()> {
    if globals.json {
        let refused: Vec<Value> = imported
            .refused
            .iter()
            .map(|one| json!({ "operation": one.operation, "reason": one.reason }))
            .collect();
        let secrets: Vec<Value> =
            imported.secrets.iter().map(|one| json!({ "name": one.name, "what": one.what })).collect();
        return Ok(terminal::say_json(&json!({
            "api": imported.name, "title": imported.title, "tools": plan["tools"], "hosts": plan["hosts"],
            "tokens": tokens(plan), "leftOut": refused, "secrets": secrets, "notes": imported.notes,
        }))?);
    }
    let mut rows = Rows::new(&["tool", "", "operation", "tokens", "what changes"]);
    for tool in tools(plan).filter(|tool| tool["standing"] != "unchanged") {
        let tint = match tool["standing"].as_str() {
            Some("new") => Tint::Good,
            Some("refused" | "removed") => Tint::Bad,
            _ => Tint::Warn,
        };
        let mut what: Vec<String> = tool["changes"].as_array().into_iter().flatten().map(change).collect();
        what.extend(tool["reason"].as_str().map(str::to_owned));
        rows.add([
            name_cell(plain(&tool["name"])),
            tinted(plain(&tool["standing"]), tint),
            name_cell(plain(&tool["operation"])),
            cell(if tool["tokens"] == 0 { String::new() } else { plain(&tool["tokens"]) }),
            cell(what.first().cloned().unwrap_or_default()),
        ]);
        for more in what.iter().skip(1) {
            rows.add([cell(""), cell(""), cell(""), cell(""), cell(more)]);
        }
    }
    for one in &imported.refused {
        let operation = name_cell(&one.operation);
        rows.add([cell(""), tinted("left out", Tint::Bad), operation, cell(""), cell(&one.reason)]);
    }
    rows.say("no tool changes")?;
    terminal::say("")?;
    let count = |standing: &str| tools(plan).filter(|tool| tool["standing"] == standing).count();
    let counts: Vec<String> = ["new", "changed", "unchanged", "removed", "refused"]
        .iter()
        .map(|standing| (standing, count(standing)))
        .filter(|(_, count)| *count > 0)
        .map(|(standing, count)| format!("{count} {standing}"))
        .collect();
    terminal::say(&format!(
        "{}: {}; about {} tokens in all",
        imported.name,
        counts.join(", "),
        tokens(plan)
    ))?;
    for note in &imported.notes {
        terminal::say(&format!("note: {note}"))?;
    }
    for (host, secrets) in plan["hosts"].as_object().into_iter().flatten() {
        terminal::say(&format!("gets a secret: {host} ({})", plain(secrets)))?;
    }
    Ok(())
}

/// What is left to do.
pub(super) fn next_steps(imported: &Imported, done: &Value, secrets: &SecretFile) -> Result<()> {
    let standing = |wanted: &'static str| tools(done).filter(move |tool| tool["standing"] == wanted);
    let count = standing("new").count() + standing("changed").count();
    terminal::say(&format!("imported {count} tools of {}", imported.name))?;
    let set = secrets.names().unwrap_or_default();
    let unset: Vec<&NeededSecret> =
        imported.secrets.iter().filter(|secret| !set.contains(&secret.name)).collect();
    if unset.len() > 1 {
        terminal::say("of the ways to log in to an operation, one is enough:")?;
    }
    for secret in unset {
        terminal::say(&format!("set: toolroom secrets set {}   ({})", secret.name, secret.what))?;
    }
    let name = &imported.name;
    terminal::say(&format!("other callers need: {name}:read to read, {name}:write to change"))?;
    if let Some(first) = standing("new").chain(standing("changed")).next() {
        terminal::say(&format!("see one: toolroom tools show {}", shell_word(&plain(&first["name"]))))?;
    }
    Ok(())
}

fn tools(plan: &Value) -> impl Iterator<Item = &Value> {
    plan["tools"].as_array().into_iter().flatten()
}

fn tokens(plan: &Value) -> u64 {
    let counted = |tool: &&Value| tool["standing"] != "refused";
    tools(plan).filter(counted).filter_map(|tool| tool["tokens"].as_u64()).sum()
}

fn change(change: &Value) -> String {
    let message: String = plain(&change["message"]).chars().take(160).collect();
    format!("{} {}: {message}", plain(&change["impact"]), plain(&change["pointer"]))
}
