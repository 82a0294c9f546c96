//! A folder as the registry of all servers: what that would change, and the change, which is one version.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolroom_store::registry::{Kind, NewDocument, Text};

use super::copies::{self, may_hold};
use super::follow::{PROFILES, SERVERS, TOOLS};
use super::{Parts, SharedRegistry};
use crate::registry_file::{Entries, FileError, FileProblem, RegistryFile};

/// Files of a registry, by their paths in a home.
pub type Files = BTreeMap<String, Text>;

/// What a folder changes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "RegistryPlan")]
pub struct RegistryPlan {
    /// The version that it is compared with, or that it has become.
    pub version: i64,
    /// What is different.
    pub changes: Vec<PlannedChange>,
}

/// What becomes of one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RegistryChange")]
pub struct PlannedChange {
    /// `tool`, `server`, `profile` or `file`.
    pub kind: &'static str,
    pub name: String,
    /// `new`, `changed` or `removed`.
    pub standing: &'static str,
}

/// The registry files of a home, or of a folder that is laid out like one.
pub fn files_in(folder: &Path) -> std::io::Result<Files> {
    Ok(copies::read_files(folder)?.into_iter().map(|NewDocument { name, text, .. }| (name, text)).collect())
}

impl SharedRegistry {
    /// The newest version, with its files.
    pub async fn files(&self) -> Result<(i64, Files), FileError> {
        let (version, documents) = self.read_since(0).await?;
        let is_file = |document: &toolroom_store::registry::Document| {
            document.kind == Kind::File && document.text.body.is_some()
        };
        Ok((version, documents.into_iter().filter(is_file).map(|one| (one.name, one.text)).collect()))
    }

    /// Makes these files the registry, or says what that would change. What the folder has no part of stays: the tools,
    /// if there is no `tools/tools.json`, and each of the other files. `seen` is the version of the plan that was agreed to.
    pub async fn apply(
        self: &Arc<Self>,
        files: Files,
        plan: bool,
        seen: Option<i64>,
    ) -> Result<RegistryPlan, FileError> {
        let me = Arc::clone(self);
        // It is carried to its end even if nobody waits for it any more.
        let applied = tokio::spawn(async move {
            let turn = me.begin().await?;
            let applied = me.apply_in_turn(files, plan, seen).await;
            me.end(turn).await;
            applied
        });
        applied.await.unwrap_or_else(|error| Err(FileError::Aborted(error.to_string())))
    }

    async fn apply_in_turn(
        self: &Arc<Self>,
        files: Files,
        plan: bool,
        seen: Option<i64>,
    ) -> Result<RegistryPlan, FileError> {
        let (version, before) = self.files().await?;
        if seen.is_some_and(|seen| seen != version) {
            return Err(FileError::ChangedMeanwhile);
        }
        if let Some(name) = files.keys().find(|name| !may_hold(name)) {
            let remedy = "Leave it out: there are tools/, mcp.json and profiles.json.";
            return Err(FileProblem::whole(Path::new(name), "is no file of a registry", remedy).into());
        }
        let mut next: Vec<(String, Text)> =
            files.iter().filter(|(name, text)| before.get(*name) != Some(*text)).map(owned).collect();
        if files.contains_key(TOOLS) {
            let gone = before.keys().filter(|name| name.starts_with("tools/") && !files.contains_key(*name));
            next.extend(gone.map(|name| (name.clone(), Text::default())));
        }
        let me = Arc::clone(self);
        let next = blocking(move || me.check(&next).map(|()| next)).await?;
        let changes = changes(&before, &next);
        if plan || next.is_empty() {
            return Ok(RegistryPlan { version, changes });
        }
        let me = Arc::clone(self);
        let version = blocking(move || me.commit(next)).await?;
        Ok(RegistryPlan { version, changes })
    }

    /// Whether the texts can be in force. For threads that may block.
    fn check(&self, next: &[(String, Text)]) -> Result<(), FileError> {
        let Some(Parts { registrar, federation, profiles }) = self.parts.get() else { return Ok(()) };
        check(registrar.upgrade(), TOOLS, next)?;
        check(federation.upgrade(), SERVERS, next)?;
        check(profiles.upgrade(), PROFILES, next)
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, FileError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(FileError::Aborted(error.to_string())))
}

fn owned((name, text): (&String, &Text)) -> (String, Text) {
    (name.clone(), text.clone())
}

fn check<E: Entries>(
    file: Option<Arc<RegistryFile<E>>>,
    name: &str,
    next: &[(String, Text)],
) -> Result<(), FileError> {
    let (Some(file), Some((_, text))) = (file, next.iter().find(|(next, _)| next == name)) else {
        return Ok(());
    };
    let text = String::from_utf8(text.body.clone().unwrap_or_default())
        .map_err(|_| FileProblem::whole(Path::new(name), "it is not UTF-8", "Save the file as UTF-8."))?;
    file.check(name, &text)
}

/// What is different, entry by entry; other files as a whole.
fn changes(before: &Files, next: &[(String, Text)]) -> Vec<PlannedChange> {
    let mut changes = Vec::new();
    for (name, text) in next {
        let old = before.get(name);
        match name.as_str() {
            TOOLS => compare("tool", &tools(old), &tools(Some(text)), &mut changes),
            SERVERS => compare("server", &servers(old), &servers(Some(text)), &mut changes),
            PROFILES => compare("profile", &profiles(old), &profiles(Some(text)), &mut changes),
            _ => {
                let standing = match (old, &text.body) {
                    (_, None) => "removed",
                    (None, _) => "new",
                    (Some(_), Some(_)) => "changed",
                };
                changes.push(PlannedChange { kind: "file", name: name.clone(), standing });
            }
        }
    }
    changes
}

type Named = BTreeMap<String, Value>;

fn compare(kind: &'static str, before: &Named, after: &Named, changes: &mut Vec<PlannedChange>) {
    let mut add = |name: &String, standing| {
        changes.push(PlannedChange { kind, name: name.clone(), standing });
    };
    for (name, entry) in after {
        match before.get(name) {
            None => add(name, "new"),
            Some(old) if old != entry => add(name, "changed"),
            Some(_) => {}
        }
    }
    before.keys().filter(|name| !after.contains_key(*name)).for_each(|name| add(name, "removed"));
}

fn json(text: Option<&Text>) -> Value {
    let body = text.and_then(|text| text.body.as_deref());
    body.and_then(|body| serde_json::from_slice(body).ok()).unwrap_or_default()
}

fn tools(text: Option<&Text>) -> Named {
    let entries = json(text)["tools"].take();
    let named = |entry: Value| Some((entry.get("name")?.as_str()?.to_owned(), entry));
    entries.as_array().cloned().unwrap_or_default().into_iter().filter_map(named).collect()
}

fn servers(text: Option<&Text>) -> Named {
    let mut all = json(text);
    let sections = ["mcpServers", "mcp_servers"].map(|section| all[section].take());
    sections.into_iter().flat_map(members).collect()
}

fn profiles(text: Option<&Text>) -> Named {
    members(json(text)["profiles"].take()).collect()
}

fn members(value: Value) -> impl Iterator<Item = (String, Value)> {
    value.as_object().cloned().unwrap_or_default().into_iter()
}
