//! From the text of `tools.json` to the catalogue: at the start, and whenever somebody has edited the file.

use std::path::Path;
use std::sync::Arc;

use toolroom_contract::check::Stage;
use toolroom_contract::entry::ToolEntry;
use toolroom_contract::{FieldError, diff};

use super::error::ChangeError;
use super::file::{self, Written};
use super::{ToolEntries, tool_factory};
use crate::catalogue::{RegistryError, Tool};
use crate::registry_file::{Entries, FileProblem, Scope};

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

    fn load(&self, path: &Path, state: &mut State, text: &str) -> Result<(), FileProblem> {
        let written = file::parse(path, text)?;
        let mut tools: Vec<Registered> = Vec::with_capacity(written.len());
        let mut come = Vec::new();
        for (index, one) in written.into_iter().enumerate() {
            let problem = |error: ChangeError| problem_of(path, index, &one, error);
            let name = tool_factory::canonical(&one.entry.name).to_owned();
            if tools.iter().any(|other| other.name == name) {
                let message = format!("another entry is already named '{name}'");
                return Err(problem(ChangeError::field("/name", message)));
            }
            let before = state.find(&name).map(|at| &state.tools[at]);
            if before.is_none_or(|before| before.entry != one.entry) {
                come.push(self.ready(state, &one.entry).map_err(problem)?);
            }
            tools.push(Registered { name, entry: one.entry, text: one.text });
        }
        let stays = |name: &String| tools.iter().any(|tool| tool.name == *name);
        let go: Vec<String> =
            state.tools.iter().map(|tool| tool.name.clone()).filter(|name| !stays(name)).collect();
        let gone: Vec<String> =
            come.iter().map(|tool| tool.name().to_owned()).chain(go.iter().cloned()).collect();
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
}

impl ToolEntries {
    /// The tool of an entry, checked against the contract, the names that are taken, and its callers.
    pub(super) fn ready(&self, state: &State, entry: &ToolEntry) -> Result<Arc<Tool>, ChangeError> {
        let (new, stage) = self.tool_factory.make(entry)?;
        let name = new.definition.name.clone();
        let old = self.runtime.registry.get(&name);
        if old.is_some() && state.find(&name).is_none() {
            return Err(ChangeError::Taken(name));
        }
        // A removal date that was far enough off when it was set stays good; at the start, all were set.
        let set_before = !state.loaded
            || old.as_ref().is_some_and(|old| old.definition().deprecated == new.definition.deprecated);
        let stage = stage.unwrap_or(if set_before {
            Stage::Loaded
        } else {
            Stage::Registering(self.runtime.today())
        });
        let tool = self.runtime.registry.prepare(new, stage).map_err(unsound)?;
        if let Some(old) = old {
            let changes = diff::diff(old.definition(), tool.definition());
            if diff::is_refused(old.definition(), &changes) {
                return Err(ChangeError::Breaking { name, changes });
            }
        }
        Ok(tool)
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
