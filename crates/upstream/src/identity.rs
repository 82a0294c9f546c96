//! Who we say we are to servers, and what each request carries of that.

use serde_json::{Map, Value, json};
use toolroom_mcp::Revision;
use toolroom_mcp::meta::{CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION};

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
    /// Toolroom, which passes questions and sampling on to whoever called.
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
pub(crate) fn stateless_meta(
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
