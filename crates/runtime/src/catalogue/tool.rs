//! A tool in the catalogue: its definition, and everything that is worked out from it once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use tokio::sync::Semaphore;
use toolroom_contract::canonical::{Digest, digest};
use toolroom_contract::commit_gate::{self, CommitGate};
use toolroom_contract::confidence::{Record, Source};
use toolroom_contract::error::Outcome;
use toolroom_contract::validator::Validator;
use toolroom_contract::{Effect, Handler, Policy, ToolDefinition};
use toolroom_profiles::Origin;

use super::RegistryError;
use crate::federation::Federated;
use crate::journal::Mask;
use crate::metrics::{Metrics, ToolMetrics};
use crate::{HttpTool, Script};

/// A tool that wants to be in the catalogue.
pub struct NewTool {
    /// Its contract.
    pub definition: ToolDefinition,
    /// What runs it.
    pub executor: Executor,
}

/// What runs a tool.
#[derive(Clone)]
pub enum Executor {
    /// Code in this process.
    Native(Arc<dyn Handler>),
    /// A script, in its own process.
    Script(Arc<Script>),
    /// A request to a web service.
    Http(Arc<HttpTool>),
    /// A tool of another server.
    Upstream(Arc<Federated>),
    /// Nothing of its own: the call is handed on to the tool that its parameters name.
    Forward,
}

impl Executor {
    /// Where its answers come from.
    pub fn source(&self) -> Source {
        match self {
            Executor::Native(_) | Executor::Forward => Source::Native,
            Executor::Script(_) => Source::Script,
            Executor::Upstream(_) | Executor::Http(_) => Source::Upstream,
        }
    }

    /// Where it comes from, for profiles that pick tools by that.
    pub fn origin(&self) -> Origin<'_> {
        let server = match self {
            Executor::Upstream(federated) => Some(federated.server().name()),
            _ => None,
        };
        Origin { source: self.source(), server }
    }

    /// What the same definition may differ in: another script, or the same one run otherwise.
    fn identity(&self) -> String {
        match self {
            Executor::Native(_) | Executor::Forward => "definition".to_owned(),
            Executor::Script(script) => format!("definition of {:?}", script.spec),
            Executor::Http(http) => format!("definition of {:?}", http.request),
            Executor::Upstream(federated) => format!("definition of {}", federated.identity()),
        }
    }

    /// The handler, if the code is in this process.
    pub fn handler(&self) -> Option<&Arc<dyn Handler>> {
        match self {
            Executor::Native(handler) => Some(handler),
            _ => None,
        }
    }

    /// Whether one may stand in the place of the other: nothing takes the name of another server's tool.
    pub(super) fn may_follow(&self, old: &Self) -> bool {
        match (self, old) {
            (Executor::Upstream(new), Executor::Upstream(old)) => new.server().name() == old.server().name(),
            (Executor::Upstream(_), _) | (_, Executor::Upstream(_)) => false,
            _ => true,
        }
    }
}

/// A tool in the catalogue.
pub struct Tool {
    definition: Arc<ToolDefinition>,
    published: Arc<ToolDefinition>,
    /// What runs it.
    pub executor: Executor,
    /// What follows from its contract.
    pub policy: Policy,
    /// What a call does.
    pub effect: Effect,
    /// Its parameters' schema, compiled.
    pub parameters: Arc<Validator>,
    /// Its output's schema, compiled.
    pub output: Option<Arc<Validator>>,
    /// Which parameters must not be written to any log.
    pub mask: Mask,
    /// Which parts of its output must not.
    pub output_mask: Mask,
    /// Its version as results carry it.
    pub version: Arc<str>,
    /// Changes whenever anything in the definition does, or in what runs it: answers of another definition are never mixed in.
    pub fingerprint: Digest,
    /// What its rate limit is counted under: the same for every version of the tool.
    pub limit_scope: u64,
    /// The resources of its permissions: what a mutation changes, what a cached answer depends on.
    pub resources: Vec<String>,
    /// Its meters.
    pub metrics: ToolMetrics,
    /// How often it worked lately.
    pub record: SuccessRecord,
    /// Its slots, where they are counted.
    pub slots: Option<Slots>,
}

impl Tool {
    /// Whether its whole effect is one transaction of the store that passes the gate of the call.
    pub(crate) fn commits_by_gate(&self) -> bool {
        self.executor.handler().is_some_and(|handler| handler.records_claim())
    }

    /// What can be said about the effect of a call that was stopped while it ran.
    pub(crate) fn outcome(&self, gate: &CommitGate) -> Option<Outcome> {
        if self.policy.read_only {
            return None;
        }
        match gate.effect() {
            commit_gate::Effect::None if self.commits_by_gate() => None,
            commit_gate::Effect::Committed if self.commits_by_gate() => Some(Outcome::Applied),
            _ => Some(Outcome::Unknown),
        }
    }
}

/// Slots for calls that may not all run side by side, and a bounded queue for those that wait.
#[derive(Clone)]
pub struct Slots {
    /// One permit per slot.
    pub free: Arc<Semaphore>,
    /// One permit per place in the queue.
    pub queue: Arc<Semaphore>,
}

/// Calls that may wait for a slot of one tool before others are told `busy`.
const QUEUE: usize = 64;

impl Tool {
    pub(super) fn compile(new: NewTool, metrics: &Metrics) -> Result<Self, RegistryError> {
        let NewTool { definition, executor } = new;
        // The checklist has compiled these schemas already; a failure here would be the checklist's fault.
        let compile = |schema: &Value| {
            Validator::compile(schema).map(Arc::new).map_err(|cause| RegistryError::BadShape {
                profile: toolroom_profiles::DEFAULT.into(),
                tool: definition.name.clone(),
                cause,
            })
        };
        let parameters = compile(&definition.parameters)?;
        let output = definition.output.as_ref().map(compile).transpose()?;
        let definition = Arc::new(definition);
        let policy = Policy::of(&definition, executor.source());
        let text = serde_json::to_value(&*definition).unwrap_or(Value::Null);
        let mut resources: Vec<String> =
            definition.permissions.iter().map(|permission| permission.resource().to_owned()).collect();
        resources.sort();
        resources.dedup();
        Ok(Self {
            mask: Mask::compile(&definition.parameters),
            output_mask: definition.output.as_ref().map(Mask::compile).unwrap_or_default(),
            version: definition.version.to_string().into(),
            fingerprint: digest(executor.identity(), &text),
            limit_scope: limit_scope(&definition.name),
            resources,
            metrics: metrics.of_tool(&definition.name),
            record: SuccessRecord::default(),
            slots: policy.slots.map(|slots| Slots {
                free: Arc::new(Semaphore::new(slots)),
                queue: Arc::new(Semaphore::new(QUEUE)),
            }),
            policy,
            effect: Effect::of(&definition),
            parameters,
            output,
            executor,
            published: published(&definition),
            definition,
        })
    }

    /// Takes over the slots of the tool that it replaces, so that calls of the two together keep to them.
    pub(super) fn share_slots(&mut self, old: &Tool) {
        if self.policy.slots == old.policy.slots {
            self.slots.clone_from(&old.slots);
        }
    }

    /// What exactly a person is asked about: the definition, and the script as it is now.
    pub fn reviewed_state(&self) -> String {
        let mut state = self.fingerprint.as_bytes().to_vec();
        if let Executor::Script(script) = &self.executor {
            state.extend_from_slice(&script.stamp());
        }
        digest(state, &Value::Null).to_hex()
    }

    /// The contract, as its author wrote it: calls are checked against it.
    pub fn definition(&self) -> &Arc<ToolDefinition> {
        &self.definition
    }

    /// The contract as it is shown: its schemas in the spelling that every client reads.
    pub fn published(&self) -> &Arc<ToolDefinition> {
        &self.published
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.definition.name
    }
}

fn published(definition: &Arc<ToolDefinition>) -> Arc<ToolDefinition> {
    let published = definition.published();
    if published == **definition { Arc::clone(definition) } else { Arc::new(published) }
}

fn limit_scope(name: &str) -> u64 {
    let hash = digest("limit", &Value::from(name));
    hash.as_bytes()[..8].iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// How often a tool worked lately: two counters in one word, halved when they grow old.
#[derive(Default)]
pub struct SuccessRecord(AtomicU64);

/// After this many calls, what is past counts half.
const MEMORY: u32 = 512;

impl SuccessRecord {
    /// Note the end of a call. Refusals by a rule of the domain count as good: the tool worked.
    pub fn note(&self, good: bool) {
        let step = |word: u64| {
            let Record { good: mut yes, all: mut calls } = unpack(word);
            calls += 1;
            yes += u32::from(good);
            if calls >= MEMORY {
                calls /= 2;
                yes /= 2;
            }
            Some(u64::from(yes) << 32 | u64::from(calls))
        };
        // The closure always gives a new value, so the update cannot fail.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step);
    }

    /// The record as it stands.
    pub fn read(&self) -> Record {
        unpack(self.0.load(Ordering::Relaxed))
    }
}

fn unpack(word: u64) -> Record {
    Record { good: (word >> 32) as u32, all: word as u32 }
}
