//! One change of `tools.json`: checked whole, written, then visible.

use std::path::PathBuf;
use std::sync::Arc;

use toolroom_contract::entry::EntryKind;

use super::error::ChangeError;
use super::reload::{Registered, State};
use super::{Registrar, Registration, file, tool_factory};
use crate::catalogue::Tool;
use crate::registry_file::{FileError, InForce, disk};

/// The longest text of a script that is taken.
const SCRIPT_LIMIT: usize = 4 << 20;

impl Registrar {
    /// Registers a tool; whether it is new.
    pub(super) fn store(
        &self,
        turn: &mut InForce<State>,
        registration: Registration,
        replace: bool,
    ) -> Result<(Arc<Tool>, bool), ChangeError> {
        let state = &turn.state;
        let Registration { entry, script } = registration;
        let name = tool_factory::canonical(&entry.name).to_owned();
        let at = state.find(&name);
        if at.is_some() && !replace {
            return Err(ChangeError::Exists(name));
        }
        let tool = self.entries.ready(state, &entry)?;
        let text = file::render_entry(&entry).map_err(|error| FileError::Aborted(error.to_string()))?;
        let registered = Registered { name: name.clone(), entry, text };
        let script = script.map(|text| self.script(state, &registered, text)).transpose()?;
        let mut next = state.tools.clone();
        match at {
            Some(at) => next[at] = registered,
            None => next.push(registered),
        }
        self.commit(turn, next, vec![Arc::clone(&tool)], &[], script)?;
        self.scripts().forget(&name);
        Ok((tool, at.is_none()))
    }

    /// Removes a tool.
    pub(super) fn take_out(&self, turn: &mut InForce<State>, name: &str) -> Result<(), ChangeError> {
        let Some(at) = turn.state.find(name) else { return Err(ChangeError::NotFound(name.to_owned())) };
        let mut next = turn.state.tools.clone();
        next.remove(at);
        self.commit(turn, next, Vec::new(), &[name.to_owned()], None)?;
        self.scripts().forget(name);
        Ok(())
    }

    fn commit(
        &self,
        turn: &mut InForce<State>,
        next: Vec<Registered>,
        come: Vec<Arc<Tool>>,
        go: &[String],
        script: Option<ScriptFile>,
    ) -> Result<(), ChangeError> {
        let text = file::render(next.iter().map(|tool| tool.text.as_str()));
        let persist = || {
            let disk = &*self.disk;
            let written = script.map(|script| script.write(disk)).transpose().map_err(FileError::Disk)?;
            self.save(turn, text).inspect_err(|_| {
                if let Some(written) = written {
                    written.restore(disk);
                }
            })?;
            Ok::<(), ChangeError>(())
        };
        self.entries.runtime.registry.change(come, go, persist)?;
        turn.state.tools = next;
        Ok(())
    }

    /// Where the text of a script goes, if it may go there.
    fn script(&self, state: &State, tool: &Registered, text: String) -> Result<ScriptFile, ChangeError> {
        let refuse = |message: &str| Err(ChangeError::field("/script", message));
        if tool.entry.kind == EntryKind::Builtin {
            return refuse("a built-in tool has no script");
        }
        if text.trim().is_empty() || text.contains('\0') {
            return refuse("must be the text of a script");
        }
        if text.len() > SCRIPT_LIMIT {
            return refuse("is larger than 4 MiB");
        }
        let script_path = &tool.entry.config.script_path;
        let other = state.tools.iter().find(|other| {
            other.name != tool.name && other.entry.config.script_path.as_deref() == script_path.as_deref()
        });
        if let Some(other) = other {
            let message = format!("is the script of '{}' too, which this text would change", other.name);
            return Err(ChangeError::field("/config/script_path", message));
        }
        let path = self.entries.tool_factory.script_path(script_path.as_deref().unwrap_or_default())?;
        if path.is_dir() {
            return Err(ChangeError::field("/config/script_path", "is a folder"));
        }
        let python = path.extension().is_some_and(|ending| ending == "py");
        let tools = self.entries.tool_factory.tools.clone();
        Ok(ScriptFile { path, tools, text, mode: if python { 0o600 } else { 0o700 } })
    }
}

/// A script that is to be written.
struct ScriptFile {
    path: PathBuf,
    /// The folder of all scripts.
    tools: PathBuf,
    text: String,
    mode: u32,
}

impl ScriptFile {
    fn write(self, disk: &dyn disk::Disk) -> std::io::Result<disk::Replaced> {
        if let Some(folder) = self.path.parent().filter(|folder| !folder.exists()) {
            std::fs::create_dir_all(folder)?;
            // A new folder is only there for good once the folder around it says so.
            let mut around = folder.ancestors().skip(1).take_while(|around| around.starts_with(&self.tools));
            around.try_for_each(|around| disk.sync_folder(around))?;
        }
        disk::replace(disk, &self.path, self.text.as_bytes(), self.mode)
    }
}
