//! The parameters of `tools/call` and `prompts/get`.
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolroom_contract::exact;
use toolroom_mcp::frame::refused;
use toolroom_mcp::{Params, RpcError};

/// The parameters of a method whose answer may depend on what the client is asked.
pub(crate) struct CallParams {
    pub(crate) name: String,
    pub(crate) arguments: Option<Map<String, Value>>,
    /// A client's answers to what an earlier try asked.
    pub(crate) input_responses: Option<Map<String, Value>>,
    pub(crate) request_state: Option<String>,
}

impl CallParams {
    pub(crate) fn of(fields: &Params<'_>) -> Result<Self, RpcError> {
        Ok(Self {
            name: read(fields.name)?.ok_or_else(|| RpcError::invalid_params("'name' is missing."))?,
            arguments: read(fields.arguments.map(exact::plain_zeros).as_deref())?,
            input_responses: read(fields.input_responses)?,
            request_state: read(fields.request_state)?,
        })
    }
}

fn read<T: DeserializeOwned>(text: Option<&str>) -> Result<Option<T>, RpcError> {
    text.map(serde_json::from_str).transpose().map_err(refused)
}
