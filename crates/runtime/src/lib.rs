//! The registry and the call pipeline: every call goes through [`Runtime::call`], and none around it.

pub mod cache;
pub mod catalogue;
pub mod clock;
pub mod cpu_pool;
pub mod federation;
pub mod generations;
mod hints;
mod http_tool;
pub mod journal;
pub mod limits;
pub mod metrics;
mod pipeline;
pub mod profile_file;
mod recovery;
pub mod registrar;
pub mod registry_file;
mod script;
pub mod search;
pub mod secret_file;
pub mod step_timer;
pub mod tools;
pub mod users;

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use toolroom_contract::context::CommitHook;
use toolroom_store::Store;

use cache::ResultCache;
use catalogue::{NewTool, Registry, RegistryError, Tool};
use clock::Clock;
use generations::{Generations, Owner};
use journal::Journal;
use limits::Limits;
use metrics::Metrics;
use pipeline::Claims;
use toolroom_profiles::Profile;
use users::Users;

pub use http_tool::HttpTool;
pub use pipeline::{CallRequest, Edge, Reply, Validated};
pub use script::Script;

/// The version that results carry as `serviceVersion`.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Everything that a call needs, wired once.
pub struct Runtime {
    /// Tools and profiles.
    pub registry: Registry,
    /// Users, keys, pending requests, records.
    pub store: Store,
    /// The execution log.
    pub journal: Journal,
    /// The meters.
    pub metrics: Arc<Metrics>,
    /// Users by name.
    pub users: Users,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// When the process began.
    pub since: Instant,
    settings: Settings,
    cache: Arc<ResultCache>,
    generations: Arc<Generations>,
    limits: Limits,
    claims: Claims,
    service_version: Arc<str>,
    unknown_agent: Arc<str>,
    unknown_version: Arc<str>,
}

/// What can be set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long an approval stays open.
    pub approval_ttl: Duration,
    /// The zone of users who set none.
    pub time_zone: TimeZone,
}

impl Default for Settings {
    fn default() -> Self {
        Self { approval_ttl: Duration::from_secs(3600), time_zone: TimeZone::UTC }
    }
}

/// What a runtime is made of.
pub struct Parts {
    /// The database.
    pub store: Store,
    /// The execution log.
    pub journal: Journal,
    /// Tools, beside the registry's own.
    pub tools: Vec<NewTool>,
    /// Profiles.
    pub profiles: Vec<Profile>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What can be set.
    pub settings: Settings,
}

impl Runtime {
    /// Wires the parts. An unsound contract fails here.
    pub fn new(parts: Parts) -> Result<Arc<Self>, RegistryError> {
        let Parts { store, journal, mut tools, profiles, clock, settings } = parts;
        let metrics = Arc::new(Metrics::new());
        let handle = tools::Handle::default();
        tools.extend(tools::all(&handle));
        let runtime = Arc::new(Self {
            registry: Registry::new(tools, profiles, Arc::clone(&metrics))?,
            users: Users::new(store.clone()),
            store,
            journal,
            metrics,
            clock,
            since: Instant::now(),
            settings,
            cache: Arc::default(),
            generations: Arc::default(),
            limits: Limits::new(),
            claims: Claims::default(),
            service_version: VERSION.into(),
            unknown_agent: "unknown".into(),
            unknown_version: "0.0.0".into(),
        });
        handle.fill(&runtime);
        Ok(runtime)
    }

    /// The day by which tools are removed.
    pub fn today(&self) -> jiff::civil::Date {
        day_of(self.clock.now())
    }

    /// The zone of users who set none.
    pub fn time_zone(&self) -> &TimeZone {
        &self.settings.time_zone
    }

    /// Moves the resources of a mutation on, so that nothing cached before it is found again.
    fn commit_hook(&self, tool: Arc<Tool>, owner: Owner) -> CommitHook {
        let generations = Arc::clone(&self.generations);
        CommitHook::new(move || {
            for resource in &tool.resources {
                match tool.executor.source() {
                    toolroom_contract::confidence::Source::Native => generations.advance(owner, resource),
                    _ => generations.advance(Owner::Everybody, resource),
                }
            }
        })
    }
}

/// Days begin and end in UTC, whoever looks.
pub(crate) fn day_of(moment: jiff::Timestamp) -> jiff::civil::Date {
    jiff::tz::Offset::UTC.to_datetime(moment).date()
}
