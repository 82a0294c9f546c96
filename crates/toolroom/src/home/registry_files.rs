//! Reads `tools.json` and `mcp.json`, and says exactly what is wrong with them.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolroom_runtime::registrar::{self, FileProblem, Written};

use super::Home;
use crate::failure::Failure;

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

impl Home {
    /// Reads both registry files, before anything else is touched; the first thing that is wrong ends it.
    /// The registrar looks at the tools, so that only the servers are given back.
    pub fn registry(&self) -> Result<ServersFile, Failure> {
        read_tools(&self.tools())?;
        read(&self.servers(), "{\"mcpServers\": {}}")
    }
}

/// Reads `tools.json`.
pub fn read_tools(path: &Path) -> Result<Vec<Written>, Failure> {
    registrar::read(path).map_err(of_problem)
}

/// A problem of `tools.json` as a failure of the command.
pub fn of_problem(problem: FileProblem) -> Failure {
    Failure::new(problem.to_string(), problem.remedy)
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
