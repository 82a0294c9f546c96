//! Reads what `tools add` and `tools update` were given: a script that describes its tools, one with a header, or
//! entries as JSON.

use std::path::Path;

use anyhow::Result;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use toolroom_contract::ToolDefinition;
use toolroom_contract::entry::ToolEntry;
use toolroom_runtime::registrar::{header, may_describe_itself};

use super::change::INSTALLING;
use super::packages;
use crate::cli::definition_files;
use crate::client::Client;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::terminal;

/// An entry to register, as the API expects it.
pub struct Wanted {
    /// The name of the tool.
    pub name: String,
    /// The body of the request: the entry, and the text of its script.
    pub body: Value,
    /// The entry itself.
    pub definition: ToolDefinition,
}

/// The largest script that is sent: the API accepts a megabyte in total.
const LARGEST: usize = 768 << 10;

/// What a file has.
pub enum Given {
    /// Entries, each registered by itself.
    Entries(Vec<Wanted>),
    /// A script that describes its tools, which are registered together.
    Script {
        /// Its name in the home.
        name: String,
        /// Its text.
        text: String,
        /// Its tools.
        tools: Vec<ToolDefinition>,
    },
}

impl Given {
    /// All definitions.
    pub fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        let (entries, tools) = match self {
            Self::Entries(entries) => (&entries[..], &[][..]),
            Self::Script { tools, .. } => (&[][..], &tools[..]),
        };
        entries.iter().map(|one| &one.definition).chain(tools)
    }
}

/// Whether a file is a script, and not one with definitions.
pub fn is_script(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ["py", "ts", "mts", "js", "mjs", "sh"].contains(&ending)
}

/// What a file has. A script that describes its tools is run once for that, confined.
pub async fn read(client: &Client, path: &Path) -> Result<Given> {
    if path.extension().is_some_and(|ending| ending == "json") {
        return entries(path).map(Given::Entries);
    }
    let mut text = text(path)?;
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
        Failure::usage(format!("the file name {} cannot be stored", path.display()), "Use plain letters.")
    })?;
    if let Some(line) = packages::line(path, &text)? {
        text.push_str(&line);
    }
    if may_describe_itself(name, &text) {
        let tools = described(client, name, &text, path).await?;
        if !tools.is_empty() {
            return Ok(Given::Script { name: name.to_owned(), text, tools });
        }
    }
    script(path, name, text).map(Given::Entries)
}

/// The tools that a script describes.
pub async fn described(client: &Client, name: &str, text: &str, path: &Path) -> Result<Vec<ToolDefinition>> {
    let body = json!({ "file": name, "text": text });
    let _progress = Progress::start(INSTALLING);
    let answer = client.send(Method::POST, "/api/v1/drafts/read", Some(&body), &[]).await?;
    if answer.status == StatusCode::BAD_REQUEST
        && let Some(detail) = answer.json["detail"].as_str()
    {
        // With the path as it was given, which editors and terminals can follow.
        let detail = detail.strip_prefix(name).unwrap_or(detail).trim_end_matches(" Nothing was registered.");
        let hint = match answer.json["errors"].get(0) {
            Some(_) => {
                "Fix that line; the file was run in a sandbox, without network, files or variables of yours."
            }
            None => "Change what the file asks for, then try again.",
        };
        return Err(Failure::new(format!("{}{detail}", path.display()), hint).into());
    }
    let found = answer.success()?;
    let entries: Vec<ToolEntry> = serde_json::from_value(found["tools"].clone())?;
    Ok(entries.iter().map(ToolEntry::definition).collect())
}

fn script(path: &Path, name: &str, text: String) -> Result<Vec<Wanted>> {
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

/// The function that a Python script should have and does not seem to have.
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

/// A script that is not next to the entry is expected to be in the home already.
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
