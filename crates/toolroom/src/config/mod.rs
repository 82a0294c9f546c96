//! The settings, read once: defaults, then `toolroom.toml`, then the environment and the flags.

mod chat;
mod listener;
mod profiles;
#[cfg(test)]
mod reference;
mod search;
mod settings_file;
mod shown;

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use jiff::tz::TimeZone;
use toolroom_agent::ChatSettings;
use toolroom_contract::text::plain_reason;
use toolroom_model::openai::OpenAiSettings;
use toolroom_packs::builtin::search::SearchSettings;
use toolroom_packs::tasks::TaskSettings;
use toolroom_server::listener::Limits;
use toolroom_server::{McpSettings, Setting};
use toolroom_store::redis::RedisUrl;
use toolroom_store::replicas::Mode;
use toolroom_store::{DatabaseUrl, StoreError};

use crate::failure::Failure;
use crate::home::Home;
use settings_file::SettingsFile;

pub use chat::ModelOverrides;
pub use profiles::Profiles;

/// All settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// The listener.
    pub server: Server,
    /// Where the data is.
    pub database: DatabaseUrl,
    /// Connections to PostgreSQL.
    pub database_connections: usize,
    /// Whether other servers work on the database too.
    pub shared: bool,
    /// Where servers that share the database count calls.
    pub redis: Option<RedisUrl>,
    /// Whether there are tools for tasks.
    pub task_pack: bool,
    /// Whether there are tools for decks and cards.
    pub cards: bool,
    /// The task tools.
    pub tasks: TaskSettings,
    /// How long a call waits for approval.
    pub approval_ttl: Duration,
    /// Sessions of MCP clients.
    pub mcp: McpSettings,
    /// Days that the execution log is kept.
    pub journal_keep_days: u16,
    /// The zone of users who have not set one.
    pub time_zone: TimeZone,
    /// The search engine, if there is one.
    pub search: Option<SearchSettings>,
    /// Whether callers' code runs even where this system has no sandbox for it.
    pub allow_unconfined: bool,
    /// The profiles.
    pub profiles: Profiles,
    /// The language model, if there is one.
    pub model: Option<OpenAiSettings>,
    /// What one message of the chat may use.
    pub chat: ChatSettings,
    /// The settings as people see them, and what set each.
    pub shown: Vec<Setting>,
    /// What the flags and the environment said.
    pub overrides: Overrides,
}

/// The listener's settings.
#[derive(Clone, Debug)]
pub struct Server {
    /// The TCP address.
    pub listen: SocketAddr,
    /// Accepted host names, in addition to those of this machine.
    pub allowed_hosts: Vec<String>,
    /// Where browsers reach it, without a slash at the end.
    pub public_url: Option<String>,
    /// How long running requests may take to finish when the server stops.
    pub grace: Duration,
    /// How long it still takes requests when it is to stop.
    pub stop_delay: Duration,
    /// What connections may cost, and which proxies are believed.
    pub limits: Limits,
}

/// Flags and environment variables; they override the file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--listen`.
    pub listen: Option<SocketAddr>,
    /// `--shared`.
    pub shared: bool,
    /// `--redis` or `TOOLROOM_REDIS`.
    pub redis: Option<String>,
    /// `--database` or `TOOLROOM_DATABASE`.
    pub database: Option<String>,
    /// `TOOLROOM_SEARCH_URL`.
    pub search_url: Option<String>,
    /// What names a language model.
    pub model: ModelOverrides,
}

impl Config {
    /// Reads the settings of a home.
    pub fn load(home: &Home, overrides: &Overrides) -> Result<Self> {
        let (file, text) = read(&home.settings())?;
        let shown = shown::of_file(&file, &text);
        let database = match (&overrides.database, &file.database.url) {
            (Some(url), _) => url.parse().map_err(|error| bad_database(&error))?,
            (None, Some(url)) => {
                let url: DatabaseUrl = url.parse().map_err(|error| bad_database(&error))?;
                match url.sqlite_path() {
                    Some(path) => DatabaseUrl::sqlite(home.root().join(path)),
                    None => url,
                }
            }
            (None, None) => DatabaseUrl::sqlite(home.database()),
        };
        if let (true, Some(path)) = (overrides.shared || file.database.shared, database.sqlite_path()) {
            return Err(not_shareable(path).into());
        }
        let redis = overrides.redis.as_ref().or(file.database.redis.as_ref());
        let redis = redis.map(|url| url.parse().map_err(|error| bad_redis(&error))).transpose()?;
        let public_url = file.server.public_url.as_deref().map(listener::public_url).transpose()?;
        let public_host = public_url.as_deref().and_then(|url| url.split_once("://"));
        let public_host = public_host.map(|(_, host)| host.to_owned()).into_iter().collect();
        let config = Self {
            server: Server {
                listen: overrides.listen.unwrap_or(file.server.listen),
                limits: listener::limits(&file.server, &home.settings())?,
                allowed_hosts: [file.allowed_hosts, file.server.allowed_hosts, public_host].concat(),
                public_url,
                grace: Duration::from_secs(file.server.grace.into()),
                stop_delay: Duration::from_secs(file.server.stop_delay.into()),
            },
            database,
            database_connections: file.database.connections.get() as usize,
            shared: overrides.shared || file.database.shared,
            redis,
            task_pack: file.packs.tasks,
            cards: file.packs.cards,
            tasks: TaskSettings {
                keep_deleted_days: file.tasks.keep_deleted_days,
                ..TaskSettings::default()
            },
            approval_ttl: Duration::from_secs(file.approvals.ttl.get().into()),
            mcp: McpSettings {
                session_idle: Duration::from_secs(file.mcp.session_idle.get().into()),
                sessions: file.mcp.sessions.get() as usize,
                sessions_per_user: file.mcp.sessions_per_user.get() as usize,
                text_budget: file.mcp.text_budget.get() as usize,
            },
            journal_keep_days: file.journal.keep_days,
            time_zone: zone(file.time.zone.as_deref(), &home.settings())?,
            search: search::settings(overrides.search_url.as_deref(), file.search, &home.settings())?,
            allow_unconfined: file.code.allow_unconfined,
            model: chat::model(&overrides.model, file.model, &home.settings())?,
            chat: chat::settings(&file.chat),
            profiles: Profiles::checked(file.profiles, &home.settings())?,
            shown: Vec::new(),
            overrides: overrides.clone(),
        };
        Ok(Self { shown: shown::overridden(shown, &config, overrides), ..config })
    }

    /// How to work on the database: shared where that is set, else as given.
    pub fn mode(&self, otherwise: Mode) -> Mode {
        if self.shared { Mode::Shared } else { otherwise }
    }
}

/// Without the file, the defaults apply.
fn read(path: &Path) -> Result<(SettingsFile, String)> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let file = toml::from_str(&text).map_err(|error| {
        let line =
            error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        Failure::new(
            format!("{}:{line}: {}", path.display(), plain_reason(error.message().trim())),
            "Fix that line. docs/settings.md lists every setting.",
        )
    })?;
    Ok((file, text))
}

fn zone(name: Option<&str>, path: &Path) -> Result<TimeZone> {
    let Some(name) = name else {
        return Ok(TimeZone::try_system().unwrap_or(TimeZone::UTC));
    };
    TimeZone::get(name).map_err(|_| {
        let message = format!("{}: [time] zone: unknown time zone '{name}'", path.display());
        Failure::new(message, "Use a name such as Europe/Berlin or UTC.").into()
    })
}

fn not_shareable(path: &Path) -> Failure {
    Failure::usage(
        format!("servers can share a PostgreSQL database only, and this one is a file: {}", path.display()),
        "Name a database with --database postgres://user:password@host:5432/database. 'toolroom backup' and 'toolroom restore --database URL' move your data there.",
    )
}

/// The address that `TOOLROOM_REDIS` names.
pub fn redis_of_environment() -> Option<String> {
    std::env::var("TOOLROOM_REDIS").ok().filter(|url| !url.is_empty())
}

fn bad_redis(error: &StoreError) -> Failure {
    let reason = match error {
        StoreError::BadUrl { reason } => (*reason).to_owned(),
        other => other.to_string(),
    };
    Failure::usage(
        format!("bad Redis URL: {reason}"),
        "Use redis://user:password@host:6379/0, or rediss:// for TLS, in --redis, TOOLROOM_REDIS or toolroom.toml.",
    )
}

fn bad_database(error: &StoreError) -> Failure {
    Failure::usage(
        error.to_string(),
        "Use sqlite:PATH or postgres://user:password@host:5432/database, in --database, TOOLROOM_DATABASE or toolroom.toml.",
    )
}
