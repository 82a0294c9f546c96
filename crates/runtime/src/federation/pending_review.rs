//! What a server lists, compared with what was approved: which of its tools are open, and which wait for review.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, PoisonError};

use serde_json::value::RawValue;
use toolroom_contract::ToolDefinition;
use toolroom_contract::diff::{self, Change};
use toolroom_upstream::RemoteTool;
use toolroom_upstream::contracts::{FederatedTool, Rejected, catalogue};

use super::alert;
use super::approved::{ApprovedServer, ApprovedTool, Change as ApprovedChange};
use super::catalogue_sync::Refused;
use super::server::Server;
use crate::Runtime;
use crate::catalogue::RegistryError;

/// What is known of a server's tools.
#[derive(Default)]
pub struct Seen {
    /// The tools, by the server's own names.
    pub tools: BTreeMap<String, SeenTool>,
    /// Why the list is not whole, if it is not.
    pub incomplete: Option<String>,
    /// Whether the server itself has been asked; else this is what was approved earlier.
    pub listed: bool,
    /// Whether no person has looked at the server yet, so that nothing of it is shown.
    pub unreviewed: bool,
    /// Stands for what the server listed, to the letter.
    digest: Option<blake3::Hash>,
}

/// A tool of a server.
#[derive(Clone)]
pub struct SeenTool {
    /// Its name in the catalogue, where it has one.
    pub name: Option<String>,
    /// Whether it can be called.
    pub standing: ToolStanding,
    /// What the server says it is now.
    pub(super) now: Option<RemoteTool>,
    /// What was approved of it.
    pub(super) approved: Option<Box<RawValue>>,
    /// The hash of that.
    pub(super) hash: String,
}

/// Whether a tool can be called.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolStanding {
    /// It can.
    Open,
    /// Pending review: the server has changed its definition since it was approved.
    Changed(Vec<Change>),
    /// Pending review: the server did not have it when its tools were approved.
    New(String),
    /// It cannot be taken into the catalogue.
    Rejected(String),
    /// Its name in the catalogue belongs to another tool.
    NameTaken(String),
    /// The entry's lists leave it out.
    LeftOut,
}

impl ToolStanding {
    /// Whether a person must approve it first.
    pub fn is_pending_review(&self) -> bool {
        matches!(self, Self::Changed(_) | Self::New(_))
    }
}

impl Seen {
    /// The tools that wait for a person.
    pub fn pending_review(&self) -> impl Iterator<Item = (&String, &SeenTool)> {
        self.tools.iter().filter(|(_, tool)| tool.standing.is_pending_review())
    }

    pub(super) fn has_taken_names(&self) -> bool {
        self.tools.values().any(|tool| matches!(tool.standing, ToolStanding::NameTaken(_)))
    }
}

impl Server {
    /// Takes in what the server lists. For threads that may block.
    pub(super) fn take_in(
        self: &Arc<Self>,
        tools: Vec<RemoteTool>,
        incomplete: Option<String>,
    ) -> Result<(), String> {
        let _turn = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        let not_kept = |error: io::Error| {
            tracing::error!(server = self.name(), %error, "the definitions of a server's tools could not be saved");
            "the definitions of its tools could not be saved to the home's disk".to_owned()
        };
        if self.stop.is_cancelled() {
            return Ok(());
        }
        let before = self.seen.load_full();
        let digest = self.digest(&tools, incomplete.as_deref());
        // Usually nothing has changed, and a call waits for this.
        if before.digest == Some(digest) && !before.has_taken_names() {
            return Ok(());
        }
        let takes = |tool: &RemoteTool| self.config().is_none_or(|config| config.filter.takes(&tool.name));
        let (resources, prompts) = self.says_it_has();
        let mut first = false;
        let change = self.approved.change(self.name(), |known| {
            first = false;
            let Some(known) = known else {
                first = true;
                return ApprovedChange::To(Some(ApprovedServer {
                    resources,
                    prompts,
                    ..ApprovedServer::of(tools.iter().filter(|tool| takes(tool)))
                }));
            };
            // Only the first list is approved unseen: whatever comes later, however soon, may be of another program.
            if (known.resources, known.prompts) == (resources, prompts) {
                return ApprovedChange::None;
            }
            ApprovedChange::To(Some(ApprovedServer { resources, prompts, ..known.clone() }))
        });
        let approved = change.map_err(not_kept)?.unwrap_or_default();
        if first {
            let tools = approved.tools.len();
            tracing::info!(
                server = self.name(),
                tools,
                "a server is seen for the first time: its tools are approved as they are"
            );
        }
        let listed = Listed { tools, incomplete, digest: Some(digest) };
        self.publish(&approved, Some(listed))
    }

    /// Publishes once more what the server listed, by what is approved now. The caller holds its turn.
    pub(super) fn publish_again(
        self: &Arc<Self>,
        approved: &ApprovedServer,
        seen: &Seen,
    ) -> Result<(), String> {
        let tools = seen.tools.values().filter_map(|tool| tool.now.clone()).collect();
        let listed = Listed { tools, incomplete: seen.incomplete.clone(), digest: seen.digest };
        self.publish(approved, Some(listed))
    }

    /// Takes names that have become free. For threads that may block.
    pub(super) fn take_free_names(self: &Arc<Self>) -> Result<(), String> {
        let _turn = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        let approved = self.approved.of(self.name()).unwrap_or_default();
        self.publish_again(&approved, &self.seen.load_full())
    }

    /// Stands for a list and what the server says that it has.
    fn digest(&self, tools: &[RemoteTool], incomplete: Option<&str>) -> blake3::Hash {
        let mut digest = blake3::Hasher::new();
        let (resources, prompts) = self.says_it_has();
        digest.update(&[u8::from(resources), u8::from(prompts)]);
        for text in tools.iter().map(|tool| tool.raw.get()).chain(incomplete) {
            digest.update(&(text.len() as u64).to_le_bytes());
            digest.update(text.as_bytes());
        }
        digest.finalize()
    }

    /// Puts those tools into the catalogue that were approved earlier, before the server is asked.
    pub(super) fn publish_approved(self: &Arc<Self>) {
        let _turn = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        let approved = self.approved.of(self.name()).unwrap_or_default();
        // Stopped meanwhile is the only failure.
        let _ = self.publish(&approved, None);
    }

    /// Publishes what was approved at another process. For threads that may block.
    pub(super) fn publish_approved_elsewhere(self: &Arc<Self>) {
        let _turn = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        // What was forgotten goes with the server.
        let Some(approved) = self.approved.of(self.name()).filter(|_| !self.stop.is_cancelled()) else {
            return;
        };
        let seen = self.seen.load_full();
        let published =
            if seen.listed { self.publish_again(&approved, &seen) } else { self.publish(&approved, None) };
        if let Err(reason) = published {
            tracing::warn!(server = self.name(), reason, "what was approved elsewhere is not published here");
        }
    }

    /// Makes the catalogue hold what was approved, as far as the server still has it so.
    fn publish(self: &Arc<Self>, approved: &ApprovedServer, listed: Option<Listed>) -> Result<(), String> {
        let (Some(runtime), Some(config)) = (self.runtime.upgrade(), self.config()) else { return Ok(()) };
        // Names depend on what was approved alone, so that a tool that comes later renames no other.
        let known = catalogue(config, &approved.tools());
        let mut seen = Seen { unreviewed: approved.unreviewed, ..Seen::default() };
        match listed {
            Some(Listed { tools, incomplete, digest }) => {
                for (name, now) in distinct(&tools) {
                    seen.tools.insert(name, self.compare(approved, &known.tools, now));
                }
                (seen.listed, seen.incomplete, seen.digest) = (true, incomplete, digest);
            }
            None => {
                let shown = |tool: &FederatedTool| {
                    (tool.remote.name.clone(), SeenTool::not_listed_yet(approved, tool))
                };
                seen.tools.extend(known.tools.iter().map(shown));
                let rejected =
                    |one: &Rejected| (one.name.clone(), SeenTool::of(None, approved.tools.get(&one.name)));
                seen.tools.extend(known.rejected.iter().map(rejected));
            }
        }
        for rejected in &known.rejected {
            if let Some(tool) = seen.tools.get_mut(&rejected.name)
                && tool.standing == ToolStanding::Open
            {
                tool.standing = ToolStanding::Rejected(rejected.reason.clone());
            }
        }
        self.alert_of_new(&runtime, &seen);
        // A name can be taken by another between the look and the change.
        for _ in 0..3 {
            match self.place(&runtime, &known.tools, approved, &mut seen) {
                Err(Refused::Registry(RegistryError::Exists(_))) => {}
                Err(Refused::Registry(error)) => return Err(error.to_string()),
                Err(Refused::Stopped) | Ok(()) => break,
            }
        }
        self.seen.store(Arc::new(seen));
        Ok(())
    }

    /// How a tool that the server lists compares with what was approved.
    fn compare(&self, approved: &ApprovedServer, known: &[FederatedTool], now: &RemoteTool) -> SeenTool {
        let was = known.iter().find(|tool| tool.remote.name == now.name);
        let takes = self.config().is_none_or(|config| config.filter.takes(&now.name));
        let standing = match approved.tools.get(&now.name) {
            _ if !takes => ToolStanding::LeftOut,
            None => {
                ToolStanding::New(self.redefined(now).map_or_else(|reason| reason, |new| new.description))
            }
            Some(tool) if !tool.stale && tool.hash == now.definition_hash() => ToolStanding::Open,
            Some(_) => ToolStanding::Changed(match (was, self.redefined(now)) {
                (Some(was), Ok(new)) => {
                    diff::diff(&was.definition, &ToolDefinition { name: was.definition.name.clone(), ..new })
                }
                _ => Vec::new(),
            }),
        };
        let name = was.map(|tool| tool.definition.name.clone());
        SeenTool { standing, now: Some(now.clone()), ..SeenTool::of(name, approved.tools.get(&now.name)) }
    }

    /// What a tool would be if it were approved.
    fn redefined(&self, tool: &RemoteTool) -> Result<ToolDefinition, String> {
        let config = self.config().ok_or("the server is switched off")?;
        let mut made = catalogue(config, std::slice::from_ref(tool));
        match (made.tools.pop(), made.rejected.pop()) {
            (Some(tool), _) => Ok(tool.definition),
            (None, Some(rejected)) => Err(rejected.reason),
            (None, None) => Err("it is left out".to_owned()),
        }
    }

    /// Whether the server says that it has resources, and prompts.
    fn says_it_has(&self) -> (bool, bool) {
        let hello = self.status().and_then(|status| status.hello);
        let has = |what: &str| {
            hello.as_ref().is_some_and(|hello| hello.capabilities.get(what).is_some_and(|has| !has.is_null()))
        };
        (has("resources"), has("prompts"))
    }

    /// Tells once of each definition that waits for review.
    fn alert_of_new(&self, runtime: &Runtime, now: &Seen) {
        let before = self.seen.load();
        for (remote, tool) in now.pending_review() {
            let told = before.tools.get(remote).is_some_and(|before| {
                let text = |tool: &SeenTool| tool.now.as_ref().map(|now| now.definition_hash());
                before.standing.is_pending_review() && text(before) == text(tool)
            });
            if !told {
                alert::pending_review(runtime, self, remote, tool);
            }
        }
    }
}

/// What a server listed.
struct Listed {
    tools: Vec<RemoteTool>,
    incomplete: Option<String>,
    digest: Option<blake3::Hash>,
}

impl SeenTool {
    fn of(name: Option<String>, was: Option<&ApprovedTool>) -> Self {
        let hash = was.map(|was| was.hash.clone()).unwrap_or_default();
        let approved = was.map(|was| was.definition.clone());
        Self { name, standing: ToolStanding::Open, now: None, approved, hash }
    }

    /// One that the server was not asked for yet.
    fn not_listed_yet(approved: &ApprovedServer, tool: &FederatedTool) -> Self {
        let was = approved.tools.get(&tool.remote.name);
        let mut seen = Self::of(Some(tool.definition.name.clone()), was);
        if was.is_some_and(|was| was.stale) {
            seen.standing = ToolStanding::Changed(Vec::new());
        }
        seen
    }
}

/// Of two tools with one name, the first is the one that is called.
fn distinct(tools: &[RemoteTool]) -> BTreeMap<String, &RemoteTool> {
    let mut found = BTreeMap::new();
    for tool in tools {
        found.entry(tool.name.clone()).or_insert(tool);
    }
    found
}
