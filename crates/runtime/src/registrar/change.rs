//! One change of `tools.json`: checked whole, written, then visible.

use std::path::PathBuf;
use std::sync::Arc;

use semver::Version;
use toolroom_contract::entry::{EntryKind, ToolEntry};
use toolroom_store::registry::Text;

use super::error::ChangeError;
use super::reload::{Registered, State};
use super::{FileTools, Registrar, Registration, file, tool_factory};
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
        let Registration { entry, script } = registration;
        let (mut tools, created) = self.store_all(turn, vec![entry], script, replace, &[])?;
        match tools.pop() {
            Some(tool) => Ok((tool, created)),
            None => Err(FileError::Aborted("no tool was made".to_owned()).into()),
        }
    }

    /// Registers the tools of a script, in place of those that it had before.
    pub(super) fn store_file(
        &self,
        turn: &mut InForce<State>,
        entries: Vec<ToolEntry>,
        text: String,
        replace: bool,
    ) -> Result<FileTools, ChangeError> {
        let script = entries.first().and_then(|entry| entry.config.script_path.clone());
        let is_left = |name: &str| entries.iter().any(|entry| entry.name == name);
        let had = turn.state.tools.iter().filter(|tool| tool.entry.config.script_path == script);
        let removed: Vec<String> = had.map(|tool| tool.name.clone()).filter(|name| !is_left(name)).collect();
        let removed = if replace { removed } else { Vec::new() };
        let (tools, _) = self.store_all(turn, entries, Some(text), replace, &removed)?;
        Ok(FileTools { tools, removed })
    }

    /// One change: these come, those go, and the script of the first is written. Whether all are new.
    fn store_all(
        &self,
        turn: &mut InForce<State>,
        entries: Vec<ToolEntry>,
        script: Option<String>,
        replace: bool,
        go: &[String],
    ) -> Result<(Vec<Arc<Tool>>, bool), ChangeError> {
        let state = &turn.state;
        let mut next = state.tools.clone();
        next.retain(|tool| !go.contains(&tool.name));
        let (mut tools, mut names, mut created) = (Vec::new(), Vec::new(), true);
        for mut entry in entries {
            let name = tool_factory::canonical(&entry.name).to_owned();
            // A file that names no version keeps the one that was published.
            let had = state.find(&name).and_then(|at| state.tools[at].entry.version.clone());
            entry.version = entry.version.or(had);
            if state.find(&name).is_some() && !replace {
                return Err(ChangeError::Exists(name));
            }
            tools.push(self.entries.ready(state, &entry)?);
            let text = file::render_entry(&entry).map_err(|error| FileError::Aborted(error.to_string()))?;
            let registered = Registered { name: name.clone(), entry, text };
            match next.iter().position(|tool| tool.name == name) {
                Some(at) => {
                    created = false;
                    next[at] = registered;
                }
                None => next.push(registered),
            }
            names.push(name);
        }
        let first = names.first().and_then(|name| next.iter().find(|tool| tool.name == *name));
        let script = match (script, first) {
            (Some(text), Some(first)) => Some(self.script(&next, first, &names, text)?),
            _ => None,
        };
        self.commit(turn, next, tools.clone(), go, script)?;
        names.iter().chain(go).for_each(|name| self.scripts().forget(name));
        Ok((tools, created))
    }

    /// Makes a draft a published tool, whose callers nothing may break from then on.
    pub(super) fn release(&self, turn: &mut InForce<State>, name: &str) -> Result<Arc<Tool>, ChangeError> {
        let Some(at) = turn.state.find(name) else { return Err(ChangeError::NotFound(name.to_owned())) };
        let mut entry = turn.state.tools[at].entry.clone();
        if entry.definition().version.major >= 1 {
            return Err(ChangeError::Published(name.to_owned()));
        }
        entry.version = Some(Version::new(1, 0, 0));
        let (tool, _) = self.store(turn, Registration { entry, script: None }, true)?;
        Ok(tool)
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

    pub(super) fn commit(
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
            let beside = script.iter().map(ScriptFile::document).collect();
            let written = script.map(|script| script.write(disk)).transpose().map_err(FileError::Disk)?;
            self.save_with(turn, text, beside).inspect_err(|_| {
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
    fn script(
        &self,
        all: &[Registered],
        tool: &Registered,
        together: &[String],
        text: String,
    ) -> Result<ScriptFile, ChangeError> {
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
        let other = all.iter().find(|other| {
            !together.contains(&other.name)
                && other.entry.config.script_path.as_deref() == script_path.as_deref()
        });
        if let Some(other) = other {
            let message = format!("is the script of '{}' too, which this text would change", other.name);
            return Err(ChangeError::field("/config/script_path", message));
        }
        let path = self.entries.tool_factory.script_path(script_path.as_deref().unwrap_or_default())?;
        if path.is_dir() {
            return Err(ChangeError::field("/config/script_path", "is a folder"));
        }
        let endings = ["py", "ts", "mts", "js", "mjs"];
        let imported = path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one));
        let tools = self.entries.tool_factory.tools.clone();
        Ok(ScriptFile { path, tools, text, mode: if imported { 0o600 } else { 0o700 } })
    }
}

/// A script that is to be written.
pub(super) struct ScriptFile {
    path: PathBuf,
    /// The folder of all scripts.
    tools: PathBuf,
    text: String,
    mode: u32,
}

impl ScriptFile {
    /// The same for a registry that servers share.
    fn document(&self) -> (PathBuf, Text) {
        let body = Some(self.text.clone().into_bytes());
        (self.path.clone(), Text { body, is_executable: self.mode & 0o100 != 0 })
    }

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
