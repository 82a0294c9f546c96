//! `toolroom tools add | update | remove`: changes of the registry, through the API like everything else.

use std::path::Path;

use anyhow::Result;
use http::Method;
use serde_json::{Value, json};
use toolroom_contract::ToolDefinition;
use toolroom_contract::diff::{self, Change};
use toolroom_contract::text::shell_word;

use super::file::{self, Given};
use super::sample;
use crate::cli::Globals;
use crate::cli::diff::changes_table;
use crate::cli::replay::Replay;
use crate::client::{Client, encoded};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::terminal::{self, plain};

/// What a person waits for.
pub(super) const INSTALLING: &str = "reading the script, and installing what it needs";

/// Registers the tools of a file.
pub async fn add(globals: &Globals, client: &Client, path: &Path) -> Result<()> {
    let all = match file::read(client, path).await? {
        Given::Script { name, text, .. } => {
            let stored = store(client, &name, &text, false).await?;
            stored["tools"].as_array().cloned().unwrap_or_default()
        }
        Given::Entries(entries) => {
            let mut all = Vec::new();
            let _progress = Progress::start(INSTALLING);
            for wanted in entries {
                all.push(client.request(Method::POST, "/api/v1/tools", Some(&wanted.body)).await?);
            }
            all
        }
    };
    for stored in all {
        if globals.json {
            terminal::say_json(&stored)?;
        } else {
            terminal::say(&format!("added {}", stamped(&stored)))?;
            next_steps(&stored)?;
        }
    }
    Ok(())
}

/// Registers the tools of a script.
async fn store(client: &Client, name: &str, text: &str, replace: bool) -> Result<Value> {
    let place = format!("/api/v1/scripts/{}", encoded(name));
    let _progress = Progress::start(INSTALLING);
    client.request(Method::PUT, &place, Some(&json!({ "text": text, "replace": replace }))).await
}

/// Replaces tools, and shows what that means for their callers.
pub async fn update(globals: &Globals, client: &Client, path: &Path) -> Result<()> {
    let entries = match file::read(client, path).await? {
        Given::Script { name, text, tools } => {
            return update_script(globals, client, path, (&name, &text, &tools)).await;
        }
        Given::Entries(entries) => entries,
    };
    for wanted in entries {
        let place = format!("/api/v1/tools/{}", encoded(&wanted.name));
        let changes =
            changes(client, &wanted.definition).await?.ok_or_else(|| unknown(&wanted.name, path))?;
        if !globals.json {
            changes_table(&wanted.name, &changes)?;
        }
        let progress = Progress::start(INSTALLING);
        let stored = client.request(Method::PUT, &place, Some(&wanted.body)).await?;
        drop(progress);
        if globals.json {
            let impact = changes.first().map(|change| change.impact);
            terminal::say_json(&json!({ "tool": stored, "impact": impact, "changes": changes }))?;
        } else {
            terminal::say(&format!("updated {}", stamped(&stored)))?;
            next_steps(&stored)?;
        }
    }
    Ok(())
}

/// Replaces the tools of a script by those that it has now.
async fn update_script(
    globals: &Globals,
    client: &Client,
    path: &Path,
    (name, text, tools): (&str, &str, &[ToolDefinition]),
) -> Result<()> {
    let mut all = Vec::new();
    for tool in tools {
        all.extend(changes(client, tool).await?.map(|changes| (tool.name.clone(), changes)));
    }
    if all.is_empty() {
        return Err(unknown(tools.first().map_or(name, |tool| &tool.name), path).into());
    }
    if !globals.json {
        for (tool, changes) in &all {
            changes_table(tool, changes)?;
        }
    }
    let stored = store(client, name, text, true).await?;
    for tool in stored["tools"].as_array().into_iter().flatten() {
        let changes = all.iter().find(|(name, _)| tool["name"] == **name).map(|(_, changes)| changes);
        if globals.json {
            let impact = changes.and_then(|changes| changes.first()).map(|change| change.impact);
            terminal::say_json(&json!({ "tool": tool, "impact": impact, "changes": changes }))?;
        } else {
            let word = if changes.is_some() { "updated" } else { "added" };
            terminal::say(&format!("{word} {}", stamped(tool)))?;
        }
    }
    let removed = &stored["removed"];
    if removed.get(0).is_some() {
        if globals.json {
            terminal::say_json(&json!({ "removed": removed }))?;
        } else {
            terminal::say(&format!("removed {}, no longer in the file", plain(removed)))?;
        }
    }
    Ok(())
}

/// Publishes a draft.
pub async fn publish(globals: &Globals, client: &Client, name: &str) -> Result<()> {
    if !globals.json && !is_replayed(globals, client, name).await? {
        return Ok(());
    }
    let place = format!("/api/v1/tools/{}/publish", encoded(name));
    let stored = client.request(Method::POST, &place, None).await?;
    if globals.json {
        return Ok(terminal::say_json(&stored)?);
    }
    Ok(terminal::say(&format!(
        "published {}; a change that breaks its callers is refused from now on",
        stamped(&stored)
    ))?)
}

/// Offers to make recorded calls again first; whether the tool is to be published.
async fn is_replayed(globals: &Globals, client: &Client, name: &str) -> Result<bool> {
    let recorded = client.get(&format!("/api/v1/executions?tool={}&limit=1", encoded(name))).await?;
    if recorded["executions"].get(0).is_none() {
        return Ok(true);
    }
    match terminal::is_confirmed(&format!("make recorded calls of {name} again first?"))? {
        Some(true) => {
            let report = Replay::of(name).report(globals, client).await?;
            report.show(name)?;
            Ok(terminal::is_confirmed(&format!("publish {name}?"))?.unwrap_or(true))
        }
        Some(false) => Ok(true),
        None => {
            terminal::remark(&format!(
                "make recorded calls again, to see what changed: toolroom replay {}",
                shell_word(name)
            ));
            Ok(true)
        }
    }
}

/// Removes a tool.
pub async fn remove(globals: &Globals, client: &Client, name: &str) -> Result<()> {
    client.request(Method::DELETE, &format!("/api/v1/tools/{}", encoded(name)), None).await?;
    if globals.json {
        terminal::say_json(&json!({ "removed": name }))?;
    } else {
        terminal::say(&format!("removed {name}; its script stays in the home's folder tools/"))?;
    }
    Ok(())
}

/// What the new definition changes; nothing if there is no such tool.
async fn changes(client: &Client, wanted: &ToolDefinition) -> Result<Option<Vec<Change>>> {
    let place = format!("/api/v1/tools/{}", encoded(&wanted.name));
    let there = client.send(Method::GET, &place, None, &[]).await?;
    if there.status == http::StatusCode::NOT_FOUND {
        return Ok(None);
    }
    let old: ToolDefinition = serde_json::from_value(there.success()?)?;
    Ok(Some(diff::diff(&old, wanted)))
}

fn unknown(tool: &str, path: &Path) -> Failure {
    let hint = format!("Register it: toolroom tools add {}", shell_word(&path.to_string_lossy()));
    Failure::new(format!("unknown tool '{tool}'"), hint)
}

fn stamped(stored: &Value) -> String {
    format!("{} {}", plain(&stored["name"]), plain(&stored["version"]))
}

/// Which values were derived, and a call to try.
fn next_steps(stored: &Value) -> Result<()> {
    if let Some(derived) = stored.get("derived").filter(|derived| derived.get(0).is_some()) {
        terminal::say(&format!("safe defaults for: {}", plain(derived)))?;
    }
    if stored["permissions"].get(0).is_some() {
        terminal::say(&format!("other callers need: {}", plain(&stored["permissions"])))?;
    }
    Ok(terminal::say(&format!("try it: {}", sample::call(stored)))?)
}
