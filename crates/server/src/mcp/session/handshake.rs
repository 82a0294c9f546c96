//! `initialize`: the client says which revision it speaks and what it can do; we say the same of us.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_contract::write_json;
use toolroom_mcp::{Capabilities, Client, Implementation, LogLevel, Revision, RpcError};

use crate::mcp::write::introduction::{self, SERVER_INFO, ServerInfo};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    protocol_version: String,
    #[serde(default)]
    capabilities: Capabilities,
    #[serde(default)]
    client_info: Option<Implementation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Agreed {
    protocol_version: &'static str,
    capabilities: Value,
    server_info: ServerInfo,
    instructions: &'static str,
}

/// The client, and what it is answered.
pub(crate) fn agree(params: Option<&str>) -> Result<(Client, Vec<u8>), RpcError> {
    let params: Params = serde_json::from_str(params.unwrap_or("{}")).map_err(|_| {
        RpcError::invalid_params("'initialize' needs protocolVersion, capabilities and clientInfo.")
    })?;
    let revision = Revision::of_session(&params.protocol_version);
    let client = Client {
        revision,
        info: params.client_info,
        capabilities: params.capabilities,
        // Until the client says otherwise.
        log_level: Some(LogLevel::Info),
    };
    let mut out = Vec::with_capacity(512);
    write_json(
        &mut out,
        &Agreed {
            protocol_version: revision.as_str(),
            capabilities: introduction::capabilities(revision),
            server_info: SERVER_INFO,
            instructions: introduction::INSTRUCTIONS,
        },
    );
    Ok((client, out))
}
