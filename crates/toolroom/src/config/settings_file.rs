//! `toolroom.toml` as it is written: one struct per table, unknown keys are errors. The comments of the fields are what
//! `docs/settings.md` says about them.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use toolroom_agent::ChatSettings;
use toolroom_model::openai::OpenAiSettings;
use toolroom_packs::builtin::search::SearchEngine;
use toolroom_server::listener::Limits;
use toolroom_store::Options;

use toolroom_profiles::ProfileSettings;

/// The whole file.
#[derive(Debug, Default, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SettingsFile {
    /// The same as `allowed_hosts` in `[server]`.
    pub allowed_hosts: Vec<String>,
    pub server: Server,
    pub database: Database,
    pub packs: Packs,
    pub tasks: Tasks,
    pub approvals: Approvals,
    pub mcp: Mcp,
    pub journal: Journal,
    pub time: Time,
    pub search: Search,
    pub code: Code,
    pub model: Model,
    pub chat: Chat,
    pub profiles: BTreeMap<String, ProfileSettings>,
}

/// The HTTP listener.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Address and port to listen on. Addresses other machines can reach need a key first:
    /// `toolroom keys create --user NAME`.
    #[cfg_attr(test, schemars(with = "String", extend("x-set-by" = "`--listen`")))]
    pub listen: SocketAddr,
    /// Names accepted in the `Host` header, in addition to those of this machine. A name with a port allows that port
    /// only.
    pub allowed_hosts: Vec<String>,
    /// The address at which browsers reach this server, or the balancer before it: `https://tools.example.com`. Persons
    /// who log in at other MCP servers come back there; without it, to a port of this machine. Its host is allowed.
    pub public_url: Option<String>,
    /// Seconds that running requests may take to finish when the server stops.
    pub grace: u32,
    /// Seconds that a server which is asked to stop still takes requests. Meanwhile `/readyz` answers 503, so that a
    /// balancer sends them elsewhere; 5 suits most.
    pub stop_delay: u32,
    /// Open connections in total; at most half of the open files that the process may have.
    pub connections: NonZeroU32,
    /// Open connections of one remote address (of one /64 network for IPv6), trusted proxies aside.
    pub connections_per_address: NonZeroU32,
    /// Seconds that a connection may be idle between two requests. Behind a balancer: longer than it keeps its own.
    pub idle: NonZeroU32,
    /// Addresses and networks (`10.0.0.0/8`) of proxies that are believed about the address of a client. Everybody
    /// else's forwarding headers are ignored.
    pub trusted_proxies: Vec<String>,
    /// The header in which trusted proxies name the client; any other is ignored.
    pub forwarded_header: ForwardedHeader,
    /// Whether connections of trusted proxies begin with the PROXY protocol, version 1 or 2.
    pub proxy_protocol: bool,
}

impl Default for Server {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            listen: (Ipv4Addr::LOCALHOST, 7878).into(),
            allowed_hosts: Vec::new(),
            public_url: None,
            grace: 10,
            stop_delay: 0,
            connections: at_least_one(limits.max_connections as u64),
            connections_per_address: at_least_one(limits.max_connections_per_peer as u64),
            idle: at_least_one(limits.idle_timeout.as_secs()),
            trusted_proxies: Vec::new(),
            forwarded_header: ForwardedHeader::default(),
            proxy_protocol: false,
        }
    }
}

/// A header in which proxies name the client.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedHeader {
    #[default]
    XForwardedFor,
    Forwarded,
}

/// The tool `execute-code`.
#[derive(Debug, Default, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Code {
    /// Run callers' code even where this system has no sandbox for it.
    pub allow_unconfined: bool,
}

/// Where data is stored.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Database {
    /// `sqlite:PATH` (relative to the home) or `postgres://user:password@host:5432/database`. Without it:
    /// `toolroom.db` in the home.
    #[cfg_attr(test, schemars(extend("x-set-by" = "`--database`, `TOOLROOM_DATABASE`")))]
    pub url: Option<String>,
    /// Connections to PostgreSQL.
    pub connections: NonZeroU32,
    /// Whether other servers, each in a home of its own, work on the same PostgreSQL database. See
    /// [replicas.md](replicas.md).
    #[cfg_attr(test, schemars(extend("x-set-by" = "`--shared`")))]
    pub shared: bool,
    /// Where servers that share the database count calls of tools with a rate limit: `redis://user:password@host:6379/0`,
    /// or `rediss://` for TLS. Without it: in the database. See [replicas.md](replicas.md#redis-for-rate-limits).
    #[cfg_attr(test, schemars(extend("x-set-by" = "`--redis`, `TOOLROOM_REDIS`")))]
    pub redis: Option<String>,
}

impl Default for Database {
    fn default() -> Self {
        let connections = at_least_one(Options::default().postgres_connections as u64);
        Self { url: None, connections, shared: false, redis: None }
    }
}

/// Packs of tools that can be switched on and off.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Packs {
    /// Tools for tasks, and the profiles that are made of them.
    pub tasks: bool,
    /// Tools for decks of flash cards.
    pub cards: bool,
}

impl Default for Packs {
    fn default() -> Self {
        Self { tasks: true, cards: false }
    }
}

/// The task tools.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Tasks {
    /// Days that a deleted task can be restored; 0 removes it at once.
    pub keep_deleted_days: u32,
}

impl Default for Tasks {
    fn default() -> Self {
        Self { keep_deleted_days: 30 }
    }
}

/// Calls that wait for a person.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Approvals {
    /// Seconds until a request that nobody decided expires.
    pub ttl: NonZeroU32,
}

impl Default for Approvals {
    fn default() -> Self {
        Self { ttl: at_least_one(3600) }
    }
}

/// MCP clients.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Mcp {
    /// Seconds that an unused session of an older MCP client is kept.
    pub session_idle: NonZeroU32,
    /// Sessions in total; past that, the one idle longest is closed.
    pub sessions: NonZeroU32,
    /// Sessions of one user; past that, the user's one idle longest is closed.
    pub sessions_per_user: NonZeroU32,
    /// Characters of a result that are shown as text; the whole can be read as a resource.
    pub text_budget: NonZeroU32,
}

impl Default for Mcp {
    fn default() -> Self {
        Self {
            session_idle: at_least_one(1800),
            sessions: at_least_one(10_000),
            sessions_per_user: at_least_one(1_000),
            text_budget: at_least_one(20_000),
        }
    }
}

/// The execution log.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Journal {
    /// Days that the files of the execution log are kept.
    pub keep_days: u16,
}

impl Default for Journal {
    fn default() -> Self {
        Self { keep_days: 30 }
    }
}

/// Time zones.
#[derive(Debug, Default, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Time {
    /// The zone for users who have not set one, such as `Europe/Berlin`. Without it: the zone of this machine.
    pub zone: Option<String>,
}

/// The search engine behind `search-web`.
#[derive(Debug, Default, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// Which engine to ask. Without it, a `url` means `searxng`.
    pub engine: Option<SearchEngine>,
    /// The address of the engine. SearXNG needs one.
    #[cfg_attr(test, schemars(extend("x-set-by" = "`TOOLROOM_SEARCH_URL` (SearXNG)")))]
    pub url: Option<String>,
    /// The engine's API key. Brave and Tavily need one.
    pub api_key: Option<String>,
    /// The environment variable that has the API key.
    pub api_key_env: Option<String>,
}

/// The language model behind the chat. Without a name, the built-in offline planner answers.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// The address before `/chat/completions`. Without it: OpenAI's.
    #[cfg_attr(test, schemars(extend("x-set-by" = "`OPENAI_BASE_URL`")))]
    pub base_url: Option<String>,
    /// The model, as its server lists it at `/v1/models`.
    #[cfg_attr(test, schemars(extend("x-set-by" = "`TOOLROOM_MODEL`")))]
    pub name: Option<String>,
    /// The API key, if the server wants one.
    #[cfg_attr(test, schemars(extend("x-set-by" = "`OPENAI_API_KEY`")))]
    pub api_key: Option<String>,
    /// The environment variable that has the API key.
    pub api_key_env: Option<String>,
    /// Seconds that one turn of the model may take. If nothing of an answer has come by then, it is asked once more, for
    /// half as long.
    pub timeout: NonZeroU32,
}

impl Default for Model {
    fn default() -> Self {
        let timeout = at_least_one(OpenAiSettings::TIMEOUT.as_secs());
        Self { base_url: None, name: None, api_key: None, api_key_env: None, timeout }
    }
}

/// What one message of the chat may use. At a limit the chat still answers, and says what was done.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Chat {
    /// Turns of the model.
    pub turns: NonZeroU32,
    /// Calls of tools.
    pub calls: NonZeroU32,
    /// Seconds.
    pub seconds: NonZeroU32,
    /// Tokens, read and written.
    pub tokens: NonZeroU32,
    /// Calls that run at the same time.
    pub parallel: NonZeroU32,
    /// Seconds until a question for confirmation expires.
    pub confirm_ttl: NonZeroU32,
    /// Earlier messages of the conversation that the model sees.
    pub context_messages: NonZeroU32,
    /// Tools that the model sees; if there are more, those that fit the message best.
    pub tools: NonZeroU32,
    /// Whether you are asked before any change once the model has read a web page, or the output of a script, of code or
    /// of another server's tool: such text may contain instructions that are not yours.
    pub ask_after_untrusted: bool,
}

impl Default for Chat {
    fn default() -> Self {
        let chat = ChatSettings::default();
        Self {
            turns: at_least_one(chat.limits.turns.into()),
            calls: at_least_one(chat.limits.calls.into()),
            seconds: at_least_one(chat.limits.seconds),
            tokens: at_least_one(chat.limits.tokens),
            parallel: at_least_one(chat.limits.parallel as u64),
            confirm_ttl: at_least_one(chat.confirm_ttl.as_secs()),
            context_messages: at_least_one(chat.context.into()),
            tools: at_least_one(chat.tools as u64),
            ask_after_untrusted: chat.ask_after_untrusted,
        }
    }
}

fn at_least_one(number: u64) -> NonZeroU32 {
    u32::try_from(number).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
}
