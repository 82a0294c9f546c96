//! Definitions in files: one, a list, or a whole `tools.json`; what does not parse is named by line.

use std::path::Path;

use anyhow::Result;
use jiff::Zoned;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolroom_contract::ToolDefinition;
use toolroom_contract::check::{self, Stage};
use toolroom_contract::entry::ToolEntry;
use toolroom_contract::text::plain_reason;

use crate::failure::Failure;

/// The definitions in the file; fails at the first that does not parse.
pub fn read(path: &Path) -> Result<Vec<ToolDefinition>> {
    let text = text(path)?;
    entries(&text, path)?
        .into_iter()
        .map(|entry| {
            parse(path, &text, entry).map_err(|unread| {
                Failure::new(unread.message, "'toolroom check FILE' lists everything that is wrong.").into()
            })
        })
        .collect()
}

/// The checklist for each definition in the file, in the form of the API.
pub fn check(path: &Path) -> Result<Vec<Value>> {
    let text = text(path)?;
    let checked = entries(&text, path)?.into_iter().map(|entry| match parse(path, &text, entry) {
        Ok(definition) => checked(&definition),
        Err(unread) => json!({
            "tool": unread.name,
            "passes": false,
            "findings": [{ "line": "The definition can be read", "outcome": "fail", "message": unread.message }],
        }),
    });
    Ok(checked.collect())
}

/// The checklist for a definition, in the form of the API.
pub fn checked(definition: &ToolDefinition) -> Value {
    let findings = check::check(definition, Stage::Registering(Zoned::now().date()));
    json!({ "tool": definition.name, "passes": check::passes(&findings), "findings": findings })
}

fn text(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        Failure::new(format!("{}: {error}", path.display()), "Check the path and that you can read the file.")
    })
}

/// A definition that does not parse: what it calls itself, and what is wrong on which line.
struct Unread {
    name: String,
    message: String,
}

fn parse(path: &Path, text: &str, entry: &RawValue) -> Result<ToolDefinition, Unread> {
    let mut reader = serde_json::Deserializer::from_str(entry.get());
    let read = serde_path_to_error::deserialize::<_, ToolEntry>(&mut reader);
    read.map(|entry| entry.definition()).map_err(|error| {
        let line = first_line(text, entry) + error.inner().line().saturating_sub(1);
        let whole = error.inner().to_string();
        let reason = plain_reason(whole.split(" at line ").next().unwrap_or(&whole));
        let field = match error.path().to_string() {
            root if root == "." => String::new(),
            field => format!("{field}: "),
        };
        let name = serde_json::from_str::<Value>(entry.get())
            .ok()
            .and_then(|value| value.get("name").and_then(Value::as_str).map(str::to_owned));
        Unread {
            name: name.unwrap_or_else(|| format!("{}:{line}", path.display())),
            message: format!("{}:{line}: {field}{reason}", path.display()),
        }
    })
}

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

fn entries<'a>(text: &'a str, path: &Path) -> Result<Vec<&'a RawValue>> {
    let malformed = |error: serde_json::Error| {
        let message = format!("{}:{}:{}: {error}", path.display(), error.line(), error.column());
        Failure::new(message, "Fix that line. Expected a definition, a list of them, or {\"tools\": […]}.")
    };
    let start = text.trim_start();
    if start.starts_with('[') {
        return Ok(serde_json::from_str(text).map_err(malformed)?);
    }
    let one: &RawValue = serde_json::from_str(text).map_err(malformed)?;
    match serde_json::from_str::<Whole<'_>>(text) {
        Ok(whole) => Ok(whole.tools),
        Err(_) => Ok(vec![one]),
    }
}

/// The line of the file on which an entry begins.
fn first_line(text: &str, entry: &RawValue) -> usize {
    // The entry is a piece of the text, so that the distance of their beginnings is its place.
    let start = (entry.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    text.get(..start).map_or(1, |before| before.matches('\n').count() + 1)
}
