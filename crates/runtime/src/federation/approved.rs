//! The definitions that a person approved, kept in a file of their own beside `mcp.json`; where servers share a registry,
//! in a document per server, of which the file is a copy.
//!
//! They are kept whole, so that the tools of a server are known before it answers, and when it does not.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolroom_contract::text::plain_reason;
use toolroom_store::registry::Document;
use toolroom_upstream::RemoteTool;

use crate::registry_file::problem::FileProblem;
use crate::registry_file::{Disk, disk};
use crate::shared_registry::{CopyDisk, SharedRegistry};

/// The approved definitions of all servers, and their file.
pub(super) struct ApprovedDefinitions {
    path: PathBuf,
    disk: Arc<dyn Disk>,
    /// Held while the file is written, so that what is in memory is what is on the disk.
    servers: Mutex<BTreeMap<String, ApprovedServer>>,
    shared: Option<Shared>,
}

/// Documents of a registry that servers share.
struct Shared {
    registry: Arc<SharedRegistry>,
    /// The version that each came with, also where it was removed. Locked after `servers`.
    versions: Mutex<BTreeMap<String, i64>>,
}

/// What was approved of one server, by the server's own names for its tools.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ApprovedServer {
    pub(super) tools: BTreeMap<String, ApprovedTool>,
    /// Whether it said that it has resources.
    #[serde(default)]
    pub(super) resources: bool,
    /// Whether it said that it has prompts.
    #[serde(default)]
    pub(super) prompts: bool,
    /// Whether no person has looked at it since an agent's key put it there, or pointed it elsewhere. Until then
    /// nothing of it is shown to callers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) unreviewed: bool,
}

/// One definition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ApprovedTool {
    pub(super) hash: String,
    pub(super) definition: Box<RawValue>,
    /// Whether it must be reviewed again, though it is the same: it may come from elsewhere now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) stale: bool,
}

#[derive(Deserialize)]
struct File {
    servers: BTreeMap<String, ApprovedServer>,
}

#[derive(Serialize)]
struct WrittenFile<'a> {
    servers: &'a BTreeMap<String, ApprovedServer>,
}

impl ApprovedTool {
    pub(super) fn of(tool: &RemoteTool) -> Self {
        Self { hash: tool.definition_hash(), definition: tool.raw.clone(), stale: false }
    }
}

impl ApprovedServer {
    /// These definitions as they are.
    pub(super) fn of<'a>(tools: impl Iterator<Item = &'a RemoteTool>) -> Self {
        let mut approved = Self::default();
        for tool in tools {
            // Of two tools with one name, the first is the one that is called.
            approved.tools.entry(tool.name.clone()).or_insert_with(|| ApprovedTool::of(tool));
        }
        approved
    }

    /// The same, to be reviewed by a person before anything of it is used.
    pub(super) fn unreviewed(mut self) -> Self {
        self.unreviewed = true;
        self.tools.values_mut().for_each(|tool| tool.stale = true);
        self
    }

    /// The same without those tools that were left out, so that they wait for review once they are taken.
    pub(super) fn without_left_out(mut self, taken: impl Fn(&str) -> bool) -> Self {
        self.tools.retain(|name, _| taken(name));
        self
    }

    /// The same once a person has put the server there: what was approved earlier counts again, and if nothing was, it
    /// is seen for the first time.
    pub(super) fn put_there_by_a_person(mut self) -> Option<Self> {
        self.unreviewed = false;
        self.tools.values_mut().for_each(|tool| tool.stale = false);
        (!self.tools.is_empty()).then_some(self)
    }

    /// The tools, as they were listed when they were approved.
    pub(super) fn tools(&self) -> Vec<RemoteTool> {
        let tool = |(name, tool): (&String, &ApprovedTool)| RemoteTool {
            name: name.clone(),
            raw: tool.definition.clone(),
        };
        self.tools.iter().map(tool).collect()
    }
}

impl ApprovedDefinitions {
    /// Nothing, and no file.
    pub(super) fn empty(disk: Arc<dyn Disk>) -> Self {
        let path = PathBuf::from("mcp.approved.json");
        Self { path, disk, servers: Mutex::default(), shared: None }
    }

    /// Reads the file; one that is not there holds nothing.
    pub(super) fn open(path: PathBuf, disk: Arc<dyn Disk>) -> Result<Self, FileProblem> {
        let problem = |line: usize, column: usize, message: String| FileProblem {
            line,
            column,
            ..FileProblem::whole(
                &path,
                message,
                "Restore the file from a backup, or remove it: then each server's tools are approved as they are when \
                 it is next reached.",
            )
        };
        let servers = match fs::read_to_string(&path) {
            Ok(text) => {
                serde_json::from_str::<File>(&text)
                    .map_err(|error| {
                        let text = error.to_string();
                        let reason = plain_reason(text.split(" at line ").next().unwrap_or(&text));
                        problem(error.line(), error.column(), reason)
                    })?
                    .servers
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(problem(0, 0, error.to_string())),
        };
        Ok(Self { path, disk, servers: Mutex::new(servers), shared: None })
    }

    /// What the home was filled with.
    pub(super) fn shared(path: PathBuf, registry: &Arc<SharedRegistry>) -> io::Result<Self> {
        let documents = registry.take_approved();
        let shared = Shared { registry: Arc::clone(registry), versions: Mutex::default() };
        let (disk, servers) = (Arc::new(CopyDisk), Mutex::default());
        let approved = Self { path, disk, servers, shared: Some(shared) };
        documents.into_iter().try_for_each(|document| approved.take_over(document).map(drop))?;
        Ok(approved)
    }

    /// What another server has changed; whether it is news.
    pub(super) fn take_over(&self, document: Document) -> io::Result<bool> {
        let approved = document.text.body.as_deref().map(serde_json::from_slice).transpose()?;
        self.note(&document.name, document.version, approved)
    }

    /// Keeps what came with that version, unless a later one is kept.
    fn note(&self, server: &str, version: i64, approved: Option<ApprovedServer>) -> io::Result<bool> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(shared) = &self.shared else { return Ok(false) };
        let mut versions = shared.versions.lock().unwrap_or_else(PoisonError::into_inner);
        if versions.get(server).is_some_and(|known| *known >= version) {
            return Ok(false);
        }
        versions.insert(server.to_owned(), version);
        match approved {
            Some(approved) => drop(servers.insert(server.to_owned(), approved)),
            None => drop(servers.remove(server)),
        }
        self.write(&servers)?;
        Ok(true)
    }

    fn write(&self, servers: &BTreeMap<String, ApprovedServer>) -> io::Result<()> {
        let text = serde_json::to_vec(&WrittenFile { servers })?;
        disk::replace(&*self.disk, &disk::linked(&self.path), &text, 0o600).map(drop)
    }

    /// What was approved of a server; `None` if it was never seen.
    pub(super) fn of(&self, server: &str) -> Option<ApprovedServer> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).get(server).cloned()
    }

    /// Changes what was approved of a server, on the disk first; `None` forgets it. For threads that may block.
    pub(super) fn set(&self, server: &str, approved: Option<ApprovedServer>) -> io::Result<()> {
        self.change(server, |_| Change::To(approved.clone())).map(drop)
    }

    /// The same, by what is known at that moment, so that no change of another is lost. What is known then.
    pub(super) fn change(
        &self,
        server: &str,
        mut change: impl FnMut(Option<&ApprovedServer>) -> Change,
    ) -> io::Result<Option<ApprovedServer>> {
        if let Some(shared) = &self.shared {
            return self.change_shared(shared, server, change);
        }
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = servers.get(server);
        let approved = match change(known) {
            Change::None => return Ok(known.cloned()),
            Change::To(None) if known.is_none() => return Ok(None),
            Change::To(approved) => approved,
        };
        let mut next = servers.clone();
        match &approved {
            Some(approved) => drop(next.insert(server.to_owned(), approved.clone())),
            None => drop(next.remove(server)),
        }
        self.write(&next)?;
        *servers = next;
        Ok(approved)
    }

    /// Where another server was faster, what it has made is what is known.
    fn change_shared(
        &self,
        shared: &Shared,
        server: &str,
        mut change: impl FnMut(Option<&ApprovedServer>) -> Change,
    ) -> io::Result<Option<ApprovedServer>> {
        loop {
            let (known, version) = {
                let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
                let versions = shared.versions.lock().unwrap_or_else(PoisonError::into_inner);
                (servers.get(server).cloned(), versions.get(server).copied().unwrap_or_default())
            };
            let approved = match change(known.as_ref()) {
                Change::None => return Ok(known),
                Change::To(None) if known.is_none() => return Ok(None),
                Change::To(approved) => approved,
            };
            let body = approved.as_ref().map(serde_json::to_vec).transpose()?;
            match shared.registry.put_approved(server, version, body).map_err(io::Error::other)? {
                Ok(version) => {
                    self.note(server, version, approved.clone())?;
                    return Ok(approved);
                }
                Err(found) => {
                    let (version, text) = found.unwrap_or_default();
                    let theirs = text.body.as_deref().map(serde_json::from_slice).transpose()?;
                    self.note(server, version, theirs)?;
                }
            }
        }
    }
}

/// What is to become of what was approved of a server.
pub(super) enum Change {
    /// Nothing.
    None,
    /// This; `None` forgets it.
    To(Option<ApprovedServer>),
}
