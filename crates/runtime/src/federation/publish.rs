//! From a server's list of tools to the catalogue: compared with what was let in, named, and put there at once.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use toolroom_contract::check::Stage;
use toolroom_contract::diff::{self, Change};
use toolroom_contract::{Category, ToolDefinition};
use toolroom_upstream::contracts::{FederatedTool, catalogue};
use toolroom_upstream::{RemoteTool, pins};

use super::alert;
use super::pins::{Pin, Pinned};
use super::reading::Reading;
use super::server::Server;
use super::tool::Federated;
use crate::Runtime;
use crate::catalogue::{Executor, NewTool, RegistryError, Tool};

/// Some servers have all their tools only a moment after the handshake: what comes until then is seen at first
/// sight too.
const FIRST_SIGHT: Duration = Duration::from_secs(5);

/// What is known of a server's tools.
#[derive(Default)]
pub struct Seen {
    /// The tools, by the server's own names.
    pub tools: BTreeMap<String, SeenTool>,
    /// Why the list is not whole, if it is not.
    pub incomplete: Option<String>,
    /// Whether the server itself has been asked; else this is what was let in earlier.
    pub listed: bool,
    /// Until when new tools are let in as they are.
    first_sight: Option<Instant>,
}

/// A tool of a server.
#[derive(Clone)]
pub struct SeenTool {
    /// Its name in the catalogue, where it has one.
    pub name: Option<String>,
    /// Whether it can be called.
    pub standing: ToolStanding,
    /// What the server says it is now.
    now: Option<RemoteTool>,
}

/// Whether a tool can be called.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolStanding {
    /// It can.
    Open,
    /// It is held: the server has changed its definition since it was let in.
    Changed(Vec<Change>),
    /// It is held: the server did not have it when its tools were let in.
    New(String),
    /// It cannot be taken into the catalogue.
    Rejected(String),
    /// Its name in the catalogue belongs to another tool.
    NameTaken(String),
    /// The entry's lists leave it out.
    LeftOut,
}

impl ToolStanding {
    /// Whether a person must let it in first.
    pub fn is_held(&self) -> bool {
        matches!(self, Self::Changed(_) | Self::New(_))
    }
}

impl Seen {
    /// The tools that wait for a person.
    pub fn held(&self) -> impl Iterator<Item = (&String, &SeenTool)> {
        self.tools.iter().filter(|(_, tool)| tool.standing.is_held())
    }

    pub(super) fn has_taken_names(&self) -> bool {
        self.tools.values().any(|tool| matches!(tool.standing, ToolStanding::NameTaken(_)))
    }
}

/// Why tools were not put into the catalogue.
enum Refused {
    /// The server was stopped meanwhile.
    Stopped,
    Registry(RegistryError),
}

impl From<RegistryError> for Refused {
    fn from(error: RegistryError) -> Self {
        Self::Registry(error)
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
        let unpinned = |error: io::Error| {
            tracing::error!(server = self.name(), %error, "the definitions of a server's tools could not be kept");
            "the definitions of its tools could not be kept: the disk of the home does not take them"
                .to_owned()
        };
        if self.stop.is_cancelled() {
            return Ok(());
        }
        let before = self.seen.load_full();
        let mut first_sight = before.first_sight.filter(|until| *until > Instant::now());
        let (resources, prompts) = self.says_it_has();
        let pinned = match self.book.of(self.name()) {
            Some(mut pinned) => {
                let new: Vec<&RemoteTool> =
                    tools.iter().filter(|tool| !pinned.tools.contains_key(&tool.name)).collect();
                let let_in = first_sight.is_some() && !new.is_empty();
                if let_in {
                    for tool in new {
                        pinned.tools.entry(tool.name.clone()).or_insert_with(|| Pin::of(tool));
                    }
                }
                if let_in || (pinned.resources, pinned.prompts) != (resources, prompts) {
                    (pinned.resources, pinned.prompts) = (resources, prompts);
                    self.book.set(self.name(), Some(pinned.clone())).map_err(unpinned)?;
                }
                pinned
            }
            None => {
                let pinned = Pinned { resources, prompts, ..Pinned::of(&tools) };
                self.book.set(self.name(), Some(pinned.clone())).map_err(unpinned)?;
                first_sight = Some(Instant::now() + FIRST_SIGHT);
                tracing::info!(
                    server = self.name(),
                    tools = pinned.tools.len(),
                    "a server is seen for the first time: its tools are let in as they are"
                );
                pinned
            }
        };
        self.publish(&pinned, Some(tools), incomplete, first_sight)
    }

    /// Puts those tools into the catalogue that were let in earlier, before the server is asked.
    pub(super) fn publish_pinned(self: &Arc<Self>) {
        let _turn = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        let pinned = self.book.of(self.name()).unwrap_or_default();
        // Stopped meanwhile is the only failure.
        let _ = self.publish(&pinned, None, None, None);
    }

    /// Lets in what is held: all of it, or one tool. The names that were let in. For threads that may block.
    pub(super) fn let_in(self: &Arc<Self>, tool: Option<&str>) -> Result<Vec<String>, LetIn> {
        let _turn = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = self.seen.load_full();
        if let Some(tool) = tool
            && !seen.tools.contains_key(tool)
        {
            return Err(LetIn::NoSuchTool);
        }
        let wanted = |name: &str| tool.is_none_or(|tool| tool == name);
        let mut pinned = self.book.of(self.name()).unwrap_or_default();
        let mut names = Vec::new();
        for (name, held) in seen.held().filter(|(name, _)| wanted(name)) {
            if let Some(now) = &held.now {
                pinned.tools.insert(name.clone(), Pin::of(now));
                names.push(name.clone());
            }
        }
        if names.is_empty() {
            return Ok(names);
        }
        self.book.set(self.name(), Some(pinned.clone())).map_err(LetIn::Disk)?;
        let now = seen.tools.values().filter_map(|tool| tool.now.clone()).collect();
        self.publish(&pinned, Some(now), seen.incomplete.clone(), seen.first_sight)
            .map_err(LetIn::Refused)?;
        Ok(names)
    }

    /// Makes the catalogue hold what was let in, as far as the server still has it so.
    fn publish(
        self: &Arc<Self>,
        pinned: &Pinned,
        listed: Option<Vec<RemoteTool>>,
        incomplete: Option<String>,
        first_sight: Option<Instant>,
    ) -> Result<(), String> {
        let (Some(runtime), Some(config)) = (self.runtime.upgrade(), self.config()) else { return Ok(()) };
        // Names depend on what was let in alone, so that a tool that comes later renames no other.
        let known = catalogue(config, &pinned.tools());
        let mut seen = Seen { tools: BTreeMap::new(), incomplete, listed: listed.is_some(), first_sight };
        for (name, now) in distinct(listed.as_deref()) {
            seen.tools.insert(name, self.compare(pinned, &known.tools, now));
        }
        if listed.is_none() {
            let open = |tool: &FederatedTool| SeenTool::open(tool.definition.name.clone(), None);
            seen.tools.extend(known.tools.iter().map(|tool| (tool.remote.name.clone(), open(tool))));
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
            match self.put(&runtime, &known.tools, pinned, &mut seen) {
                Err(Refused::Registry(RegistryError::Exists(_))) => {}
                Err(Refused::Registry(error)) => return Err(error.to_string()),
                Err(Refused::Stopped) | Ok(()) => break,
            }
        }
        self.seen.store(Arc::new(seen));
        Ok(())
    }

    /// How a tool that the server lists compares with what was let in.
    fn compare(&self, pinned: &Pinned, known: &[FederatedTool], now: &RemoteTool) -> SeenTool {
        let was = known.iter().find(|tool| tool.remote.name == now.name);
        let takes = self.config().is_none_or(|config| config.filter.takes(&now.name));
        let standing = match pinned.tools.get(&now.name) {
            _ if !takes => ToolStanding::LeftOut,
            None => {
                ToolStanding::New(self.redefined(now).map_or_else(|reason| reason, |new| new.description))
            }
            Some(pin) if pin.hash == pins::hash(&now.raw) => ToolStanding::Open,
            Some(_) => ToolStanding::Changed(match (was, self.redefined(now)) {
                (Some(was), Ok(new)) => {
                    diff::diff(&was.definition, &ToolDefinition { name: was.definition.name.clone(), ..new })
                }
                _ => Vec::new(),
            }),
        };
        SeenTool { name: was.map(|tool| tool.definition.name.clone()), standing, now: Some(now.clone()) }
    }

    /// What a tool would be if it were let in.
    fn redefined(&self, tool: &RemoteTool) -> Result<ToolDefinition, String> {
        let config = self.config().ok_or("the server is switched off")?;
        let mut made = catalogue(config, std::slice::from_ref(tool));
        match (made.tools.pop(), made.rejected.pop()) {
            (Some(tool), _) => Ok(tool.definition),
            (None, Some(rejected)) => Err(rejected.reason),
            (None, None) => Err("it is left out".to_owned()),
        }
    }

    fn put(
        self: &Arc<Self>,
        runtime: &Runtime,
        known: &[FederatedTool],
        pinned: &Pinned,
        seen: &mut Seen,
    ) -> Result<(), Refused> {
        let snapshot = Arc::clone(&runtime.registry.snapshot());
        let (mut come, mut stay) = (Vec::new(), BTreeSet::new());
        for federated in known {
            let remote = &federated.remote.name;
            let Some(shown) = seen.tools.get_mut(remote) else { continue };
            let blocked = matches!(shown.standing, ToolStanding::Changed(_));
            if !(blocked || matches!(shown.standing, ToolStanding::Open | ToolStanding::NameTaken(_))) {
                continue;
            }
            let name = &federated.definition.name;
            let hash = pinned.tools.get(remote).map(|pin| pin.hash.as_str()).unwrap_or_default();
            match snapshot.tools.get(name).map(|tool| &tool.executor) {
                Some(Executor::Upstream(theirs)) if theirs.server.name() == self.name() => {
                    if theirs.is(self, hash, blocked) {
                        stay.insert(name.clone());
                        continue;
                    }
                }
                Some(_) => {
                    shown.standing = ToolStanding::NameTaken(format!(
                        "another tool is named '{name}'; a `prefix` in the server's entry changes its names"
                    ));
                    continue;
                }
                None => {}
            }
            if !blocked {
                shown.standing = ToolStanding::Open;
            }
            match runtime.registry.prepare(self.tool(federated, hash, blocked), Stage::Loaded) {
                Ok(tool) => {
                    stay.insert(name.clone());
                    come.push(tool);
                }
                Err(error) => shown.standing = ToolStanding::Rejected(error.to_string()),
            }
        }
        for (reading, definition) in self.readings(pinned) {
            let (name, hash) = (definition.name.clone(), definition.description.clone());
            match snapshot.tools.get(&name).map(|tool| &tool.executor) {
                Some(Executor::Upstream(theirs)) if theirs.is(self, &hash, false) => drop(stay.insert(name)),
                // The server's own tool of that name goes before.
                Some(Executor::Upstream(theirs)) if theirs.reading.is_none() => {}
                Some(Executor::Upstream(theirs)) if theirs.server.name() != self.name() => {}
                Some(Executor::Native(_) | Executor::Script(_) | Executor::Forward) => {}
                _ if stay.contains(&name) => {}
                _ => {
                    if let Ok(tool) =
                        runtime.registry.prepare(self.reader(reading, definition), Stage::Loaded)
                    {
                        stay.insert(name);
                        come.push(tool);
                    }
                }
            }
        }
        let go = self.tools_in(runtime).filter(|name| !stay.contains(name)).collect::<Vec<_>>();
        if come.is_empty() && go.is_empty() {
            return Ok(());
        }
        let unless_stopped = || if self.stop.is_cancelled() { Err(Refused::Stopped) } else { Ok(()) };
        runtime.registry.change(come, &go, unless_stopped)
    }

    fn tool(self: &Arc<Self>, federated: &FederatedTool, hash: &str, blocked: bool) -> NewTool {
        let executor = Federated {
            server: Arc::clone(self),
            remote: federated.remote.name.clone(),
            headers: Arc::clone(&federated.headers),
            hash: hash.to_owned(),
            blocked,
            reading: None,
        };
        let definition = match blocked {
            false => federated.definition.clone(),
            true => held(self.name(), &federated.remote.name, &federated.definition),
        };
        NewTool { definition, executor: Executor::Upstream(Arc::new(executor)) }
    }

    fn reader(self: &Arc<Self>, reading: Reading, definition: ToolDefinition) -> NewTool {
        let executor = Federated {
            server: Arc::clone(self),
            remote: reading.name().to_owned(),
            headers: Arc::from([]),
            hash: definition.description.clone(),
            blocked: false,
            reading: Some(reading),
        };
        NewTool { definition, executor: Executor::Upstream(Arc::new(executor)) }
    }

    /// Whether the server says that it has resources, and prompts.
    fn says_it_has(&self) -> (bool, bool) {
        let hello = self.status().and_then(|status| status.hello);
        let has = |what: &str| {
            hello.as_ref().is_some_and(|hello| hello.capabilities.get(what).is_some_and(|has| !has.is_null()))
        };
        (has("resources"), has("prompts"))
    }

    /// The names of its tools that are in the catalogue.
    fn tools_in(&self, runtime: &Runtime) -> impl Iterator<Item = String> {
        let snapshot = Arc::clone(&runtime.registry.snapshot());
        let ours = |tool: &Arc<Tool>| match &tool.executor {
            Executor::Upstream(theirs) => theirs.server.name() == self.name(),
            _ => false,
        };
        let names: Vec<String> =
            snapshot.tools.values().filter(|tool| ours(tool)).map(|tool| tool.name().to_owned()).collect();
        names.into_iter()
    }

    /// Takes its tools out of the catalogue. For threads that may block.
    pub(super) fn withdraw(&self) {
        let Some(runtime) = self.runtime.upgrade() else { return };
        let go: Vec<String> = self.tools_in(&runtime).collect();
        if !go.is_empty()
            && let Err(error) = runtime.registry.change(Vec::new(), &go, || Ok::<(), RegistryError>(()))
        {
            tracing::error!(server = self.name(), %error, "the tools of a server could not be taken out");
        }
    }

    /// Tells once of each tool that has to be held.
    fn alert_of_new(&self, runtime: &Runtime, now: &Seen) {
        let before = self.seen.load();
        for (remote, tool) in now.held() {
            let told = before.tools.get(remote).is_some_and(|before| {
                let text = |tool: &SeenTool| tool.now.as_ref().map(|now| pins::hash(&now.raw));
                before.standing.is_held() && text(before) == text(tool)
            });
            if !told {
                alert::held(runtime, self.name(), remote, tool);
            }
        }
    }
}

/// Why nothing was let in.
pub(super) enum LetIn {
    NoSuchTool,
    Disk(io::Error),
    Refused(String),
}

impl SeenTool {
    fn open(name: String, now: Option<RemoteTool>) -> Self {
        Self { name: Some(name), standing: ToolStanding::Open, now }
    }
}

/// Of two tools with one name, the first is the one that is called.
fn distinct(tools: Option<&[RemoteTool]>) -> BTreeMap<String, &RemoteTool> {
    let mut found = BTreeMap::new();
    for tool in tools.into_iter().flatten() {
        found.entry(tool.name.clone()).or_insert(tool);
    }
    found
}

/// What stands in the catalogue for a tool that is held: nothing that its server says.
fn held(server: &str, remote: &str, was: &ToolDefinition) -> ToolDefinition {
    ToolDefinition {
        version: was.version.clone(),
        permissions: was.permissions.clone(),
        parameters: json!({ "type": "object" }),
        tags: was.tags.clone(),
        category: Category::Mutation,
        derived: was.derived.clone(),
        ..ToolDefinition::mutation(
            &was.name,
            &format!(
                "Held, not to be used: the server '{server}' has changed this tool since it was let in. A person can \
                 let it in again: toolroom servers approve {server} --tool {remote}"
            ),
        )
    }
}
