//! A registered tool with the text of its script, as one reads it before one changes it.

use std::fs;
use std::io;

use toolroom_contract::canonical::digest;
use toolroom_contract::entry::ToolEntry;

use super::error::ChangeError;
use super::reload::State;
use super::{Registrar, tool_factory};
use crate::registry_file::FileError;

/// An entry, and the text of its script.
#[derive(Clone, Debug)]
pub struct RegisteredScript {
    pub entry: ToolEntry,
    pub script: String,
}

impl RegisteredScript {
    /// Changes whenever the entry or the script does; quoted, as HTTP wants it.
    pub fn tag(&self) -> String {
        let entry = serde_json::to_value(&self.entry).unwrap_or_default();
        format!("\"{}\"", &digest(self.script.as_bytes(), &entry).to_hex()[..32])
    }
}

impl Registrar {
    /// The entry of that name with its script; nothing if there is none, or if it has no script.
    pub async fn read_registered(&self, name: &str) -> Result<Option<RegisteredScript>, ChangeError> {
        let name = tool_factory::canonical(name);
        self.in_force(|state| self.registered(state, name)).await
    }

    /// The path of a tool's script, below the folder of the tools.
    pub async fn script_of(&self, name: &str) -> Option<String> {
        let name = tool_factory::canonical(name);
        self.in_force(|state| state.tools[state.find(name)?].entry.config.script_path.clone()).await
    }

    pub(super) fn registered(
        &self,
        state: &State,
        name: &str,
    ) -> Result<Option<RegisteredScript>, ChangeError> {
        let Some(entry) = state.find(name).map(|at| &state.tools[at].entry) else { return Ok(None) };
        let Some(path) = &entry.config.script_path else { return Ok(None) };
        let path = self.entries.tool_factory.script_path(path)?;
        let script = match fs::read(path) {
            Ok(bytes) => String::from_utf8(bytes).map_err(|_| {
                ChangeError::field("/config/script_path", "is a program, not text; it cannot be edited here")
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(FileError::Disk(error).into()),
        };
        Ok(Some(RegisteredScript { entry: entry.clone(), script }))
    }
}
