//! Importing an API: its tools come, change and go in one change of `tools.json`, after a plan of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use toolroom_contract::ToolError;
use toolroom_contract::diff::{self, Change};
use toolroom_contract::entry::ToolEntry;

use super::error::ChangeError;
use super::reload::{Registered, State};
use super::{Registrar, file, http_entry};
use crate::registry_file::{FileError, InForce, Origin};
use crate::secret_file::{SecretBook, SecretFile};

/// The tools of an API.
#[derive(Clone, Debug)]
pub struct Import {
    /// The name of the API.
    pub api: String,
    /// Entries of type `http` that name it.
    pub entries: Vec<ToolEntry>,
    /// All operations that the API has: tools of others are removed.
    pub operations: Vec<String>,
    /// Whether only tools that there are already are replaced.
    pub known_only: bool,
    /// Whether nothing is changed.
    pub plan: bool,
    /// Whether a person approves that the hosts get the secrets.
    pub approve_hosts: bool,
}

/// What an import changes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ImportPlan {
    /// What becomes of each tool.
    pub tools: Vec<ImportedTool>,
    /// The hosts that get secrets, and which.
    pub hosts: BTreeMap<String, BTreeSet<String>>,
}

/// What an import does with one tool.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ImportedTool {
    /// Its name.
    pub name: String,
    /// The operation that it calls.
    pub operation: String,
    /// What becomes of it.
    pub standing: Standing,
    /// What is different for its callers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub changes: Vec<Change>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// About how many tokens an agent reads of it.
    pub tokens: usize,
}

/// What becomes of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ImportStanding")]
pub enum Standing {
    New,
    Changed,
    Unchanged,
    Removed,
    /// It stays as it was, or away.
    Refused,
}

impl Registrar {
    /// Imports the tools of an API, or says what that would do.
    pub async fn import(self: &Arc<Self>, import: Import) -> Result<ImportPlan, ChangeError> {
        if import.entries.iter().any(|entry| api_of(entry) != Some(&*import.api)) {
            let message = format!("every tool must be of type \"http\" and name the API '{}'", import.api);
            return Err(ChangeError::field("/tools", message));
        }
        self.in_turn(move |me, turn| me.import_all(turn, import)).await
    }

    fn import_all(&self, turn: &mut InForce<State>, import: Import) -> Result<ImportPlan, ChangeError> {
        let state = &turn.state;
        let theirs = state.tools.iter().filter(|tool| api_of(&tool.entry) == Some(&import.api));
        let had: BTreeMap<String, &Registered> =
            theirs.filter_map(|tool| Some((operation_of(&tool.entry)?, tool))).collect();
        let (mut next, mut come, mut all) = (state.tools.clone(), Vec::new(), Vec::new());
        let mut hosts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut entries = Vec::with_capacity(import.entries.len());
        for mut entry in import.entries {
            match operation_of(&entry).and_then(|operation| had.get(&operation)) {
                None if import.known_only => continue,
                None => {}
                Some(old) => {
                    entry = carried_over(&old.entry, entry)
                        .map_err(|error| FileError::Aborted(error.to_string()))?;
                }
            }
            entries.push(entry);
        }
        let prepared = self.entries.all_ready(state, &entries.iter().collect::<Vec<_>>(), Origin::File);
        for (mut entry, mut prepared) in entries.into_iter().zip(prepared) {
            let operation = operation_of(&entry).unwrap_or_default();
            let old = had.get(&operation).copied();
            let mut tool = ImportedTool {
                name: entry.name.clone(),
                operation,
                standing: if old.is_some() { Standing::Changed } else { Standing::New },
                changes: Vec::new(),
                reason: None,
                tokens: tokens(&entry),
            };
            if old.is_some_and(|old| old.entry == entry) {
                tool.standing = Standing::Unchanged;
                all.push(tool);
                continue;
            }
            let is_free = |name: &str| old.is_some() || next.iter().all(|one| one.name != name);
            if !is_free(&entry.name) {
                prepared = Err(ChangeError::Exists(entry.name.clone()));
            }
            // A name that others have gets that of the API in front.
            if let (None, Err(ChangeError::Exists(_) | ChangeError::Taken(_))) = (old, &prepared)
                && let Some(longer) = with_api(&import.api, &entry.name).filter(|longer| is_free(longer))
            {
                let short = std::mem::replace(&mut entry.name, longer);
                match self.entries.ready(state, &entry) {
                    Ok(ready) => {
                        tool.name.clone_from(&entry.name);
                        prepared = Ok(ready);
                    }
                    Err(_) => entry.name = short,
                }
            }
            match prepared {
                Err(error) => {
                    tool.standing = Standing::Refused;
                    tool.reason = Some(ToolError::from(error).message);
                }
                Ok(ready) => {
                    tool.changes = old.map_or_else(Vec::new, |old| {
                        diff::diff(&old.entry.definition(), &entry.definition())
                    });
                    for (secret, host) in entry.config.request.iter().flat_map(http_entry::secret_hosts) {
                        hosts.entry(host).or_default().insert(secret);
                    }
                    let text =
                        file::render_entry(&entry).map_err(|error| FileError::Aborted(error.to_string()))?;
                    let registered = Registered { name: entry.name.clone(), entry, text };
                    match next.iter().position(|one| one.name == registered.name) {
                        Some(at) => next[at] = registered,
                        None => next.push(registered),
                    }
                    come.push(ready);
                }
            }
            all.push(tool);
        }
        let stays: BTreeSet<&String> = import.operations.iter().collect();
        let mut go = Vec::new();
        for (operation, old) in had.iter().filter(|(operation, _)| !stays.contains(operation)) {
            let (name, operation) = (old.name.clone(), operation.clone());
            go.push(name.clone());
            let standing = Standing::Removed;
            all.push(ImportedTool {
                name,
                operation,
                standing,
                changes: Vec::new(),
                reason: None,
                tokens: 0,
            });
        }
        next.retain(|tool| !go.contains(&tool.name));
        if !import.plan {
            if import.approve_hosts {
                let pairs = hosts.iter().flat_map(|(host, secrets)| {
                    secrets.iter().map(move |secret| (secret.clone(), host.clone()))
                });
                let allow = |book: &mut SecretBook| {
                    book.allow(pairs);
                    Ok(())
                };
                match &self.shared {
                    Some(shared) => shared.change_secrets_in_turn(allow)?,
                    None => SecretFile::beside(&self.entries.tool_factory.tools)
                        .change(allow)
                        .map_err(FileError::Disk)?,
                }
            }
            if !come.is_empty() || !go.is_empty() {
                self.commit(turn, next, come, &go, None)?;
            }
        }
        Ok(ImportPlan { tools: all, hosts })
    }
}

/// The new entry under the name and version of the old, with what a person wants to keep.
fn carried_over(old: &ToolEntry, mut new: ToolEntry) -> Result<ToolEntry, serde_json::Error> {
    new.name.clone_from(&old.name);
    new.version.clone_from(&old.version);
    new.config.limits.clone_from(&old.config.limits);
    let kept = old.config.request.as_ref().map_or(&[][..], |request| &request.keep);
    if kept.is_empty() {
        return Ok(new);
    }
    let old_fields = serde_json::to_value(old)?;
    let mut fields = serde_json::to_value(&new)?;
    for name in kept {
        match (old_fields.get(name), fields.as_object_mut()) {
            (Some(value), Some(fields)) => fields.insert(name.clone(), value.clone()),
            (None, Some(fields)) => fields.remove(name),
            _ => None,
        };
    }
    fields["config"]["request"]["keep"] = json!(kept);
    serde_json::from_value(fields)
}

/// The longest name that every client takes.
const LONGEST_NAME: usize = 64;

/// A name with that of its API in front, where it fits.
fn with_api(api: &str, name: &str) -> Option<String> {
    let longer = format!("{}-{name}", api.replace('.', "-"));
    (longer.len() <= LONGEST_NAME).then_some(longer)
}

fn api_of(entry: &ToolEntry) -> Option<&str> {
    entry.config.request.as_ref().map(|request| request.api.as_str())
}

fn operation_of(entry: &ToolEntry) -> Option<String> {
    entry.config.request.as_ref().map(|request| request.operation())
}

/// What an agent reads of a tool, at four characters each.
fn tokens(entry: &ToolEntry) -> usize {
    let parameters = entry.parameters.as_ref().map_or(0, |schema: &Value| schema.to_string().len());
    (entry.name.len() + entry.description.len() + parameters) / 4
}
