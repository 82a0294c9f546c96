//! Puts the parts together: home and settings in, a service out.

use std::sync::Arc;

use anyhow::Result;
use toolroom_agent::{Chat, Models};
use toolroom_contract::ids::RunId;
use toolroom_model::openai::OpenAi;
use toolroom_packs::builtin::BuiltinSettings;
use toolroom_runtime::catalogue::{Executor, NewTool};
use toolroom_runtime::clock::SystemClock;
use toolroom_runtime::federation::{self, Federation};
use toolroom_runtime::journal::{Journal, JournalSettings};
use toolroom_runtime::profile_file::ProfileFile;
use toolroom_runtime::registrar::{Builtin, RealDisk, Registrar, Setup};
use toolroom_runtime::secret_file::SecretFile;
use toolroom_runtime::{Parts, Runtime, Settings};
use toolroom_server::middleware::{HostPolicy, HttpService};
use toolroom_server::{App, HomeInfo};
use toolroom_store::{Options, Store, StoreError};
use toolroom_worker::{Sandbox, Scripts};

use crate::cli::doctor;
use crate::config::Config;
use crate::failure::Failure;
use crate::home::{Home, registry_files};

/// Everything that answers requests. The store closes when the last clone of the router is dropped.
pub struct Service {
    /// The state behind the routes.
    pub app: Arc<App>,
    /// The routes.
    pub router: HttpService,
}

/// Wires a service on the home's files. The caller holds the home's lock.
pub fn build(home: &Home, config: &Config) -> Result<Service> {
    home.registry()?;
    if let Err(error) = SecretFile::new(home.secrets()).check() {
        tracing::warn!(%error, "tools that need a secret are refused: the secrets cannot be used");
    }
    let options = Options { postgres_connections: config.database_connections, ..Options::default() };
    let store =
        Store::open_with(&config.database, &options).map_err(|error| database_failure(&error, config))?;
    let journal_settings = JournalSettings { keep_days: config.journal_keep_days, ..Default::default() };
    let journal = Journal::open(&home.logs(), RunId::new(), journal_settings).map_err(|error| {
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
    let scripts = scripts(home);
    let builtins = builtins(home, config, &scripts);
    let registrar = open_registrar(home, &runtime, scripts, builtins)?;
    let federation = federation::Setup::in_folder(home.root(), &runtime);
    let federation = Federation::open(federation).map_err(registry_files::of_problem)?;
    let profiles = ProfileFile::open(home.profiles(), &runtime).map_err(registry_files::of_problem)?;
    let models = match &config.model {
        Some(model) => Models::with(Arc::new(OpenAi::new(model.clone()))),
        None => Models::offline(),
    };
    let chat = Chat::new(Arc::clone(&runtime), models, config.chat.clone());
    let app = App::builder(runtime, registrar, home.logs())
        .federation(federation)
        .profiles(profiles)
        .mcp(config.mcp)
        .chat(chat)
        .home(home_info(home, config))
        .build();
    let router = toolroom_server::router(&app, HostPolicy::new(&config.server.allowed_hosts));
    Ok(Service { app, router })
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

/// The processes of scripts, with what they import kept in the home.
pub fn scripts(home: &Home) -> Scripts {
    let cache = Some(home.cache());
    Scripts::new(toolroom_worker::Settings { cache, ..toolroom_worker::Settings::from_environment() })
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
