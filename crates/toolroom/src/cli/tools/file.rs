//! Reads what `tools add` and `tools update` were given: a script with a header, or entries as JSON.

use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value};
use toolroom_contract::ToolDefinition;
use toolroom_contract::entry::ToolEntry;

use super::header;
use crate::cli::definition_files;
use crate::failure::Failure;
use crate::terminal;

/// An entry that is to be registered, as the API takes it.
pub struct Wanted {
    /// The name of the tool.
    pub name: String,
    /// The body of the request: the entry, and the text of its script.
    pub body: Value,
    /// What it comes to.
    pub definition: ToolDefinition,
}

/// The largest script that is sent: the API takes a megabyte in all.
const LARGEST: usize = 768 << 10;

/// The entries of a file.
pub fn read(path: &Path) -> Result<Vec<Wanted>> {
    if path.extension().is_some_and(|ending| ending == "json") { entries(path) } else { script(path) }
}

fn script(path: &Path) -> Result<Vec<Wanted>> {
    let text = text(path)?;
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
        Failure::usage(format!("the file name {} cannot be stored", path.display()), "Use plain letters.")
    })?;
    let entry = header::entry_of(name, &text).map_err(|error| {
        Failure::new(format!("{}:{}: {error}", path.display(), error.line), error.remedy.clone())
    })?;
    if let Some(missing) = missing_function(name, &entry, &text) {
        terminal::remark(&format!(
            "note: {} has no line 'def {missing}(params, context):'; without it every call fails",
            path.display()
        ));
    }
    Ok(vec![wanted(entry, Some(text))?])
}

/// The function that a Python script should have, and does not seem to.
fn missing_function(file: &str, entry: &Value, text: &str) -> Option<String> {
    let function = entry["config"]["entrypoint"].as_str().unwrap_or("run");
    let defined = |line: &str| {
        let line = line.strip_prefix("async ").unwrap_or(line);
        let rest = line.strip_prefix("def ").and_then(|rest| rest.trim_start().strip_prefix(function));
        let assigned = line.strip_prefix(function).is_some_and(|rest| rest.trim_start().starts_with('='));
        rest.is_some_and(|rest| rest.trim_start().starts_with('(')) || assigned || line.contains("import ")
    };
    (file.ends_with(".py") && !text.lines().any(defined)).then(|| function.to_owned())
}

fn entries(path: &Path) -> Result<Vec<Wanted>> {
    let raw = text(path)?;
    // Reading them as definitions names what is wrong by its line.
    definition_files::read(path)?;
    let value: Value = serde_json::from_str(&raw)?;
    let entries = match value {
        Value::Array(many) => many,
        Value::Object(mut whole) if whole.contains_key("tools") => match whole.remove("tools") {
            Some(Value::Array(many)) => many,
            _ => Vec::new(),
        },
        one => vec![one],
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    entries.into_iter().map(|entry| wanted_with_script(entry, folder)).collect()
}

/// A script that is not beside the entry is taken to be in the home already.
fn wanted_with_script(entry: Value, folder: &Path) -> Result<Wanted> {
    let script = entry["config"]["script_path"].as_str().map(|name| folder.join(name));
    let script = script.filter(|script| script.is_file()).map(|script| text(&script)).transpose()?;
    wanted(entry, script)
}

fn wanted(entry: Value, script: Option<String>) -> Result<Wanted> {
    let definition = serde_json::from_value::<ToolEntry>(entry.clone())?.definition();
    let mut body: Map<String, Value> = entry.as_object().cloned().unwrap_or_default();
    if let Some(script) = script {
        body.insert("script".into(), script.into());
    }
    Ok(Wanted { name: definition.name.clone(), body: body.into(), definition })
}

fn text(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::new(format!("{}: {error}", path.display()), "Check the path and that you can read the file.")
    })?;
    if bytes.len() > LARGEST {
        return Err(Failure::new(
            format!(
                "{} has {} KiB; at most {} can be sent",
                path.display(),
                bytes.len() >> 10,
                LARGEST >> 10
            ),
            "Put it into the home's folder tools/ yourself, and add an entry as JSON that names it.",
        )
        .into());
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::new(
            format!("{} is not UTF-8 text", path.display()),
            "Put a program into the home's folder tools/ yourself, and add an entry as JSON that names it in \
             config.script_path.",
        )
        .into()
    })
}
