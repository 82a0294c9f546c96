//! Keys of `_meta`, and what each request carries there.

use serde_json::{Map, Value, json};

use super::revision::Revision;

/// The revision of a request.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Who the client is.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// From which level on log lines are wanted.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Who the server is, in results.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// By which progress is told apart.
pub const PROGRESS_TOKEN: &str = "progressToken";

/// Who we say we are, and what we can do for a server.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Our name.
    pub name: String,
    /// Our version.
    pub version: String,
    /// Told to servers that know sessions, once for all calls. A call that cannot keep it refuses.
    pub session_capabilities: Value,
}

impl Identity {
    /// Toolroom, which passes questions and sampling on to the caller.
    pub fn toolroom() -> Self {
        Self {
            name: "toolroom".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            session_capabilities: json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {} }),
        }
    }

    /// `clientInfo`.
    pub fn info(&self) -> Value {
        json!({ "name": self.name, "version": self.version })
    }
}

/// The `_meta` of a request without sessions.
pub fn modern(
    identity: &Identity,
    capabilities: Value,
    log_level: Option<&str>,
    extra: &Map<String, Value>,
) -> Map<String, Value> {
    let mut meta = extra.clone();
    meta.insert(PROTOCOL_VERSION.into(), Revision::LATEST.as_str().into());
    meta.insert(CLIENT_CAPABILITIES.into(), capabilities);
    meta.insert(CLIENT_INFO.into(), identity.info());
    if let Some(level) = log_level {
        meta.insert(LOG_LEVEL.into(), level.into());
    }
    meta
}
