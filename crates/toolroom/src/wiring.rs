//! Puts the parts together: home and settings in, a service out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use toolroom_agent::{Chat, Models};
use toolroom_contract::ids::RunId;
use toolroom_model::openai::OpenAi;
use toolroom_packs::builtin::BuiltinSettings;
use toolroom_runtime::catalogue::{Executor, NewTool};
use toolroom_runtime::clock::SystemClock;
use toolroom_runtime::federation::{self, Federation};
use toolroom_runtime::journal::{Journal, JournalSettings, SharedLog};
use toolroom_runtime::profile_file::ProfileFile;
use toolroom_runtime::registrar::{Builtin, FileError, RealDisk, Registrar, Setup};
use toolroom_runtime::secret_file::SecretFile;
use toolroom_runtime::shared_registry::{Following, SharedRegistry};
use toolroom_runtime::{Parts, Runtime, Settings};
use toolroom_server::middleware::{HostPolicy, HttpService};
use toolroom_server::{App, HomeInfo};
use toolroom_store::redis::RedisCounters;
use toolroom_store::replicas::Mode;
use toolroom_store::{Options, Secret, Store, StoreError, Unit, settings};
use toolroom_worker::{Confiner, Sandbox, Scripts};

use crate::cli::doctor;
use crate::config::Config;
use crate::failure::Failure;
use crate::home::{Home, registry_files};
use crate::sign_of_life::{self, SignOfLife};

/// Everything that answers requests. The store closes when the last clone of the router is dropped.
pub struct Service {
    /// The state behind the routes.
    pub app: Arc<App>,
    /// The routes.
    pub router: HttpService,
    /// What tells the other processes on the database of this one.
    pub alive: Option<SignOfLife>,
    /// What keeps this process's registry that of the others.
    pub following: Option<Following>,
}

/// Wires a service on the home's files. The caller holds the home's lock.
pub async fn build(home: &Home, config: &Config, mode: Mode) -> Result<Service> {
    // Where servers share a registry, the files are copies that are not written yet.
    let may_share = mode != Mode::Alone && config.database.sqlite_path().is_none();
    if !may_share {
        home.registry()?;
    }
    let options = Options { postgres_connections: config.database_connections, ..Options::default() };
    let store =
        Store::open_with(&config.database, &options).map_err(|error| database_failure(&error, config))?;
    let run = RunId::new();
    let alive = SignOfLife::begin(&store, run, home, mode).await?;
    let shared = SharedRegistry::of(&store, home.root());
    match &shared {
        None if !may_share => {}
        None => home.registry()?,
        Some(shared) => fill_home(home, shared).await?,
    }
    if let Err(error) = SecretFile::new(home.secrets()).check() {
        tracing::warn!(%error, "tools that need a secret are refused: the secrets cannot be used");
    }
    let journal_settings = JournalSettings { keep_days: config.journal_keep_days, ..Default::default() };
    let journal = Journal::open(&home.logs(), run, journal_settings).map_err(|error| {
        Failure::new(
            error.to_string(),
            "Free disk space, or fix the permissions of the folder 'logs' in the home.",
        )
    })?;
    let mut tools = Vec::new();
    if config.task_pack {
        tools.extend(toolroom_packs::tasks::tools(&store, config.tasks.clone()));
    }
    if config.cards {
        tools.extend(toolroom_packs::cards::tools(&store));
    }
    let native = |(definition, handler)| NewTool { definition, executor: Executor::Native(handler) };
    let tools: Vec<NewTool> = tools.into_iter().map(native).collect();
    let mut profiles = config.profiles.all();
    profiles.retain(|profile| profile.is_whole(|name| tools.iter().any(|tool| tool.definition.name == name)));
    let runtime = Runtime::new(Parts {
        store,
        journal,
        tools,
        profiles,
        clock: Arc::new(SystemClock),
        settings: Settings { approval_ttl: config.approval_ttl, time_zone: config.time_zone.clone() },
    })?;
    if let Some(shared) = &shared {
        runtime.share_registry(Arc::clone(shared));
    }
    if let (Some(url), Some(_)) = (&config.redis, runtime.store.lease()) {
        runtime
            .count_in_redis(RedisCounters::connect(url.clone(), redis_prefix(&runtime.store).await?).await);
    }
    let scripts = scripts(home, config.database.sqlite_path());
    let confiner = scripts.settings().confiner.clone();
    let builtins = builtins(home, config, &scripts);
    let registrar = open_registrar(home, &runtime, scripts, builtins)?;
    let mut federation = federation::Setup::in_folder(home.root(), &runtime);
    federation.spawn_env.confiner = confiner;
    let federation = Federation::open(federation).map_err(registry_files::of_problem)?;
    // A command has nobody come back to it, but the servers that share its database have.
    if let (Some(url), Some(_)) = (&config.server.public_url, runtime.store.lease()) {
        federation.come_back_to(url, home.root());
    }
    let profiles = ProfileFile::open(home.profiles(), &runtime).map_err(registry_files::of_problem)?;
    let following = match &shared {
        None => None,
        Some(shared) => {
            shared.attach(&registrar, &federation, &profiles);
            Some(shared.follow().await.map_err(|error| registry_failure(&error))?)
        }
    };
    let models = match &config.model {
        Some(model) => Models::with(Arc::new(OpenAi::new(model.clone()))),
        None => Models::offline(),
    };
    let chat = Chat::new(Arc::clone(&runtime), models, config.chat.clone());
    let shared_log = runtime.store.lease().map(|_| {
        Arc::new(SharedLog::new(runtime.store.clone(), &home.logs(), sign_of_life::address(home.root())))
    });
    let app = App::builder(runtime, registrar, home.logs())
        .federation(federation)
        .profiles(profiles)
        .mcp(config.mcp)
        .chat(chat)
        .shared_log(shared_log)
        .home(home_info(home, config))
        .build();
    let router = toolroom_server::router(&app, HostPolicy::new(&config.server.allowed_hosts));
    Ok(Service { app, router, alive, following })
}

/// Makes the home's files those of the registry that servers share. The first server brings its own.
async fn fill_home(home: &Home, shared: &SharedRegistry) -> Result<()> {
    if shared.is_empty().await.map_err(|error| registry_failure(&error))? {
        home.registry()?;
        // What an older release left as plain text is sealed before others see it.
        SecretFile::new(home.secrets()).check().map_err(|error| {
            let hint = "Give this server the key that its secrets were sealed with, or remove secrets.json from its home.";
            Failure::new(format!("the secrets of this home cannot be shared: {error}"), hint)
        })?;
        shared.bring_in().await.map_err(|error| registry_failure(&error))?;
    }
    shared.fill_home().await.map_err(|error| registry_failure(&error))?;
    Ok(home.registry()?)
}

/// Counters of one database are not those of another that uses the same Redis.
async fn redis_prefix(store: &Store) -> Result<String, StoreError> {
    let drawn = Secret::bare()?;
    let name = move |unit: &mut Unit<'_>| settings::get_or_set(unit, "redis_prefix", &drawn.reveal()[..12]);
    Ok(format!("toolroom:{}", store.write(name).await?))
}

fn registry_failure(error: &FileError) -> Failure {
    Failure::new(
        error.to_string(),
        "Check that the database answers, and that the home's disk has free space and can be written to.",
    )
}

/// What routes show of the home.
fn home_info(home: &Home, config: &Config) -> HomeInfo {
    let (at, overrides) = (home.clone(), config.overrides.clone());
    HomeInfo {
        root: home.root().to_owned(),
        settings: config.shown.clone(),
        doctor: Arc::new(move || Box::pin(doctor::for_server(at.clone(), overrides.clone()))),
    }
}

/// The processes of scripts, with what they import kept in the home. Those that are confined see neither the home nor
/// its database.
pub fn scripts(home: &Home, database: Option<&Path>) -> Scripts {
    // SQLite keeps what it has not yet moved into the file beside it.
    let beside = |file: &Path| {
        ["", "-wal", "-shm", "-journal"].map(|ending| {
            let mut name = file.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        })
    };
    let private = [home.root().to_owned()].into_iter().chain(database.into_iter().flat_map(beside));
    let confiner = Confiner::default().hiding(private);
    let cache = Some(home.cache());
    Scripts::new(toolroom_worker::Settings {
        cache,
        confiner,
        ..toolroom_worker::Settings::from_environment()
    })
}

/// The tools that entries of type `builtin` name.
fn builtins(home: &Home, config: &Config, scripts: &Scripts) -> Vec<Builtin> {
    // No tool can have this name, and with it this folder.
    let sandbox = Sandbox::new(scripts.clone(), home.work().join(".code"));
    let sandbox = sandbox.allow_unconfined(config.allow_unconfined);
    let settings = BuiltinSettings { sandbox, search: config.search.clone() };
    let builtin = |(definition, handler)| Builtin { definition, handler };
    toolroom_packs::builtin::tools(settings).into_iter().map(builtin).collect()
}

fn open_registrar(
    home: &Home,
    runtime: &Arc<Runtime>,
    scripts: Scripts,
    builtins: Vec<Builtin>,
) -> Result<Arc<Registrar>> {
    let setup = Setup {
        file: home.tools(),
        work: home.work(),
        runtime: Arc::clone(runtime),
        scripts,
        builtins,
        disk: Arc::new(RealDisk),
    };
    Ok(Registrar::open(setup).map_err(registry_files::of_problem)?)
}

fn database_failure(error: &StoreError, config: &Config) -> Failure {
    let hint = match error {
        StoreError::NewerSchema { .. } => {
            "Use the newer release that created this database, or another database."
        }
        StoreError::Corrupt { .. } => {
            "Restore the database from a backup, or name another one with --database."
        }
        _ => {
            "Check that the database exists, that you can write to it, and that its disk has free space; --database names another."
        }
    };
    Failure::new(format!("{}: {error}", config.database), hint)
}
