//! `toolroom registry`: the registry as a folder that people edit and review, such as one under git.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Map, Value, json};
use toolroom_runtime::shared_registry::apply::{self, Files};

use super::Globals;
use crate::client::Client;
use crate::failure::Failure;
use crate::terminal::{self, Rows, Tint, cell, name_cell, plain, tinted};

const PATH: &str = "/api/v1/registry";

/// Write the registry to a folder, or make a folder the registry of servers that share a database
#[derive(Debug, Args)]
pub struct Registry {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Write tools, scripts, profiles and servers to a folder
    #[command(after_help = "Example:
  toolroom registry export ./registry
  git -C ./registry diff

The folder becomes what the registry is: files in its 'tools' that the registry
does not have are removed.")]
    Export {
        /// The folder: a new one, or one that was exported to before
        folder: PathBuf,
    },
    /// Show what a folder would change in the registry of all servers; with --yes, change it
    #[command(
        visible_alias = "import",
        after_help = "Example:
  toolroom registry apply ./registry
  toolroom registry apply ./registry --yes

It is one change: every server serves all of it when the command ends. What the
folder has no part of stays: the tools, if it has no tools/tools.json, and each
of mcp.json and profiles.json."
    )]
    Apply {
        /// The folder, laid out like a home: tools/, mcp.json, profiles.json
        folder: PathBuf,
        /// Make the change
        #[arg(long)]
        yes: bool,
    },
}

impl Registry {
    pub fn needs_home(&self) -> bool {
        matches!(self.verb, Verb::Export { .. })
    }

    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let client = globals.client().await?;
        let done = match &self.verb {
            Verb::Export { folder } => export(globals, &client, folder).await,
            Verb::Apply { folder, yes } => apply(globals, &client, folder, *yes).await,
        };
        client.close().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

async fn export(globals: &Globals, client: &Client, folder: &Path) -> Result<()> {
    let is_new = fs::read_dir(folder).map_or(true, |mut found| found.next().is_none());
    if !is_new && !folder.join("tools/tools.json").is_file() {
        let message = format!("{} has other things in it", folder.display());
        return Err(Failure::usage(message, "Name a new folder, or one that was exported to before.").into());
    }
    let registry = client.get(PATH).await?;
    let files = registry["files"].as_object().cloned().unwrap_or_default();
    let there = apply::files_in(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for gone in there.keys().filter(|path| !files.contains_key(*path)) {
        fs::remove_file(folder.join(gone)).with_context(|| format!("cannot remove {gone}"))?;
    }
    for (path, file) in &files {
        write(&folder.join(path), file).with_context(|| format!("cannot write {path}"))?;
    }
    let version = &registry["version"];
    if globals.json {
        terminal::say_json(&json!({ "folder": folder, "version": version, "files": files.len() }))?;
    } else {
        let count = files.len();
        terminal::say(&format!("{}: {count} files, version {version}", folder.display()))?;
    }
    Ok(())
}

fn write(path: &Path, file: &Value) -> Result<()> {
    let bytes = match (file["text"].as_str(), file["base64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, coded) => STANDARD.decode(coded.unwrap_or_default())?,
    };
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    fs::write(path, bytes)?;
    let mode = if file["executable"] == true { 0o755 } else { 0o644 };
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(mode))?)
}

async fn apply(globals: &Globals, client: &Client, folder: &Path, yes: bool) -> Result<()> {
    let files = apply::files_in(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    if files.is_empty() {
        let message = format!("{} has no part of a registry", folder.display());
        let hint =
            "Name a folder with tools/tools.json, mcp.json or profiles.json: toolroom registry export DIR";
        return Err(Failure::usage(message, hint).into());
    }
    let files = as_json(files);
    let plan = client.request_large(Method::PUT, PATH, &json!({ "files": &files, "plan": true })).await?;
    let changes = plan["changes"].as_array().cloned().unwrap_or_default();
    if !globals.json {
        show(&changes)?;
    }
    let mut done = plan;
    if yes && !changes.is_empty() {
        let body = json!({ "files": files, "version": done["version"] });
        done = client.request_large(Method::PUT, PATH, body).await?;
    }
    if globals.json {
        done["applied"] = json!(yes && !changes.is_empty());
        return Ok(terminal::say_json(&done)?);
    }
    match (changes.is_empty(), yes) {
        (true, _) => {}
        (false, true) => terminal::say(&format!("every server serves version {}", done["version"]))?,
        (false, false) => terminal::remark("nothing was changed; --yes makes the change"),
    }
    Ok(())
}

fn show(changes: &[Value]) -> Result<()> {
    let mut rows = Rows::new(&["kind", "name", ""]);
    for change in changes {
        let tint = match change["standing"].as_str() {
            Some("new") => Tint::Good,
            Some("removed") => Tint::Bad,
            _ => Tint::Warn,
        };
        let standing = tinted(plain(&change["standing"]), tint);
        rows.add([cell(plain(&change["kind"])), name_cell(plain(&change["name"])), standing]);
    }
    Ok(rows.say("the registry is what the folder says")?)
}

fn as_json(files: Files) -> Map<String, Value> {
    let file = |(path, text): (String, toolroom_store::registry::Text)| {
        let mut file = match String::from_utf8(text.body.unwrap_or_default()) {
            Ok(text) => json!({ "text": text }),
            Err(bytes) => json!({ "base64": STANDARD.encode(bytes.as_bytes()) }),
        };
        file["executable"] = json!(text.is_executable);
        (path, file)
    };
    files.into_iter().map(file).collect()
}
