//! `toolroom logs show ID`: one call, with everything that its owner may know of it.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

use super::Globals;
use crate::client::encoded;
use crate::terminal::{self, plain};

/// Shows one execution.
pub async fn show(globals: &Globals, id: &str) -> Result<ExitCode> {
    let client = globals.client().await?;
    let found = client.get(&format!("/api/v1/executions/{}", encoded(id))).await?;
    client.close().await;
    if globals.json {
        terminal::say_json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let ms = found["durationMs"].as_f64().map(|ms| format!(" after {ms:.1} ms")).unwrap_or_default();
    terminal::say(&format!(
        "{} {}{ms}, {} by {}",
        plain(&found["tool"]),
        plain(&found["status"]),
        terminal::moment(&found["startedAt"]),
        plain(&found["user"])
    ))?;
    if let Some(message) = found["message"].as_str() {
        terminal::say(&format!("{}: {message}", plain(&found["code"])))?;
    }
    for (title, value) in [("input", &found["input"]), ("output", &found["output"])] {
        if !value.is_null() {
            terminal::say(&format!("\n{title}\n{}", serde_json::to_string_pretty(value)?))?;
        }
    }
    let lines: Vec<String> = found["lines"].as_array().into_iter().flatten().map(line).collect();
    if !lines.is_empty() {
        terminal::say(&format!("\nprinted\n{}", lines.join("\n")))?;
    }
    if let Some(detail) = found["detail"].as_str() {
        terminal::say(&format!("\nwhat the tool said of its failure\n{detail}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn line(line: &Value) -> String {
    match line["stream"].as_str() {
        Some("stderr") => format!("! {}", plain(&line["text"])),
        _ => format!("  {}", plain(&line["text"])),
    }
}
