//! `toolroom tools add | update | remove`: changes of the registry, through the API like everything else.

use std::path::Path;

use anyhow::Result;
use http::Method;
use serde_json::{Value, json};
use toolroom_contract::ToolDefinition;
use toolroom_contract::diff::{self, Change};

use super::file::{self, Wanted};
use super::sample;
use crate::cli::Globals;
use crate::cli::diff::changes_table;
use crate::client::{Client, encoded};
use crate::failure::Failure;
use crate::terminal::{self, plain};

/// Registers the tools of a file.
pub async fn add(globals: &Globals, client: &Client, path: &Path) -> Result<()> {
    for wanted in file::read(path)? {
        let stored = client.request(Method::POST, "/api/v1/tools", Some(&wanted.body)).await?;
        if globals.json {
            terminal::say_json(&stored)?;
        } else {
            terminal::say(&format!("added {}", stamped(&stored)))?;
            next_steps(&stored)?;
        }
    }
    Ok(())
}

/// Replaces tools, and shows what that means for their callers.
pub async fn update(globals: &Globals, client: &Client, path: &Path) -> Result<()> {
    for wanted in file::read(path)? {
        let place = format!("/api/v1/tools/{}", encoded(&wanted.name));
        let changes = changes(client, &place, &wanted, path).await?;
        if !globals.json {
            changes_table(&wanted.name, &changes)?;
        }
        let stored = client.request(Method::PUT, &place, Some(&wanted.body)).await?;
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

/// What the new entry changes. Fails if the tool does not exist.
async fn changes(client: &Client, place: &str, wanted: &Wanted, path: &Path) -> Result<Vec<Change>> {
    let there = client.send(Method::GET, place, None, &[]).await?;
    if there.status == http::StatusCode::NOT_FOUND {
        let message = format!("unknown tool '{}'", wanted.name);
        let hint = format!("Register it: toolroom tools add {}", path.display());
        return Err(Failure::new(message, hint).into());
    }
    let old: ToolDefinition = serde_json::from_value(there.success()?)?;
    Ok(diff::diff(&old, &wanted.definition))
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
