//! From the text of `tools.json` to the catalogue: at the start, and whenever somebody has edited the file.

use std::sync::{Arc, PoisonError};

use toolroom_contract::check::Stage;
use toolroom_contract::entry::ToolEntry;
use toolroom_contract::{FieldError, diff};

use super::error::ChangeError;
use super::file::{self, Written};
use super::{Registrar, tool_factory};
use crate::catalogue::{RegistryError, Tool};
use crate::registry_file::FileProblem;

/// What is in force.
#[derive(Default)]
pub(super) struct State {
    pub(super) held: Vec<Held>,
    /// The text on the disk that this came from; `None` before the first.
    pub(super) text: Option<blake3::Hash>,
    /// A text that was found wanting, so that it is told once.
    bad: Option<blake3::Hash>,
}

/// An entry in force.
#[derive(Clone)]
pub(super) struct Held {
    /// The tool's name in the catalogue.
    pub(super) name: String,
    pub(super) entry: ToolEntry,
    /// The entry as it is written.
    pub(super) text: String,
}

impl State {
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.held.iter().position(|held| held.name == name)
    }
}

impl Registrar {
    /// Puts the whole text in force, or nothing of it.
    pub(super) fn load(&self, state: &mut State, text: &str) -> Result<(), FileProblem> {
        let written = file::parse(&self.file, text)?;
        let mut held: Vec<Held> = Vec::with_capacity(written.len());
        let mut come = Vec::new();
        for (index, one) in written.into_iter().enumerate() {
            let problem = |error: ChangeError| self.problem(index, &one, error);
            let name = tool_factory::canonical(&one.entry.name).to_owned();
            if held.iter().any(|other| other.name == name) {
                let message = format!("another entry is already named '{name}'");
                return Err(problem(ChangeError::field("/name", message)));
            }
            let before = state.find(&name).map(|at| &state.held[at]);
            if before.is_none_or(|before| before.entry != one.entry) {
                come.push(self.ready(state, &one.entry).map_err(problem)?);
            }
            held.push(Held { name, entry: one.entry, text: one.text });
        }
        let stays = |name: &String| held.iter().any(|held| held.name == *name);
        let go: Vec<String> =
            state.held.iter().map(|held| held.name.clone()).filter(|name| !stays(name)).collect();
        let gone: Vec<String> =
            come.iter().map(|tool| tool.name().to_owned()).chain(go.iter().cloned()).collect();
        // The first text is in force even if it is empty; a later one that changes no tool changes nothing.
        if !gone.is_empty() {
            let changed = self.runtime.registry.change(come, &go, || Ok::<(), RegistryError>(()));
            changed.map_err(|error| self.whole(error.to_string()))?;
        }
        for name in &gone {
            self.tool_factory.scripts.forget(name);
        }
        (state.held, state.text, state.bad) = (held, Some(blake3::hash(text.as_bytes())), None);
        Ok(())
    }

    /// Takes up an edit of the file, if there was one.
    pub(super) fn take_up_edit(&self, state: &mut State) -> Result<(), ChangeError> {
        let read = file::text_of(&self.file);
        let hash = read.as_ref().ok().map(|text| blake3::hash(text.as_bytes()));
        if hash.is_some() && hash == state.text {
            self.set_trouble(None);
            return Ok(());
        }
        let loaded = read.and_then(|text| self.load(state, &text));
        match loaded {
            Ok(()) => {
                tracing::info!(tools = state.held.len(), "tools.json was edited: the new entries are in use");
                self.set_trouble(None);
                Ok(())
            }
            Err(problem) => {
                if self.trouble().is_none() || state.bad != hash {
                    tracing::warn!(
                        remedy = problem.remedy,
                        "tools.json was edited and cannot be used, the tools stay as they were: {problem}"
                    );
                }
                state.bad = hash;
                self.set_trouble(Some(problem.clone()));
                Err(ChangeError::File(problem))
            }
        }
    }

    /// The tool of an entry, checked against the contract, the names that are taken, and its callers.
    pub(super) fn ready(&self, state: &State, entry: &ToolEntry) -> Result<Arc<Tool>, ChangeError> {
        let (new, stage) = self.tool_factory.make(entry)?;
        let name = new.definition.name.clone();
        let old = self.runtime.registry.get(&name);
        if old.is_some() && state.find(&name).is_none() {
            return Err(ChangeError::Taken(name));
        }
        // A removal date that was far enough off when it was set stays good; at the start, all were set.
        let set_before = state.text.is_none()
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

    fn set_trouble(&self, problem: Option<FileProblem>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    /// What is wrong with one entry, as a problem of the file.
    fn problem(&self, index: usize, at: &Written, error: ChangeError) -> FileProblem {
        match error {
            ChangeError::Invalid(fields) => {
                let pointer = fields.first().map(|field| field.pointer.clone()).unwrap_or_default();
                let messages: Vec<String> = fields.into_iter().map(|field| field.message).collect();
                file::unsound(&self.file, index, at, &pointer, messages.join("; "))
            }
            error @ (ChangeError::Taken(_) | ChangeError::Exists(_)) => {
                file::unsound(&self.file, index, at, "/name", error.to_string())
            }
            error => {
                let told = toolroom_contract::ToolError::from(error);
                let pointer = told.details.first().map(|field| field.pointer.clone()).unwrap_or_default();
                file::unsound(&self.file, index, at, &pointer, told.message)
            }
        }
    }

    fn whole(&self, message: String) -> FileProblem {
        FileProblem {
            file: self.file.clone(),
            line: 0,
            column: 0,
            field: String::new(),
            message,
            remedy: "Fix the entries, or restore the file from a backup.".to_owned(),
        }
    }
}

/// The lines of the checklist that failed, as fields of the entry.
fn unsound(error: RegistryError) -> ChangeError {
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
