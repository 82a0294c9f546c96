//! Reads `tools.json` and `mcp.json`, and says exactly what is wrong with them.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolroom_contract::entry::ToolEntry;

use super::Home;
use crate::failure::Failure;

/// `tools/tools.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolsFile {
    /// The entries.
    pub tools: Vec<ToolEntry>,
}

/// `mcp.json`. Other programs keep fields of their own in it.
#[derive(Debug, Default, Deserialize)]
pub struct ServersFile {
    /// The servers, as other clients write them.
    #[serde(default, rename = "mcpServers")]
    pub camel: Map<String, Value>,
    /// The servers, under the other spelling.
    #[serde(default, rename = "mcp_servers")]
    pub snake: Map<String, Value>,
}

/// Both registry files.
#[derive(Debug)]
pub struct Registry {
    /// The tools.
    pub tools: ToolsFile,
    /// The servers.
    pub servers: ServersFile,
}

impl Home {
    /// Reads the registry; the first thing that is wrong ends it.
    pub fn registry(&self) -> Result<Registry, Failure> {
        Ok(Registry {
            tools: read(&self.tools(), "{\"tools\": []}")?,
            servers: read(&self.servers(), "{\"mcpServers\": {}}")?,
        })
    }
}

/// Reads one file; `empty` is what it holds when it has no entries.
pub fn read<T: DeserializeOwned>(path: &Path, empty: &str) -> Result<T, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => format!("Put the file back, or start it anew with {empty}"),
            _ => "Mend the file's rights, or put it back from a copy.".to_owned(),
        };
        Failure::new(format!("{}: {error}", path.display()), hint)
    })?;
    let mut reader = serde_json::Deserializer::from_str(&text);
    let read = serde_path_to_error::deserialize(&mut reader);
    let value = read.map_err(|error| {
        let field = error.path().to_string();
        malformed(path, error.inner(), if field == "." { "" } else { &field }, empty)
    })?;
    reader.end().map_err(|error| malformed(path, &error, "", empty))?;
    Ok(value)
}

fn malformed(path: &Path, error: &serde_json::Error, field: &str, empty: &str) -> Failure {
    let field = if field.is_empty() { String::new() } else { format!(", field '{field}'") };
    let place = format!("{}:{}:{}", path.display(), error.line(), error.column());
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or(&text);
    Failure::new(
        format!("{place}{field}: {reason}"),
        format!("Mend that line; a file without entries reads {empty}"),
    )
}
