//! From the text of `tools.json` to the catalogue: at the start, and whenever somebody has edited the file.

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use toolroom_contract::check::Stage;
use toolroom_contract::entry::ToolEntry;
use toolroom_contract::{FieldError, diff};

use super::error::ChangeError;
use super::file::{self, Written};
use super::{ToolEntries, tool_factory};
use crate::catalogue::{Executor, RegistryError, Tool};
use crate::registry_file::{Entries, FileProblem, Origin, Scope};

/// So many entries are made ready before threads for them would have started.
const FEW: usize = 16;

/// What is in use.
#[derive(Default)]
pub struct State {
    pub(super) tools: Vec<Registered>,
    /// Whether a text was put in force.
    loaded: bool,
}

/// An entry in use.
#[derive(Clone)]
pub(super) struct Registered {
    /// The tool's name in the catalogue.
    pub(super) name: String,
    pub(super) entry: ToolEntry,
    /// The entry as it is written.
    pub(super) text: String,
}

impl State {
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.tools.iter().position(|tool| tool.name == name)
    }
}

impl Entries for ToolEntries {
    type State = State;
    const EMPTY: &'static str = "{\"tools\": []}";
    const SCOPE: Scope = Scope::Folder;

    fn load(&self, path: &Path, state: &mut State, text: &str, origin: Origin) -> Result<(), FileProblem> {
        let (written, come) = self.read(path, state, text, origin)?;
        let named = |one: Written| {
            let name = tool_factory::canonical(&one.entry.name).to_owned();
            Registered { name, entry: one.entry, text: one.text }
        };
        let tools: Vec<Registered> = written.into_iter().map(named).collect();
        let stays = |name: &String| tools.iter().any(|tool| tool.name == *name);
        let mut go: Vec<String> =
            state.tools.iter().map(|tool| tool.name.clone()).filter(|name| !stays(name)).collect();
        let gone: Vec<String> =
            come.iter().map(|tool| tool.name().to_owned()).chain(go.iter().cloned()).collect();
        if origin == Origin::SharedRegistry {
            // Which tool has a name was settled where the registry was changed.
            go.extend(
                come.iter().map(|tool| tool.name()).filter(|name| self.is_remote(name)).map(str::to_owned),
            );
        }
        // The first text is applied even if it is empty; a later one that changes no tool changes nothing.
        if !gone.is_empty() {
            let changed = self.runtime.registry.change(come, &go, || Ok::<(), RegistryError>(()));
            let remedy = "Fix the entries, or restore the file from a backup.";
            changed.map_err(|error| FileProblem::whole(path, error.to_string(), remedy))?;
        }
        for name in &gone {
            self.tool_factory.scripts.forget(name);
        }
        (state.tools, state.loaded) = (tools, true);
        Ok(())
    }

    fn check(&self, path: &Path, state: &State, text: &str) -> Result<(), FileProblem> {
        self.read(path, state, text, Origin::File).map(drop)
    }
}

impl ToolEntries {
    /// The entries of a text, and the tools of those that are new or different, ready to be registered.
    fn read(
        &self,
        path: &Path,
        state: &State,
        text: &str,
        origin: Origin,
    ) -> Result<(Vec<Written>, Vec<Arc<Tool>>), FileProblem> {
        let written = file::parse(path, text)?;
        let mut names = HashSet::with_capacity(written.len());
        let mut changed = Vec::new();
        for (index, one) in written.iter().enumerate() {
            let name = tool_factory::canonical(&one.entry.name);
            if !names.insert(name) {
                let message = format!("another entry is already named '{name}'");
                return Err(problem_of(path, index, one, ChangeError::field("/name", message)));
            }
            let before = state.find(name).map(|at| &state.tools[at]);
            if before.is_none_or(|before| before.entry != one.entry) {
                changed.push(index);
            }
        }
        let entries: Vec<&ToolEntry> = changed.iter().map(|&index| &written[index].entry).collect();
        let mut come = Vec::with_capacity(entries.len());
        for (&index, ready) in changed.iter().zip(self.all_ready(state, &entries, origin)) {
            come.push(ready.map_err(|error| problem_of(path, index, &written[index], error))?);
        }
        Ok((written, come))
    }
}

impl ToolEntries {
    /// [`ready`](Self::ready) for each entry, on every processor if there are many.
    pub(super) fn all_ready(
        &self,
        state: &State,
        entries: &[&ToolEntry],
        origin: Origin,
    ) -> Vec<Result<Arc<Tool>, ChangeError>> {
        let prepare = |part: &[&ToolEntry]| -> Vec<_> {
            part.iter().map(|entry| self.ready_from(state, entry, origin)).collect()
        };
        if entries.len() <= FEW {
            return prepare(entries);
        }
        let processors = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let parts = entries.chunks(entries.len().div_ceil(processors));
            let working: Vec<_> = parts.map(|part| scope.spawn(move || prepare(part))).collect();
            let done =
                working.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
            done.flatten().collect()
        })
    }

    /// The tool of an entry, checked against the contract, the names that are taken, and its callers.
    pub(super) fn ready(&self, state: &State, entry: &ToolEntry) -> Result<Arc<Tool>, ChangeError> {
        self.ready_from(state, entry, Origin::File)
    }

    fn ready_from(&self, state: &State, entry: &ToolEntry, origin: Origin) -> Result<Arc<Tool>, ChangeError> {
        let (new, stage) = self.tool_factory.make(entry)?;
        if state.loaded {
            self.tool_factory.openings(entry, true)?;
        }
        let name = new.definition.name.clone();
        let is_checked = origin == Origin::SharedRegistry;
        let old = self.runtime.registry.get(&name).filter(|_| !(is_checked && self.is_remote(&name)));
        if old.is_some() && state.find(&name).is_none() {
            return Err(ChangeError::Taken(name));
        }
        // A removal date that was far enough off when it was set stays good; at the start, all were set.
        let set_before = !state.loaded
            || is_checked
            || old.as_ref().is_some_and(|old| old.definition().deprecated == new.definition.deprecated);
        let stage = stage.unwrap_or(if set_before {
            Stage::Loaded
        } else {
            Stage::Registering(self.runtime.today())
        });
        let tool = self.runtime.registry.prepare(new, stage).map_err(unsound)?;
        if let Some(old) = old.filter(|_| !is_checked) {
            let changes = diff::diff(old.definition(), tool.definition());
            if diff::is_refused(old.definition(), &changes) {
                return Err(ChangeError::Breaking { name, changes });
            }
        }
        Ok(tool)
    }
}

impl ToolEntries {
    /// Whether a name in the catalogue is that of another server's tool.
    fn is_remote(&self, name: &str) -> bool {
        let tool = self.runtime.registry.get(name);
        tool.is_some_and(|tool| matches!(tool.executor, Executor::Upstream(_)))
    }
}

/// What is wrong with one entry, as a problem of the file.
fn problem_of(path: &Path, index: usize, at: &Written, error: ChangeError) -> FileProblem {
    match error {
        ChangeError::Invalid(fields) => {
            let pointer = fields.first().map(|field| field.pointer.clone()).unwrap_or_default();
            let messages: Vec<String> = fields.into_iter().map(|field| field.message).collect();
            file::unsound(path, index, at, &pointer, messages.join("; "))
        }
        error @ (ChangeError::Taken(_) | ChangeError::Exists(_)) => {
            file::unsound(path, index, at, "/name", error.to_string())
        }
        error => {
            let told = toolroom_contract::ToolError::from(error);
            let pointer = told.details.first().map(|field| field.pointer.clone()).unwrap_or_default();
            file::unsound(path, index, at, &pointer, told.message)
        }
    }
}

/// The lines of the checklist that failed, as fields of the entry.
pub(super) fn unsound(error: RegistryError) -> ChangeError {
    let RegistryError::Unsound { findings, .. } = error else { return ChangeError::Registry(error) };
    let field = |finding: toolroom_contract::Finding| FieldError {
        pointer: match finding.field {
            "" => String::new(),
            "parameters" => "/input_schema".to_owned(),
            "output" => "/output_schema".to_owned(),
            // What can be wrong about it is the timeout.
            "responseTime" => "/timeout".to_owned(),
            other => format!("/{other}"),
        },
        message: finding.message.unwrap_or_else(|| finding.line.to_owned()),
        expected: Some(finding.line.to_owned()),
        example: None,
    };
    ChangeError::Invalid(findings.into_iter().map(field).collect())
}
