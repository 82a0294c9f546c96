//! `toolroom.toml` as it is written: a struct per area, nothing unknown let through.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;

use serde::Deserialize;
use toolroom_packs::builtin::search::SearchEngine;

use super::profiles::ProfileSettings;

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SettingsFile {
    /// The same as `server.allowed_hosts`.
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

/// `[server]`
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    pub listen: SocketAddr,
    pub allowed_hosts: Vec<String>,
    /// Seconds.
    pub grace: u32,
}

impl Default for Server {
    fn default() -> Self {
        Self { listen: (Ipv4Addr::LOCALHOST, 7878).into(), allowed_hosts: Vec::new(), grace: 10 }
    }
}

/// `[code]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Code {
    /// Code of callers runs even where this system cannot confine it.
    pub allow_unconfined: bool,
}

/// `[database]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Database {
    pub url: Option<String>,
}

/// `[packs]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Packs {
    /// Decks and cards to learn with spaced repetition.
    pub cards: bool,
}

/// `[tasks]`
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tasks {
    pub keep_deleted_days: u32,
}

impl Default for Tasks {
    fn default() -> Self {
        Self { keep_deleted_days: 30 }
    }
}

/// `[approvals]`
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Approvals {
    /// Seconds.
    pub ttl: NonZeroU32,
}

impl Default for Approvals {
    fn default() -> Self {
        const HOUR: NonZeroU32 = NonZeroU32::new(3600).unwrap();
        Self { ttl: HOUR }
    }
}

/// `[mcp]`
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mcp {
    /// Seconds.
    pub session_idle: NonZeroU32,
    pub sessions: NonZeroU32,
    pub sessions_per_user: NonZeroU32,
    /// Characters.
    pub text_budget: NonZeroU32,
}

impl Default for Mcp {
    fn default() -> Self {
        const HALF_AN_HOUR: NonZeroU32 = NonZeroU32::new(1800).unwrap();
        const IN_ALL: NonZeroU32 = NonZeroU32::new(10_000).unwrap();
        const PER_USER: NonZeroU32 = NonZeroU32::new(1_000).unwrap();
        const TEXT: NonZeroU32 = NonZeroU32::new(20_000).unwrap();
        Self { session_idle: HALF_AN_HOUR, sessions: IN_ALL, sessions_per_user: PER_USER, text_budget: TEXT }
    }
}

/// `[journal]`
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Journal {
    pub keep_days: u16,
}

impl Default for Journal {
    fn default() -> Self {
        Self { keep_days: 30 }
    }
}

/// `[time]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Time {
    pub zone: Option<String>,
}

/// `[search]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    pub engine: Option<SearchEngine>,
    pub url: Option<String>,
    pub api_key: Option<String>,
    /// The environment variable that has the key.
    pub api_key_env: Option<String>,
}

/// `[model]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// The address before `/chat/completions`.
    pub base_url: Option<String>,
    pub name: Option<String>,
    pub api_key: Option<String>,
    /// The environment variable that has the key.
    pub api_key_env: Option<String>,
    /// Seconds for one turn.
    pub timeout: Option<NonZeroU32>,
}

/// `[chat]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Chat {
    pub turns: Option<NonZeroU32>,
    pub calls: Option<NonZeroU32>,
    /// Seconds for one message.
    pub seconds: Option<NonZeroU32>,
    pub tokens: Option<NonZeroU32>,
    pub parallel: Option<NonZeroU32>,
    /// Seconds that a confirmation stands.
    pub confirm_ttl: Option<NonZeroU32>,
    pub context_messages: Option<NonZeroU32>,
    pub tools: Option<NonZeroU32>,
}
