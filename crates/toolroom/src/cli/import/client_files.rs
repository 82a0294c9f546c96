//! Where other programs keep their MCP servers, and how they write them.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Map, Value};

use crate::cli::connect::{client_files, json_file};
use crate::failure::Failure;

/// A program that has MCP servers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Program {
    Claude,
    VsCode,
    Cursor,
}

/// The largest file of settings.
const LARGEST: u64 = 16 << 20;

impl Program {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude",
            Self::VsCode => "VS Code",
            Self::Cursor => "Cursor",
        }
    }

    /// The files where it keeps them, of this folder first.
    pub(super) fn files(self) -> Vec<PathBuf> {
        let (here, clients): (&str, &[&str]) = match self {
            Self::Claude => (".mcp.json", &["claude-code", "claude-desktop"]),
            Self::VsCode => (".vscode/mcp.json", &["vscode"]),
            Self::Cursor => (".cursor/mcp.json", &["cursor"]),
        };
        let own = clients.iter().flat_map(|client| client_files(client));
        std::iter::once(PathBuf::from(here)).chain(own).filter(|file| file.is_file()).collect()
    }
}

/// The servers of a file, by name, as they are written there.
pub(super) fn servers(path: &Path) -> Result<Map<String, Value>> {
    let failed = |what: String| {
        Failure::new(format!("{}: {what}", path.display()), "Give a file with 'mcpServers' or 'servers'.")
    };
    let length = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if length > LARGEST {
        return Err(failed(format!("has more than {} MiB", LARGEST >> 20)).into());
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let file = json_file::value(text.trim_start_matches('\u{feff}'))
        .map_err(|error| failed(format!("is not JSON: {error}")))?;
    let mut found = Map::new();
    for place in ["/mcpServers", "/mcp_servers", "/servers", "/mcp/servers", "/context_servers"] {
        let servers = file.pointer(place).and_then(Value::as_object);
        found.extend(servers.into_iter().flatten().map(|(name, entry)| (name.clone(), entry.clone())));
    }
    // Claude Code keeps those of one folder apart.
    let here = std::env::current_dir().ok().and_then(|here| here.to_str().map(str::to_owned));
    let project = here.and_then(|here| file.get("projects")?.get(here)?.get("mcpServers")?.as_object());
    found.extend(project.into_iter().flatten().map(|(name, entry)| (name.clone(), entry.clone())));
    Ok(found)
}
