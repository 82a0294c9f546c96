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
pub mod shared_registry;
pub mod step_timer;
pub mod tools;
pub mod users;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use toolroom_store::Store;
use toolroom_store::redis::RedisCounters;

use cache::ResultCache;
use catalogue::{NewTool, Registry, RegistryError};
use clock::Clock;
use generations::Generations;
use journal::Journal;
use limits::Limits;
use metrics::Metrics;
use pipeline::Claims;
use shared_registry::SharedRegistry;
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
    shared_registry: OnceLock<Arc<SharedRegistry>>,
    redis: OnceLock<RedisCounters>,
    cache: Arc<ResultCache>,
    generations: Generations,
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
            generations: Generations::new(&store),
            limits: Limits::new(),
            store,
            journal,
            metrics,
            clock,
            since: Instant::now(),
            settings,
            shared_registry: OnceLock::new(),
            redis: OnceLock::new(),
            cache: Arc::default(),
            claims: Claims::default(),
            service_version: VERSION.into(),
            unknown_agent: "unknown".into(),
            unknown_version: "0.0.0".into(),
        });
        handle.fill(&runtime);
        Ok(runtime)
    }

    /// Takes tools, servers and profiles from a registry that several servers share. Before any of them is read.
    pub fn share_registry(&self, shared: Arc<SharedRegistry>) {
        // There is one.
        let _ = self.shared_registry.set(shared);
    }

    /// The registry that several servers share; `None` where it is in the files of the home.
    pub fn shared_registry(&self) -> Option<&Arc<SharedRegistry>> {
        self.shared_registry.get()
    }

    /// Counts calls of limited tools in Redis, with those of the other servers. Before any call.
    pub fn count_in_redis(&self, redis: RedisCounters) {
        // There is one.
        let _ = self.redis.set(redis);
    }

    /// Where calls of limited tools are counted; `None`: in the database, or here.
    pub fn redis(&self) -> Option<&RedisCounters> {
        self.redis.get()
    }

    /// The day by which tools are removed.
    pub fn today(&self) -> jiff::civil::Date {
        day_of(self.clock.now())
    }

    /// The zone of users who set none.
    pub fn time_zone(&self) -> &TimeZone {
        &self.settings.time_zone
    }
}

/// Days begin and end in UTC, whoever looks.
pub(crate) fn day_of(moment: jiff::Timestamp) -> jiff::civil::Date {
    jiff::tz::Offset::UTC.to_datetime(moment).date()
}
