//! The registry: every tool and profile, in a snapshot that is read without a lock.

mod snapshot;
mod tool;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use jiff::civil::Date;
use thiserror::Error;
use tokio::sync::{Mutex, watch};
use toolroom_contract::check::{self, Finding, Outcome, Stage};
use toolroom_contract::{Category, ToolDefinition};
use toolroom_profiles::Profile;

use crate::metrics::Metrics;

pub use snapshot::{Bound, BoundProfile, Snapshot};
pub use tool::{Executor, NewTool, Slots, Tool};
pub(crate) use view::Access;
pub use view::{Shown, View};

/// The catalogue of tools and profiles.
pub struct Registry {
    current: ArcSwap<Snapshot>,
    /// Every change goes through here, one after the other.
    changes: Mutex<()>,
    changed: watch::Sender<u64>,
    metrics: Arc<Metrics>,
}

/// Why a tool was not registered.
#[derive(Debug, Error)]
pub enum RegistryError {
    /// A tool of that name is there already; names are never replaced by registering.
    #[error("a tool named '{0}' exists already")]
    Exists(String),
    /// The definition breaks lines of the checklist.
    #[error("'{tool}' breaks the contract: {}", summary(.findings))]
    Unsound {
        /// Which tool.
        tool: String,
        /// The lines that failed.
        findings: Vec<Finding>,
    },
    /// A profile names a tool that is not there.
    #[error("profile '{profile}' publishes '{tool}', which is not in the catalogue")]
    MissingTool {
        /// Which profile.
        profile: String,
        /// Which tool.
        tool: String,
    },
    /// A published input schema cannot be used.
    #[error("profile '{profile}', tool '{tool}': {cause}")]
    BadShape {
        /// Which profile.
        profile: String,
        /// Which published tool.
        tool: String,
        /// What is wrong with the schema.
        cause: toolroom_contract::validator::BadSchema,
    },
}

fn summary(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings
        .iter()
        .map(|finding| match &finding.message {
            Some(message) => format!("[ ] {} ({message})", finding.line),
            None => format!("[ ] {}", finding.line),
        })
        .collect();
    lines.join("; ")
}

impl Registry {
    /// A catalogue of these tools and profiles. An unsound contract fails here, at start.
    pub fn new(
        tools: Vec<NewTool>,
        profiles: Vec<Profile>,
        metrics: Arc<Metrics>,
    ) -> Result<Self, RegistryError> {
        let mut table = BTreeMap::new();
        for new in tools {
            let tool = Self::build(new, Stage::Native, &metrics)?;
            if let Some(taken) = table.insert(tool.name().to_owned(), Arc::new(tool)) {
                return Err(RegistryError::Exists(taken.name().to_owned()));
            }
        }
        let snapshot = Snapshot::first(table, profiles.into_iter().map(Arc::new).collect())?;
        Ok(Self {
            current: ArcSwap::from_pointee(snapshot),
            changes: Mutex::new(()),
            changed: watch::channel(1).0,
            metrics,
        })
    }

    fn build(new: NewTool, stage: Stage, metrics: &Metrics) -> Result<Tool, RegistryError> {
        let findings: Vec<Finding> = check::check(&new.definition, stage)
            .into_iter()
            .filter(|finding| finding.outcome == Outcome::Fail)
            .collect();
        if findings.is_empty() {
            Tool::compile(new, metrics)
        } else {
            Err(RegistryError::Unsound { tool: new.definition.name, findings })
        }
    }

    /// The catalogue as it is now. No lock is taken; the snapshot never changes.
    pub fn snapshot(&self) -> arc_swap::Guard<Arc<Snapshot>> {
        self.current.load()
    }

    /// Register a tool. It is visible to the next call.
    pub async fn register(&self, new: NewTool, today: Date) -> Result<Arc<Tool>, RegistryError> {
        let tool = Arc::new(Self::build(new, Stage::Registering(today), &self.metrics)?);
        let _turn = self.changes.lock().await;
        let old = self.current.load_full();
        if old.tools.contains_key(tool.name()) {
            return Err(RegistryError::Exists(tool.name().to_owned()));
        }
        let mut tools = old.tools.clone();
        tools.insert(tool.name().to_owned(), Arc::clone(&tool));
        self.show(old.next(tools)?);
        Ok(tool)
    }

    /// Checks a tool and compiles what it needs. It is not in the catalogue yet.
    pub fn prepare(&self, new: NewTool, stage: Stage) -> Result<Arc<Tool>, RegistryError> {
        let mut tool = Self::build(new, stage, &self.metrics)?;
        if let Some(old) = self.current.load().tools.get(tool.name()) {
            tool.share_slots(old);
        }
        Ok(Arc::new(tool))
    }

    /// A tool that is in no catalogue and in no meter.
    pub fn draft(&self, new: NewTool) -> Result<Arc<Tool>, RegistryError> {
        Self::build(new, Stage::Loaded, &Metrics::new()).map(Arc::new)
    }

    /// The catalogue as it would be with this tool.
    pub(crate) fn with(&self, tool: &Arc<Tool>) -> Result<Snapshot, RegistryError> {
        let now = self.current.load();
        let mut tools = now.tools.clone();
        tools.insert(tool.name().to_owned(), Arc::clone(tool));
        now.next(tools)
    }

    /// Makes a whole change visible at once: tools that come, each instead of the one of its name, and
    /// names that go. `persist` runs when nothing else can fail any more; if it fails, nothing is changed.
    /// For threads that may block.
    pub fn change<E: From<RegistryError>>(
        &self,
        come: Vec<Arc<Tool>>,
        go: &[String],
        persist: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let _turn = self.changes.try_lock().unwrap_or_else(|_| self.changes.blocking_lock());
        let old = self.current.load_full();
        let mut tools = old.tools.clone();
        for name in go {
            tools.remove(name);
        }
        for tool in come {
            let name = tool.name().to_owned();
            if tools.get(&name).is_some_and(|old| !tool.executor.may_follow(&old.executor)) {
                return Err(RegistryError::Exists(name).into());
            }
            tools.insert(name, tool);
        }
        let next = old.next(tools)?;
        persist()?;
        self.show(next);
        Ok(())
    }

    /// Puts these profiles in the place of all that were there. For threads that may block.
    pub fn change_profiles(&self, profiles: Vec<Arc<Profile>>) -> Result<(), RegistryError> {
        let _turn = self.changes.try_lock().unwrap_or_else(|_| self.changes.blocking_lock());
        self.show(self.current.load().with_profiles(profiles)?);
        Ok(())
    }

    fn show(&self, next: Snapshot) {
        let version = next.version;
        self.current.store(Arc::new(next));
        self.changed.send_replace(version);
    }

    /// Retrieve a tool by name.
    pub fn get(&self, name: &str) -> Option<Arc<Tool>> {
        self.current.load().tools.get(name).cloned()
    }

    /// All registered tools, by name.
    pub fn get_all(&self) -> Vec<Arc<Tool>> {
        self.current.load().tools.values().cloned().collect()
    }

    /// Tools of a category.
    pub fn get_by_category(&self, category: Category) -> Vec<Arc<Tool>> {
        self.select(|tool| tool.definition().category == category)
    }

    /// Tools with a tag.
    pub fn get_by_tag(&self, tag: &str) -> Vec<Arc<Tool>> {
        self.select(|tool| tool.definition().tags.iter().any(|one| one == tag))
    }

    /// The checklist for a definition that might be registered.
    pub fn validate(&self, definition: &ToolDefinition, today: Date) -> Vec<Finding> {
        check::check(definition, Stage::Registering(today))
    }

    /// Tells of every change of the catalogue.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn select(&self, wanted: impl Fn(&Tool) -> bool) -> Vec<Arc<Tool>> {
        self.current.load().tools.values().filter(|tool| wanted(tool)).cloned().collect()
    }
}
