//! `toolroom import claude | vscode | cursor | FILE`: takes over the MCP servers of other programs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use http::Method;
use serde_json::{Map, Value, json};
use toolroom_contract::text::shell_word;
use toolroom_runtime::federation::masked_arguments;

use super::client_files::{self, Program};
use crate::cli::Globals;
use crate::client::Client;
use crate::failure::Failure;
use crate::terminal::{self, Rows, Tint, cell, name_cell, plain, tinted};

/// Which servers, and whether to ask.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Choice {
    /// Only the server of this name; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Do not ask: add what is shown. Needed where there is no terminal
    #[arg(long)]
    yes: bool,
}

/// A server of another program.
struct Found {
    name: String,
    /// Its fields, as mcp.json has them; or why it is left out.
    entry: Result<Map<String, Value>, String>,
    notes: Vec<String>,
}

/// Takes over the servers of a program.
pub(super) async fn of_program(globals: &Globals, program: Program, choice: &Choice) -> Result<ExitCode> {
    let files = program.files();
    if files.is_empty() {
        let message = format!("no settings of {} were found", program.name());
        return Err(Failure::new(message, "Name the file: toolroom import FILE").into());
    }
    of_files(globals, &files, choice).await
}

/// Takes over the servers of files.
pub(super) async fn of_files(globals: &Globals, files: &[PathBuf], choice: &Choice) -> Result<ExitCode> {
    let client = globals.client().await?;
    let there = client.get("/api/v1/servers").await?;
    let there: Vec<String> =
        there["servers"].as_array().into_iter().flatten().map(|one| plain(&one["name"])).collect();
    let mut found: Vec<Found> = Vec::new();
    for file in files {
        for (name, written) in client_files::servers(file)? {
            if !choice.only.is_empty() && !choice.only.contains(&name) {
                continue;
            }
            let mut one = read(name, &written, file);
            if found.iter().any(|other| other.name == one.name) {
                one.entry = Err("a server above has the same name".to_owned());
            } else if there.contains(&one.name) {
                one.entry =
                    Err("mcp.json has a server of this name; remove or rename one of the two".to_owned());
            }
            found.push(one);
        }
    }
    if let Some(missing) = choice.only.iter().find(|name| !found.iter().any(|one| one.name == **name)) {
        return Err(Failure::new(format!("no server is named '{missing}'"), "Look without --only.").into());
    }
    let is_any = found.iter().any(|one| one.entry.is_ok());
    if !globals.json {
        show(&found, files)?;
        if is_any
            && !choice.yes
            && !terminal::is_confirmed("add these to mcp.json?")?.ok_or_else(nobody_to_ask)?
        {
            return Ok(ExitCode::SUCCESS);
        }
    } else if !choice.yes {
        return Err(nobody_to_ask().into());
    }
    let before: Vec<String> =
        found.iter().filter(|one| one.entry.is_ok()).map(|one| one.name.clone()).collect();
    let added = add(&client, &mut found).await;
    if globals.json {
        let left: Vec<Value> = found
            .iter()
            .filter_map(|one| Some(json!({ "name": one.name, "reason": one.entry.as_ref().err()? })))
            .collect();
        terminal::say_json(&json!({ "added": added, "leftOut": left }))?;
    } else {
        for one in found.iter().filter(|one| before.contains(&one.name)) {
            if let Err(reason) = &one.entry {
                terminal::remark(&format!("{} was not added: {reason}", one.name));
            }
        }
        for name in &added {
            let show = format!("toolroom servers show {} --start", shell_word(name));
            terminal::say(&format!("added {name}; see its tools: {show}"))?;
        }
        if added.is_empty() {
            terminal::say("nothing was added")?;
        }
    }
    client.close().await;
    Ok(if added.len() == before.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Adds each; one that is refused is left out, with the reason.
async fn add(client: &Client, found: &mut [Found]) -> Vec<String> {
    let mut added = Vec::new();
    for one in found {
        let Ok(entry) = &one.entry else { continue };
        let mut body = entry.clone();
        body.insert("name".to_owned(), one.name.clone().into());
        match client.request(Method::POST, "/api/v1/servers", Some(&body.into())).await {
            Ok(_) => added.push(one.name.clone()),
            Err(error) => one.entry = Err(error.to_string()),
        }
    }
    added
}

/// A server in the words of mcp.json. Fields that mean nothing here stay behind.
fn read(name: String, written: &Value, file: &Path) -> Found {
    let mut notes = Vec::new();
    let mut entry = Map::new();
    let first = |names: &[&str]| names.iter().find_map(|name| written.get(*name)).cloned();
    // Some write the program and its arguments as one list.
    match first(&["command", "cmd"]) {
        Some(Value::Array(words)) if !words.is_empty() => {
            entry.insert("command".to_owned(), words[0].clone());
            entry.insert("args".to_owned(), words[1..].into());
        }
        Some(command) => {
            entry.insert("command".to_owned(), command);
            entry.extend(first(&["args"]).map(|args| ("args".to_owned(), args)));
        }
        None => {
            entry.extend(first(&["url", "serverUrl", "httpUrl"]).map(|url| ("url".to_owned(), url)));
            entry.extend(first(&["headers", "http_headers"]).map(|headers| ("headers".to_owned(), headers)));
            let kind = first(&["type", "transport"]).filter(|kind| kind == "http" || kind == "sse");
            entry.extend(kind.map(|kind| ("type".to_owned(), kind)));
            // Who can write the home's files can name any address there.
            entry.insert("allow_private".to_owned(), true.into());
        }
    }
    entry.extend(first(&["env", "environment"]).map(|env| ("env".to_owned(), env)));
    entry.extend(first(&["cwd"]).map(|cwd| ("cwd".to_owned(), cwd)));
    let is_off = written.get("disabled") == Some(&Value::Bool(true))
        || written.get("enabled") == Some(&Value::Bool(false));
    if is_off {
        entry.insert("enabled".to_owned(), false.into());
        notes.push("it is switched off there, and here".to_owned());
    }
    let mut value = Value::Object(entry);
    rename_variables(&mut value, file, &mut notes);
    note_secrets(&value, &mut notes);
    let is_ours = |entry: &Value| {
        let program = entry["command"].as_str().and_then(|command| Path::new(command).file_name()?.to_str());
        program == Some("toolroom")
            || entry["url"].as_str().is_some_and(|url| url.contains("127.0.0.1:7878/mcp"))
    };
    let entry = match value {
        value if is_ours(&value) => Err("it is Toolroom itself".to_owned()),
        Value::Object(entry) if entry.contains_key("command") || entry.contains_key("url") => Ok(entry),
        _ => Err("it has neither a command nor a URL".to_owned()),
    };
    Found { name, entry, notes }
}

/// Variables of other programs in our spelling: `${env:KEY}` is `${KEY}`, what they ask for is a variable too.
fn rename_variables(value: &mut Value, file: &Path, notes: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| rename_variables(item, file, notes)),
        Value::Object(fields) => fields.values_mut().for_each(|field| rename_variables(field, file, notes)),
        Value::String(text) => {
            *text = text.replace("${env:", "${").replace("{env:", "${");
            while let Some((before, rest)) = text.split_once("${input:") {
                let Some((id, after)) = rest.split_once('}') else { break };
                let variable: String = id
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
                    .collect();
                notes.push(format!("set the variable {variable}, which it asks for"));
                *text = format!("{before}${{{variable}}}{after}");
            }
            if text.contains("${workspaceFolder}") {
                // Of a bare file name the parent is empty; of its whole path it is the folder.
                let whole = file.canonicalize().unwrap_or_else(|_| file.to_owned());
                let folder = whole.parent().map(|folder| match folder.parent() {
                    Some(above) if folder.ends_with(".vscode") => above,
                    _ => folder,
                });
                let folder = folder.unwrap_or(Path::new("/")).display().to_string();
                *text = text.replace("${workspaceFolder}", &folder);
                notes.push(format!("its workspace is {folder}"));
            }
        }
        _ => {}
    }
}

/// Keys that stand in the file itself.
fn note_secrets(entry: &Value, notes: &mut Vec<String>) {
    for place in ["env", "headers"] {
        for (name, value) in entry[place].as_object().into_iter().flatten() {
            let sounds = ["key", "token", "secret", "password", "authorization"]
                .iter()
                .any(|word| name.to_lowercase().contains(word));
            if sounds && value.as_str().is_some_and(|value| !value.is_empty() && !value.contains("${")) {
                notes.push(format!("{name} is a secret in plain text; better: ${{{name}}} in mcp.json"));
            }
        }
    }
}

fn show(found: &[Found], files: &[PathBuf]) -> Result<()> {
    for file in files {
        terminal::remark(&format!("from {}", file.display()));
    }
    let mut rows = Rows::new(&["server", "", "what it is", "note"]);
    for one in found {
        let (sign, tint, what) = match &one.entry {
            Ok(entry) => {
                let words = entry.get("args").and_then(Value::as_array).map(|args| masked_arguments(args));
                let words = words.map(|words| plain(&Value::Array(words))).unwrap_or_default();
                let what = entry.get("command").or(entry.get("url")).map(plain).unwrap_or_default();
                ("new", Tint::Good, format!("{what} {}", words.replace(", ", " ")))
            }
            Err(reason) => ("left out", Tint::Warn, reason.clone()),
        };
        let what: String = what.chars().take(100).collect();
        let first = one.notes.first().cloned().unwrap_or_default();
        rows.add([name_cell(&one.name), tinted(sign, tint), cell(what.trim_end()), cell(first)]);
        for note in one.notes.iter().skip(1) {
            rows.add([cell(""), cell(""), cell(""), cell(note)]);
        }
    }
    Ok(rows.say("there are no MCP servers")?)
}

fn nobody_to_ask() -> Failure {
    Failure::new("nothing was added: there is no terminal to ask on", "Add what is shown with --yes.")
}
