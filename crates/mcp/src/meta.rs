//! `_meta`: its keys, and what a request carries there.

use serde::Deserialize;
use toolroom_contract::ids::PendingId;

use crate::{Capabilities, Client, Id, Implementation, LogLevel, Revision, RpcError, Text};

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
/// The extension for calls that outlive their requests.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// By which progress is told apart.
pub const PROGRESS_TOKEN: &str = "progressToken";
/// Metadata of a result, where its profile publishes the data alone.
pub const METADATA: &str = "dev.toolroom/metadata";
/// A key with which a repeated call changes nothing twice.
pub const IDEMPOTENCY_KEY: &str = "dev.toolroom/idempotencyKey";
/// Which page of a long result this is.
pub const PAGE: &str = "dev.toolroom/page";

/// Whether a key is the protocol's or ours, so that another server's value for it is not passed on.
pub fn is_reserved(key: &str) -> bool {
    key.starts_with("io.modelcontextprotocol/") || key.starts_with("dev.toolroom/") || key == PROGRESS_TOKEN
}

/// `_meta` of a request, as far as we read it.
#[derive(Debug, Default, Deserialize)]
pub struct RequestMeta<'a> {
    /// The revision.
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", borrow, default)]
    pub protocol_version: Option<Text<'a>>,
    /// What the client can be asked for.
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities", default)]
    pub capabilities: Option<Capabilities>,
    /// Who the client is.
    #[serde(rename = "io.modelcontextprotocol/clientInfo", default)]
    pub client_info: Option<Implementation>,
    /// Which log lines it wants.
    #[serde(rename = "io.modelcontextprotocol/logLevel", default)]
    pub log_level: Option<LogLevel>,
    /// Under which token it wants progress.
    #[serde(rename = "progressToken", default)]
    pub progress_token: Option<Id>,
    /// The trace that the request belongs to.
    #[serde(borrow, default)]
    pub traceparent: Option<Text<'a>>,
    /// So that a repeated call changes nothing twice.
    #[serde(rename = "dev.toolroom/idempotencyKey", default)]
    pub idempotency_key: Option<String>,
    /// For whom a call is: a user whom the caller may act for.
    #[serde(rename = "dev.toolroom/user", default)]
    pub user: Option<String>,
    /// The characters of text that a result may have before it is abridged.
    #[serde(rename = "dev.toolroom/textBudget", default)]
    pub text_budget: Option<usize>,
    /// The request that a person has decided.
    #[serde(rename = "dev.toolroom/approvalId", default)]
    pub approval_id: Option<PendingId>,
    /// Whether a call is only to be tried: nothing is changed.
    #[serde(rename = "dev.toolroom/dryRun", default)]
    pub dry_run: bool,
}

impl RequestMeta<'_> {
    /// Whether the request says that it stands alone.
    pub fn is_modern(&self) -> bool {
        self.protocol_version.is_some() || self.capabilities.is_some()
    }

    /// The revision that a request which stands alone says it is of.
    pub fn version(&self) -> Result<&str, RpcError> {
        self.protocol_version.as_ref().map(|version| &*version.0).ok_or_else(|| lacking(PROTOCOL_VERSION))
    }

    /// The client, as a request that stands alone describes it.
    pub fn client(&mut self) -> Result<Client, RpcError> {
        let version = self.version()?;
        let revision = Revision::of_request(version)
            .ok_or_else(|| RpcError::unsupported_version(version, Revision::STATELESS))?;
        let capabilities = self.capabilities.take().ok_or_else(|| lacking(CLIENT_CAPABILITIES))?;
        Ok(Client { revision, info: self.client_info.take(), capabilities, log_level: self.log_level })
    }
}

/// What every request that stands alone must say in `_meta`.
fn lacking(key: &str) -> RpcError {
    RpcError::invalid_params(format!("'_meta' lacks '{key}'.")).of_the_envelope()
}
